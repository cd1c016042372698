#!/usr/bin/python3
"""How a server treats connections that say nothing, or nonsense.

    raw_limits.py open HOST PORT N      connects N times and says how many stay
    raw_limits.py patience HOST PORT [MS]   says after how many ms it is cut off,
                                        or `stays` if it is there after MS, 1500
    raw_limits.py noise HOST PORT N     connects N times, one after the other,
                                        with bytes that are no greeting
"""

import select
import socket
import sys
import time


def is_closed(x, seconds):
    """Whether the other end closes it within the time."""
    readable, _, _ = select.select([x], [], [], seconds)
    if not readable:
        return False
    try:
        return x.recv(4096) == b""
    except OSError:
        return True


def stay(place, count):
    xs = [socket.create_connection(place, 5) for _ in range(count)]
    quiet_since = time.monotonic()
    while time.monotonic() < quiet_since + 0.4:
        left = [x for x in xs if not is_closed(x, 0)]
        if len(left) < len(xs):
            quiet_since = time.monotonic()
        xs = left
        time.sleep(0.01)
    print(len(xs))


def patience(place, most):
    start = time.monotonic()
    if is_closed(socket.create_connection(place, 5), most / 1000):
        print(int((time.monotonic() - start) * 1000))
    else:
        print("stays")


def noise(place, count):
    for _ in range(count):
        x = socket.create_connection(place, 5)
        try:
            x.sendall(b"\xff" * 64)
            while not is_closed(x, 5):
                pass
        except OSError:
            pass


what, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
if what == "open":
    stay((host, port), int(sys.argv[4]))
elif what == "patience":
    patience((host, port), int(sys.argv[4]) if len(sys.argv) > 4 else 1500)
else:
    noise((host, port), int(sys.argv[4]))
