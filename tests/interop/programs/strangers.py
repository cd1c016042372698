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

A client is the process that PMIX_NAMESPACE and PMIX_RANK name, or NAME:RANK.
"""

import os
import socket
import struct
import sys

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


def main():
    what, port = sys.argv[1], int(sys.argv[2])
    kind, count = sys.argv[3], int(sys.argv[4])
    name, rank = os.environ.get("PMIX_NAMESPACE", ""), os.environ.get("PMIX_RANK", 0)
    if len(sys.argv) > 5:
        name, rank = sys.argv[5:7]
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
