"""A server that lies. Runs as a rank: passes on what its child and the real
server say to each other, and spoils what the server says as a case demands.

usage: hostile_server.py CASE PROGRAM...

Prints how the child ended, `CASE: exited S` or `CASE: killed by N`, or
`CASE: hangs`.
"""

import os
import random
import socket
import struct
import subprocess
import sys
import threading

HEADER = struct.Struct(">iIII")


def frame(tag, payload, length=None):
    return HEADER.pack(0, tag, len(payload) if length is None else length,
                       0) + payload


def varint(x):
    out = bytearray()
    while x >= 0x80 and len(out) < 8:
        out.append(x & 0x7F | 0x80)
        x >>= 7
    out.append(x)
    return bytes(out)


def noise(n, seed):
    return random.Random(seed).randbytes(n)


# How many answers asks_all.c waits for.
CALLS = 14

SUCCESS = b"\2\0"  # PACK of a status
DEEP = b"\2\1" + b"\2\2" + b"\4k\0\0\x27" + b"\x27\1" * 100000

# What becomes of an answer: a function of its tag and payload.
ANSWERS = {
    "length-max": lambda t, p: frame(t, p, 0xFFFFFFFF),
    "length-2g": lambda t, p: frame(t, p, 0x7FFFFFFF),
    "length-over": lambda t, p: frame(t, p, (32 << 20) + 1),
    "empty": lambda t, p: frame(t, b""),
    "cut": lambda t, p: frame(t, p[:len(p) // 2]),
    "one-byte": lambda t, p: frame(t, p[:1]),
    "longer": lambda t, p: frame(t, p + b"\0" * 1000),
    "count-40": lambda t, p: frame(t, SUCCESS + b"\2" + varint(1 << 40)),
    "count-31": lambda t, p: frame(
        t, SUCCESS + b"\2" + varint(1 << 30) + varint(0xFFFFFFFE)),
    "count-negative": lambda t, p: frame(t, SUCCESS + b"\2\2\1"),
    "string-2g": lambda t, p: frame(
        t, SUCCESS + b"\2\2\2" + varint(0xFFFFFFFE) + b"x"),
    "deep": lambda t, p: frame(t, SUCCESS + DEEP),
    "other-tag": lambda t, p: frame(t + 77, p) + frame(t, p),
    "twice": lambda t, p: frame(t, p) * 2,
    "noise": lambda t, p: frame(t, noise(300, t)),
    "status-noise": lambda t, p: frame(t, SUCCESS + noise(300, t)),
    "ones": lambda t, p: frame(t, b"\xff" * 64),
    "event-noise": lambda t, p: frame(0, noise(200, t)) + frame(t, p),
    "event-empty": lambda t, p: frame(0, b"") + frame(t, p),
    "output-noise": lambda t, p: frame(2, noise(200, t)) + frame(t, p),
    "flow-noise": lambda t, p: frame(3, noise(200, t)) + frame(t, p),
    "credit-noise": lambda t, p: frame(90, noise(200, t)) + frame(t, p),
    "many-zeros": lambda t, p: frame(t, b"\0" * (1 << 20)),
    "close": lambda t, p: None,
    "close-within": lambda t, p: (frame(t, p + b"\0" * 100)[:20], None),
}


def take(s, n):
    out = b""
    while len(out) < n:
        more = s.recv(n - len(out))
        if not more:
            raise EOFError
        out += more
    return out


def upwards(client, server):
    try:
        while True:
            data = client.recv(65536)
            if not data:
                break
            server.sendall(data)
    except OSError:
        pass
    for s in (client, server):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def downwards(client, server, case):
    """Answers of job data, the first, stay whole unless the case says so."""
    kind, _, first = case.partition("@")
    spoil = ANSWERS.get(kind)
    try:
        head = take(server, 8)
        if kind == "greeting-noise":
            head = noise(8, 1)
        elif kind == "greeting-short":
            head = head[:3]
        elif kind == "greeting-status":
            head = b"\x80\0\0\0" + head[4:]
        client.sendall(head)
        if kind == "greeting-short":
            raise EOFError
        n = 0
        while True:
            _, tag, length, _ = HEADER.unpack(take(server, 16))
            payload = take(server, length)
            if spoil is None or tag < 100 or n < int(first or 1):
                client.sendall(frame(tag, payload))
            else:
                what = spoil(tag, payload)
                parts = what if isinstance(what, tuple) else (what,)
                for part in parts:
                    if part is None:
                        raise EOFError
                    client.sendall(part)
            n += tag >= 100
    except (EOFError, OSError):
        for s in (client, server):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def main():
    case, program = sys.argv[1], sys.argv[2:]
    env = dict(os.environ)
    uris = [k for k in env if k.startswith("PMIX_SERVER_URI")]
    host, port = env[uris[0]].split("//")[1].rsplit(":", 1)
    listener = socket.create_server(("127.0.0.1", 0))
    own = listener.getsockname()[1]
    for key in uris:
        env[key] = env[key].rsplit(":", 1)[0] + f":{own}"

    def serve():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection((host, int(port)))
            threading.Thread(target=upwards, args=(client, server),
                             daemon=True).start()
            threading.Thread(target=downwards, args=(client, server, case),
                             daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    child = subprocess.Popen(program, env=env)
    try:
        status = child.wait(30)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        print(f"{case}: hangs", flush=True)
        return
    print(f"{case}: " + (f"killed by {-status}" if status < 0
                         else f"exited {status}"), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--cases":
        # Each lie in the first answer after the job data, some in every one.
        print("\n".join([f"{x}@1" for x in ANSWERS]
                        + [f"{x}@{n}" for n in (0, *range(2, CALLS))
                           for x in ("cut", "count-40", "deep", "status-noise")]
                        + ["greeting-noise", "greeting-short",
                           "greeting-status", "none"]))
    else:
        main()
