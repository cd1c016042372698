#!/usr/bin/python3
"""Speaks to a server without a library: greetings, and what may follow them.

    strangers.py connect PORT KIND COUNT [NAME RANK]

connects COUNT times, one after the other, and prints how many were served. KIND:

    finalized   greets as a client, finalizes, waits for the answer, closes
    lost        greets as a client and closes once it is served
    tool        greets as a tool that needs an identity, and closes
    named       greets as a tool that calls itself NAME:RANK
    scheduler   greets as a scheduler of that name
    user        greets as a client that says it is another user

    strangers.py early PORT SECONDS NAME RANK

greets as a client, again and again, until it is served or the time is over; prints
how often.

    strangers.py twice PORT NAME RANK

connects as a tool of that name, and a second time while the first is served.

    strangers.py stopped PORT

sends half a message as a client and stops itself; once it goes on, sends the rest and
prints whether that was answered.

    strangers.py halves PORT COUNT BYTES

connects COUNT times as a client and sends on each all but the last byte of a message
of BYTES, as fast as the server takes it; prints when all have been cut off.

    strangers.py storm PORT SECONDS

connects as a client that is none, again and again, and prints how often.

A client is the process that PMIX_NAMESPACE and PMIX_RANK name, or NAME:RANK.
"""

import os
import select
import signal
import socket
import struct
import sys
import time

CLIENT, TOOL, NAMED_TOOL, SCHEDULER = 0, 3, 4, 10
ROLES = {"finalized": CLIENT, "lost": CLIENT, "user": CLIENT, "tool": TOOL,
         "named": NAMED_TOOL, "scheduler": SCHEDULER}
FINALIZE = b"\x02\x05"


def frame(tag, payload):
    return struct.pack(">iIII", 0, tag, len(payload), 0) + payload


def greeting(role, name, rank, uid):
    """The greeting of a libpmix 4.2.2; its header is in the host's order."""
    text = b"native\0" + struct.pack(">I", 8) + struct.pack("=II", uid, 0)
    text += bytes([role])
    if role != CLIENT:
        text += struct.pack(">II", uid, 0)
    if role != TOOL:
        text += name.encode() + b"\0" + struct.pack(">I", rank)
    text += b"4.2.2\0v41\0\x01hash\0"
    if role != CLIENT:
        text += b"\x02\0"  # No infos.
    return struct.pack("=iIII", -1, 0xffffffff, len(text), 0) + text


def dial(port):
    result = socket.socket()
    result.settimeout(20)
    result.connect(("127.0.0.1", port))
    return result


def begins(connection, kind, name, rank):
    """Greets; whether the server serves."""
    uid = os.geteuid() + (1 if kind == "user" else 0)
    try:
        connection.sendall(greeting(ROLES[kind], name, rank, uid))
        answer = connection.recv(8)
    except ConnectionError:
        return False
    return answer[:4] == b"\0\0\0\0"


def halves(port, count, size, name, rank):
    connections = [dial(port) for _ in range(count)]
    for x in connections:
        if not begins(x, "lost", name, rank):
            sys.exit("not served")
        x.settimeout(0)
    start = time.monotonic()
    payload = bytes(1 << 16)
    header = struct.pack(">iIII", 0, 100, size, 0)
    left = {x: header + payload[:0] for x in connections}
    missing = {x: size - 1 for x in connections}
    poll = select.poll()
    by_number = {x.fileno(): x for x in connections}
    for x in connections:
        poll.register(x, select.POLLOUT | select.POLLIN)
    while by_number:
        for number, what in poll.poll(1000):
            x = by_number[number]
            try:
                if what & ~select.POLLOUT and not x.recv(1 << 16):
                    raise ConnectionError
                if not left[x]:
                    left[x] = payload[:missing[x]]
                    missing[x] -= len(left[x])
                if left[x]:
                    left[x] = left[x][x.send(left[x]):]
                else:
                    poll.modify(x, select.POLLIN)
            except BlockingIOError:
                pass
            except ConnectionError:
                poll.unregister(x)
                del by_number[number]
    print(f"all cut off after {time.monotonic() - start:.0f} s")


def early(port, seconds, name, rank):
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        count += 1
        with dial(port) as connection:
            if begins(connection, "lost", name, rank):
                print(f"served at attempt {count}")
                return
    print(f"refused {count} times")


def twice(port, name, rank):
    with dial(port) as first:
        served = [begins(first, "named", name, rank)]
        with dial(port) as second:
            served.append(begins(second, "named", name, rank))
    print(f"{sum(served)} of 2 served")


def stopped(port, name, rank):
    message = frame(100, FINALIZE)
    with dial(port) as connection:
        served = begins(connection, "lost", name, rank)
        connection.sendall(message[:-1])
        os.kill(os.getpid(), signal.SIGSTOP)
        try:
            connection.sendall(message[-1:])
            served = served and bool(connection.recv(16))
        except ConnectionError:
            served = False
    print("answered" if served else "cut off")


def storm(port, seconds):
    """From several processes: one is slower than a server."""
    end = time.monotonic() + seconds
    hello = greeting(CLIENT, "nobody", 0, os.geteuid())
    count = 0
    while time.monotonic() < end:
        try:
            with dial(port) as connection:
                connection.sendall(hello)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
            count += 1
        except OSError:
            pass
    print(f"{count} connections")


def main():
    what, port = sys.argv[1], int(sys.argv[2])
    if what == "early":
        early(port, float(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
        return
    if what == "twice":
        twice(port, sys.argv[3], int(sys.argv[4]))
        return
    kind = sys.argv[3] if len(sys.argv) > 3 else ""
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    name, rank = os.environ.get("PMIX_NAMESPACE", ""), os.environ.get("PMIX_RANK", 0)
    if len(sys.argv) > 5:
        name, rank = sys.argv[5:7]
    if what == "halves":
        halves(port, int(kind), count, name, int(rank))
        return
    if what == "stopped":
        stopped(port, name, int(rank))
        return
    if what == "storm":
        storm(port, int(kind))
        return
    if what != "connect":
        sys.exit(__doc__)
    served = 0
    for _ in range(count):
        with dial(port) as connection:
            if not begins(connection, kind, name, int(rank)):
                continue
            served += 1
            if kind == "finalized":
                connection.sendall(frame(100, FINALIZE))
                connection.recv(100)
    print(f"{served} of {count} served")


if __name__ == "__main__":
    main()
