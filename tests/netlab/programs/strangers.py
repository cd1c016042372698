#!/usr/bin/python3
"""A stranger at a daemon's port: sends what it should not, and says how long the
connection lives.

usage: strangers.py ADDRESS PORT CASE [ARGUMENT]

Prints `closed after 1.234 s, 56 bytes back` for each connection; status 1 if one
is still open after 10 seconds. Cases:

  garbage      random bytes
  http         a request of the web
  nothing      connects and stays silent
  slow         a byte each second
  caf_client   what crashed CAF 0.17's own server: a handshake without payload
  caf_server   the other kind of handshake without payload
  caf_huge     a header that announces 4 GiB
  record       a TLS record of the largest length, never finished
  plain_tls    a whole client's side of TLS without a certificate
  cert FILE    the same with certificate and key of FILE, and reads on
  half N       N connections that begin TLS, read the answer and stay so; prints
               `ready` when all have begun, and how many are open after 10 s
  flood N      N connections that say nothing, held for 20 s; prints `ready`
  replay FILE  what another said there, as recorder.py has written it down
"""

import os
import resource
import select
import socket
import ssl
import struct
import sys
import time

LIMIT = 10


def connect(address, port, timeout=LIMIT):
    return socket.create_connection((address, port), timeout)


def reason(problem):
    return getattr(problem, "reason", None) or type(problem).__name__


def until_closed(s, begin):
    """Reads until the other end closes; returns the line to print."""
    count = 0
    while True:
        left = begin + LIMIT - time.monotonic()
        if left <= 0:
            return None
        s.settimeout(left)
        try:
            data = s.recv(65536)
        except socket.timeout:
            return None
        except OSError as problem:
            return f"closed after {time.monotonic() - begin:.3f} s " \
                   f"({reason(problem)}), {count} bytes back"
        if not data:
            return f"closed after {time.monotonic() - begin:.3f} s, " \
                   f"{count} bytes back"
        count += len(data)


def basp_header(operation, flags, payload, data):
    """The 32 bytes in front of a message between CAF 0.17 nodes."""
    return struct.pack(">BBBBIQQQ", operation, 0, 0, flags, payload, data, 0, 0)


def first_bytes(case):
    return {
        "garbage": lambda: os.urandom(4096),
        "http": lambda: b"GET / HTTP/1.1\r\nHost: n1\r\n\r\n",
        "nothing": lambda: b"",
        "caf_client": lambda: basp_header(1, 0, 0, 0),
        "caf_server": lambda: basp_header(0, 0, 0, 3),
        "caf_huge": lambda: basp_header(0, 0, 0xffffffff, 3),
        "record": lambda: b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc" + bytes(100),
    }[case]()


def raw(address, port, case):
    begin = time.monotonic()
    s = connect(address, port)
    try:
        s.sendall(first_bytes(case))
    except OSError:
        pass
    return until_closed(s, begin)


def slow(address, port):
    begin = time.monotonic()
    s = connect(address, port)
    hello = b"\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03" + bytes(300)
    for byte in hello:
        try:
            s.send(bytes([byte]))
        except OSError as problem:
            return f"closed after {time.monotonic() - begin:.3f} s " \
                   f"({type(problem).__name__}), 0 bytes back"
        if select.select([s], [], [], 1)[0]:
            return until_closed(s, begin)
        if time.monotonic() - begin > LIMIT:
            return None
    return None


def tls(address, port, certificate=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate)
    begin = time.monotonic()
    s = connect(address, port)
    try:
        s = context.wrap_socket(s)
        s.settimeout(LIMIT)
        s.sendall(b"this is no frame of a lane")
    except (OSError, ssl.SSLError) as problem:
        return f"closed after {time.monotonic() - begin:.3f} s " \
               f"({type(problem).__name__}), 0 bytes back"
    return until_closed(s, begin)


def half(address, port, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 100, 2 * count + 100))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    held = []
    answered = 0
    for _ in range(count):
        hello = ssl.MemoryBIO()
        tls_end = context.wrap_bio(ssl.MemoryBIO(), hello)
        try:
            tls_end.do_handshake()
        except ssl.SSLWantReadError:
            pass
        try:
            s = connect(address, port)
            s.sendall(hello.read())
            s.settimeout(0.05)
            answered += bool(s.recv(65536))
            held.append(s)
        except OSError:
            pass
    print("ready", flush=True)
    time.sleep(LIMIT)
    alive = 0
    for s in held:
        s.setblocking(False)
        try:
            while s.recv(65536):
                pass
        except BlockingIOError:
            alive += 1
        except OSError:
            pass
    return f"{count} tried, {answered} answered, {alive} open after {LIMIT} s"


def replay(address, port, path):
    with open(path, "rb") as file:
        said = file.read()
    begin = time.monotonic()
    s = connect(address, port)
    try:
        s.sendall(said)
    except OSError as problem:
        return f"closed after {time.monotonic() - begin:.3f} s " \
               f"({type(problem).__name__}), 0 bytes back"
    return until_closed(s, begin)


def flood(address, port, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
    held = []
    refused = 0
    for _ in range(count):
        s = socket.socket(socket.AF_INET)
        s.setblocking(False)
        try:
            s.connect((address, port))
        except BlockingIOError:
            pass
        except OSError:
            refused += 1
            s.close()
            continue
        held.append(s)
    print("ready", flush=True)
    time.sleep(20)
    alive = 0
    for s in held:
        try:
            s.recv(1)
        except BlockingIOError:
            alive += 1
        except OSError:
            pass
    return f"{count} tried, {refused} refused, {alive} open after 20 s"


def main():
    address, port, case = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if case == "half":
        print(half(address, port, int(sys.argv[4])))
        return 0
    if case == "flood":
        print(flood(address, port, int(sys.argv[4])))
        return 0
    if case == "slow":
        line = slow(address, port)
    elif case == "plain_tls":
        line = tls(address, port)
    elif case == "cert":
        line = tls(address, port, sys.argv[4])
    elif case == "replay":
        line = replay(address, port, sys.argv[4])
    else:
        line = raw(address, port, case)
    print(line or f"still open after {LIMIT} s")
    return 0 if line else 1


if __name__ == "__main__":
    sys.exit(main())
