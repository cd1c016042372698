"""A rank that sends large lists, beside two ranks that fence (fence_stream.c).

usage: large_messages.py flood|legal

`flood` sends each list of issue 17 for a while, three times: far more than
anybody needs. Each must be refused with a status, and not delay the fences of
others: one line per list and time,

    NAME: status S, N messages, p99 A ms, of as many bytes p99 B ms, calm p99 C ms

`legal` sends once what is just allowed:

    NAME: status S, processor A ms of the server, longest fence B ms
"""

import array as arrays
import glob
import os
import sys
import time

from raw_peer import (BOOL, DATA_ARRAY, ONE, PROC, Peer, application, array,
                      command, entries, info, packed, proc, query, same, several,
                      signed, size, text, varint)

NOTHING = size(0)
ELEMENT = proc("x", 1)
USER = packed(varint(os.getuid()))
KEY = ONE + text("k")


def keys(n):
    return size(n) + KEY * n


def codes(n):
    return size(n) + signed(n) + b"".join(signed(-i - 1) for i in range(n))


def commit(values):
    return (command(2) + packed(b"\3") + ONE + b"\1" + varint(len(values))
            + values)


def ranged(n):
    """An info with the processes that an event is for."""
    return info("pmix.evrange.custom", array(PROC, n, ELEMENT * n))


def infos(n):
    return same(n, info("k"))


def messages(procs, infos_, code, queries, keys_, values, strings, apps):
    """The lists of every kind, of so many elements."""
    whole = proc(os.environ["PMIX_NAMESPACE"], 2)
    return {
        "processes of a fence": command(3) + same(procs, ELEMENT) + NOTHING,
        "processes to connect": command(10) + same(procs, ELEMENT) + NOTHING,
        "processes of a group":
            command(24) + ONE + text("g") + same(procs, ELEMENT) + NOTHING,
        "targets of job control": command(18) + same(procs, ELEMENT) + NOTHING,
        "sources of output": command(22) + same(procs, ELEMENT) + NOTHING
            + packed(varint(2)) + size(1),
        "event codes": command(13) + codes(code) + NOTHING,
        "range of an event":
            command(12) + packed(signed(-400)) + packed(b"\7")
            + several([ranged(procs)]),
        "range of a registration":
            command(13) + codes(1) + several([ranged(procs)]),
        "queries": command(15) + same(queries, query(["pmix.qry.ns"])),
        "keys of a query":
            command(15) + several([query(["pmix.qry.ns"] * keys_)]),
        "infos of a fence":
            command(3) + several([whole]) + infos(infos_),
        "infos of a notification":
            command(12) + packed(signed(-400)) + packed(b"\3") + infos(infos_),
        "keys to publish":
            command(6) + USER + several([info("p%d" % i)
                                         for i in range(infos_)]),
        "keys to look up": command(7) + USER + keys(keys_) + NOTHING,
        "keys to unpublish": command(8) + USER + keys(keys_) + NOTHING,
        "keys of a commit": commit(entries(values)),
        "elements of a value":
            commit(entries(1, array(BOOL, strings, b"\1" * strings))),
        "arguments of a program":
            command(9) + NOTHING + several([application(argv=strings)]),
        "programs of a job": command(9) + NOTHING + same(apps, application()),
    }


def fences():
    """When fences began and how long they took, in ns."""
    with open("fences", "rb") as file:
        data = file.read()
    x = arrays.array("q")
    x.frombytes(data[:len(data) // 16 * 16])
    return x


def lengths(x, start, end):
    """How long the fences took that were under way, in ms, sorted."""
    return sorted(x[i + 1] / 1e6 for i in range(0, len(x), 2)
                  if x[i] + x[i + 1] >= start and x[i] <= end)


def at(x, percent):
    return x[len(x) * percent // 100] if x else float("inf")


def send_for(seconds, message):
    """Asks again and again; how often, and the last status."""
    peer = Peer()
    n, status, end = 0, None, time.monotonic() + seconds
    while time.monotonic() < end:
        status = peer.ask(message)
        n += 1
        if status in ("closed", "late"):
            peer = Peer()
    peer.socket.close()
    return n, status


def flood():
    phases = []
    lists = messages(1000000, 60000, 1000000, 100000, 500000, 500000, 1000000,
                     100000)
    for name, message in [*lists.items()] * 3:
        times = [time.monotonic_ns()]
        time.sleep(0.4)
        times.append(time.monotonic_ns())
        # As many bytes that nobody looks at.
        send_for(0.4, command(99) + bytes(len(message) - 2))
        times.append(time.monotonic_ns())
        n, status = send_for(0.4, message)
        times.append(time.monotonic_ns())
        phases.append((name, n, status, times))
    x = fences()
    for name, n, status, times in phases:
        calm, bytes_, beside = (lengths(x, *times[i:i + 2]) for i in range(3))
        print(f"{name}: status {status}, {n} messages, "
              f"p99 {at(beside, 99):.2f} ms, "
              f"of as many bytes p99 {at(bytes_, 99):.2f} ms, "
              f"calm p99 {at(calm, 99):.2f} ms", flush=True)


def server_time():
    """Processor time of the server, our launcher, in ns."""
    total = 0
    for name in glob.glob(f"/proc/{os.getppid()}/task/*/schedstat"):
        with open(name, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def legal():
    phases = []
    # A fence and a range have an info or a process more; strings are among the
    # fields, too.
    for name, message in messages(65536 - 8, 1024, 1024, 256, 1024, 4096,
                                  32768 - 8, 64).items():
        peer = Peer()
        peer.socket.settimeout(2)
        before = server_time()
        start = time.monotonic_ns()
        status = peer.ask(message)
        end = time.monotonic_ns()
        phases.append((name, status, start, end, server_time() - before))
        peer.socket.close()
        time.sleep(0.2)
    x = fences()
    for name, status, start, end, used in phases:
        took = lengths(x, start, end)
        print(f"{name}: status {status}, processor {used / 1e6:.2f} ms "
              f"of {(end - start) / 1e6:.1f} ms, longest fence "
              f"{took[-1] if took else float('inf'):.2f} ms", flush=True)


time.sleep(1)
try:
    {"flood": flood, "legal": legal}[sys.argv[1]]()
finally:
    open("stop", "w").close()
