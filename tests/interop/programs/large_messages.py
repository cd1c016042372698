"""A rank that sends large lists, beside two ranks that fence (fence_stream.c).

usage: large_messages.py flood|storm|legal

`flood` sends each list of issue 17 for a while: far more than anybody needs.
Each must be refused with a status, and not delay the fences of others. What it
takes of the processors anyway is told by sending the same to a program that has
nothing to do with the fences. One line per list and time, up to four times
unless the fences are as fast as then, or as if nobody sends anything; D is the
processor time of any receiver for what a server reads before it looks at others:

    NAME: status S, N messages, p99 A ms, to another program p99 B ms,
          calm p99 C ms, turn D ms

`storm` does so with connections, of this user and of another one:

    NAME: N connections, p99 A ms, to another program p99 B ms, calm p99 C ms,
          turn D ms

`legal` sends what is just allowed, five times; of each the least, and what it
takes on this machine to receive that message into fresh memory and copy it once:

    NAME: status S, loop A ms, processor B ms of the server, longest fence C ms,
          bare D ms
"""

import array as arrays
import glob
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import time
import zlib

from raw_peer import (BOOL, DATA_ARRAY, ONE, PROC, Peer, application, array,
                      command, entries, info, packed, proc, query, same, several,
                      signed, size, text, varint)

NOTHING = size(0)
ELEMENT = proc("x", 1)
USER = packed(varint(os.getuid()))
KEY = ONE + text("k")

# Bytes of a long message that are read before others are looked at.
TURN = 256 << 10


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


def of_itself(n):
    """Lists that name this process again and again, so that nothing is wrong."""
    me = proc(os.environ["PMIX_NAMESPACE"], 2)
    return {
        "itself in a fence": command(3) + same(n, me) + NOTHING,
        "itself in a group":
            command(24) + ONE + text("mine") + same(n, me) + NOTHING,
        "itself as source of output": command(22) + same(n, me) + NOTHING
            + packed(varint(2)) + size(1),
    }


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


def receive(peer, room):
    """Fills `room`, in pieces."""
    view = memoryview(room)
    while view:
        got = peer.recv_into(view[:1 << 18])
        if got == 0:
            raise EOFError
        view = view[got:]


def bare_time(message):
    """Processor time that any receiver needs for a message, in ns; the least of
    five: pages for it and for a copy of it, and the bytes themselves."""
    result = []
    for _ in range(5):
        ours, theirs = socket.socketpair()
        sender = threading.Thread(target=theirs.sendall, args=(message,))
        sender.start()
        before = time.thread_time_ns()
        with mmap.mmap(-1, 2 * len(message)) as fresh:
            with memoryview(fresh) as view:
                received = view[:len(message)]
                receive(ours, received)
                view[len(message):] = received
                received.release()
        result.append(time.thread_time_ns() - before)
        sender.join()
        ours.close()
        theirs.close()
    return min(result)


def serve_elsewhere(door):
    """Takes what a server would, whole and into fresh memory, looks at each byte
    once, and answers; knows of no fences."""
    while True:
        peer = door.accept()[0]
        try:
            while True:
                head = peer.recv(16, socket.MSG_WAITALL)
                if len(head) < 16:
                    break
                _, tag, length, _ = struct.unpack(">iIII", head)
                if length > 0:
                    room = mmap.mmap(-1, length)
                    receive(peer, room)
                    zlib.crc32(room)
                    room.close()
                answer = packed(signed(-29))
                peer.sendall(struct.pack(">iIII", 0, tag, len(answer), 0)
                             + answer)
        except (EOFError, ConnectionError):
            pass
        peer.close()


class Elsewhere(Peer):
    """The same to a program that is not the server."""

    port = 0

    @classmethod
    def start(cls):
        door = socket.create_server(("127.0.0.1", 0), backlog=4096)
        cls.port = door.getsockname()[1]
        child = os.fork()
        if child == 0:
            serve_elsewhere(door)
        door.close()
        return child

    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(20)
        self.tag = 100


def send_for(seconds, message, kind=Peer):
    """Asks again and again; how often, and the last status."""
    peer = kind()
    n, status, end = 0, None, time.monotonic() + seconds
    while time.monotonic() < end:
        status = peer.ask(message)
        n += 1
        if status in ("closed", "late"):
            peer = kind()
    peer.socket.close()
    return n, status


def rounds(attacks):
    """Runs attacks until the fences beside each have once been as fast as they
    should; `attacks` are functions of where to, by name.
    """
    slow = float(os.environ.get("SLOW", 1))
    turn = bare_time(bytes(TURN)) / 1e6
    for _ in range(4):
        phases = []
        for name, attack in attacks.items():
            times = [time.monotonic_ns()]
            time.sleep(0.3)
            times.append(time.monotonic_ns())
            attack(False)
            times.append(time.monotonic_ns())
            said = attack(True)
            times.append(time.monotonic_ns())
            phases.append((name, said, times))
        x = fences()
        for name, said, times in phases:
            calm, other, beside = (at(lengths(x, *times[i:i + 2]), 99)
                                   for i in range(3))
            print(f"{name}: {said}, p99 {beside:.2f} ms, to another program "
                  f"p99 {other:.2f} ms, calm p99 {calm:.2f} ms, "
                  f"turn {turn:.2f} ms", flush=True)
            if beside <= max(2 * calm, 2 * other, 5 * slow, 8 * turn):
                del attacks[name]


def flood():
    lists = messages(1000000, 60000, 1000000, 100000, 500000, 500000, 1000000,
                     100000)

    def attack_with(message):
        def attack(is_real):
            n, status = send_for(0.3, message, Peer if is_real else Elsewhere)
            return f"status {status}, {n} messages"
        return attack

    rounds({name: attack_with(x) for name, x in lists.items()})


def connect_for(seconds, port):
    """Connects again and again; how often."""
    n, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        peer = socket.socket()
        # No address is left waiting.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        try:
            peer.connect(("127.0.0.1", port))
            n += 1
        except OSError:
            pass
        peer.close()
    return n


def connect_as(user, port):
    """The same in a process of another user."""
    tell, hear = socket.socketpair()
    child = os.fork()
    if child == 0:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        tell.send(struct.pack("i", connect_for(0.5, port)))
        os._exit(0)
    os.waitpid(child, 0)
    return struct.unpack("i", hear.recv(4))[0]


def storm():
    env = os.environ
    uri = env.get("PMIX_SERVER_URI41") or env["PMIX_SERVER_URI4"]
    port = int(uri.rsplit(":", 1)[1])

    def attack_by(connect):
        def attack(is_real):
            n = connect(port if is_real else Elsewhere.port)
            return f"{n} connections"
        return attack

    attacks = {"storm of this user":
               attack_by(lambda to: connect_for(0.5, to))}
    if os.getuid() == 0:
        attacks["storm of another user"] = attack_by(
            lambda to: connect_as(65534, to))
    rounds(attacks)


def server_time(thread="*"):
    """Processor time of the server, our launcher, in ns."""
    total = 0
    for name in glob.glob(f"/proc/{os.getppid()}/task/{thread}/schedstat"):
        with open(name, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def legal():
    phases = []
    # A fence and a range have an info or a process more; strings are among the
    # fields, too.
    lists = messages(65536 - 8, 1024, 1024, 256, 1024, 4096, 32768 - 8, 64)
    lists.update(of_itself(65536 - 8))
    for name, message in [*lists.items()] * 5:
        peer = Peer()
        peer.socket.settimeout(2)
        loop, all_ = server_time(os.getppid()), server_time()
        start = time.monotonic_ns()
        status = peer.ask(message)
        end = time.monotonic_ns()
        phases.append((name, status, start, end,
                       server_time(os.getppid()) - loop, server_time() - all_))
        peer.socket.close()
        time.sleep(0.05)
    x = fences()
    for name in lists:
        mine = [y for y in phases if y[0] == name]
        longest = (lengths(x, y[2], y[3]) for y in mine)
        bare = bare_time(lists[name])
        print(f"{name}: status {mine[0][1]}, "
              f"loop {min(y[4] for y in mine) / 1e6:.2f} ms, "
              f"processor {min(y[5] for y in mine) / 1e6:.2f} ms, longest fence "
              f"{min(y[-1] if y else 0 for y in longest):.2f} ms, "
              f"bare {bare / 1e6:.2f} ms", flush=True)


time.sleep(1)
elsewhere = Elsewhere.start()
try:
    {"flood": flood, "storm": storm, "legal": legal}[sys.argv[1]]()
finally:
    os.kill(elsewhere, signal.SIGKILL)
    open("stop", "w").close()
