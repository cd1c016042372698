#!/usr/bin/python3
"""Can one node of the lab reach another? Datagrams, so that nothing resends.

usage: echo.py serve             answers at port 7 of all addresses, until killed
       echo.py reach ADDRESS     status 0 if an answer comes within half a second
"""

import select
import socket
import sys


def serve():
    sockets = []
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        s = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind((address, 7))
        sockets.append(s)
    print("ready", flush=True)
    while True:
        for s in select.select(sockets, [], [])[0]:
            data, peer = s.recvfrom(100)
            try:
                s.sendto(data, peer)
            except OSError:
                pass  # there is no way back


def reach(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        try:
            s.connect((address, 7))
            s.send(b"x")
            return s.recv(100) == b"x"
        except OSError:
            return False


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    sys.exit(0 if reach(sys.argv[2]) else 1)
