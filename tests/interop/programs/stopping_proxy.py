#!/usr/bin/python3
"""A way to a server on which it is stopped as soon as tools have asked something.

usage: stopping_proxy.py PORT PID COUNT

Prints its own port on loopback and passes on what comes. What tools say second, after
their greeting, is kept back until COUNT of them have said it; then process PID is
stopped, and all goes on.
"""

import os
import signal
import socket
import sys
import threading


class Gate:
    """Opens when `count` have come; the last of them stops the server."""

    def __init__(self, pid, count):
        self.pid = pid
        self.left = count
        self.changed = threading.Condition()

    def pass_through(self):
        with self.changed:
            self.left -= 1
            if self.left == 0:
                os.kill(self.pid, signal.SIGSTOP)
                self.changed.notify_all()
            self.changed.wait_for(lambda: self.left <= 0)


def pump(source, target, before):
    try:
        spoken = 0
        while data := source.recv(65536):
            spoken += 1
            if spoken == 2 and before:
                before()
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    port, pid, count = (int(x) for x in sys.argv[1:4])
    gate = Gate(pid, count)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            tool, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for source, target, before in ((tool, server, gate.pass_through),
                                           (server, tool, None)):
                threading.Thread(target=pump, args=(source, target, before),
                                 daemon=True).start()


if __name__ == "__main__":
    main()
