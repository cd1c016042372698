#!/usr/bin/python3
"""Writes down what is sent over an interface to TCP ports.

usage: recorder.py INTERFACE FILE

Prints `ready` when it listens. Once there is a FILE.stop it writes a file
FILE.ADDRESS.PORT for each end that a connection was made to, with all that the one
that dialled sent there on its first connection, and prints how many bytes that are.
"""

import ipaddress
import os
import socket
import struct
import sys

ETH_P_ALL = 3


def tcp_of(frame):
    """Source, destination, sequence number, flags and content; or none."""
    kind = struct.unpack_from(">H", frame, 12)[0]
    if kind == 0x0800:
        size = (frame[14] & 15) * 4
        length = struct.unpack_from(">H", frame, 16)[0]
        if frame[23] != socket.IPPROTO_TCP:
            return None
        ends = frame[26:30], frame[30:34]
        begin, end = 14 + size, 14 + length
    elif kind == 0x86dd:
        if frame[20] != socket.IPPROTO_TCP:
            return None
        ends = frame[22:38], frame[38:54]
        begin, end = 54, 54 + struct.unpack_from(">H", frame, 18)[0]
    else:
        return None
    source, target, number = struct.unpack_from(">HHI", frame, begin)
    content = begin + (frame[begin + 12] >> 4) * 4
    return ((ends[0], source), (ends[1], target), number, frame[begin + 13],
            frame[content:end])


def main():
    packets = []
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    s.bind((sys.argv[1], 0))

    s.settimeout(0.2)
    print("ready", flush=True)
    while not os.path.exists(sys.argv[2] + ".stop"):
        try:
            x = tcp_of(s.recv(1 << 17))
        except socket.timeout:
            continue
        if x:
            packets.append(x)
    firsts = {}
    for source, target, number, flags, _ in packets:
        if flags & 0x12 == 0x02:  # SYN without ACK.
            firsts.setdefault(target, (source, number + 1))
    for target, (source, begin) in firsts.items():
        said = bytearray()
        for x in sorted((x for x in packets if x[0] == source and x[1] == target),
                        key=lambda x: (x[2] - begin) % (1 << 32)):
            at = (x[2] - begin) % (1 << 32)
            if at == len(said):  # Neither sent again nor missing.
                said += x[4]
        name = f"{ipaddress.ip_address(target[0])}.{target[1]}"
        with open(f"{sys.argv[2]}.{name}", "wb") as file:
            file.write(said)
        print(f"{len(said)} bytes to {name}")


if __name__ == "__main__":
    main()
