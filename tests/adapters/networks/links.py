#!/usr/bin/python3
"""Lanes over real interfaces: three nodes in network namespaces.

    a: eth1 10.91.1.1, eth2 10.91.2.1 --- b: eth1 10.91.1.2, eth2 10.91.2.2
                                          b: eth3 10.91.3.2 --- c: eth3 10.91.3.3

a and c are in no common subnet: b forwards between them.
"""

import os
import queue
import re
import subprocess
import sys
import threading
import time

PREFIX = "netlinks-%d-" % os.getpid()
LIMIT = 10.0  # seconds that anything may take unless a check says less
counts = {"ok": 0, "FAIL": 0}


def note(ids, what, passed, detail=""):
    word = "ok  " if passed else "FAIL"
    counts[word.strip()] += 1
    print(word, ids, what, flush=True)
    if not passed or detail:
        print("     |", detail, flush=True)


def now():
    return time.monotonic() * 1000


def ip(space, *words):
    """Runs `ip` in a namespace; returns when that was done."""
    subprocess.run(["ip", "-n", PREFIX + space, *words], check=True)
    return now()


class Node:
    def __init__(self, program, space, folder, rank, interfaces=""):
        self.lines = []
        self.fresh = queue.Queue()
        words = [program, os.path.join(folder, "n%d" % rank)]
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", PREFIX + space] + words
            + ([interfaces] if interfaces else []),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.rank = rank
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            when, text = line.rstrip("\n").split(" ", 1)
            self.fresh.put((float(when), text))

    def wait(self, pattern, limit=LIMIT, since=0.0):
        """The first line from `since` on that matches, and its time."""
        end = time.monotonic() + limit
        at = 0
        while True:
            while at < len(self.lines):
                when, text = self.lines[at]
                at += 1
                if when >= since and re.search(pattern, text):
                    return when, text
            left = end - time.monotonic()
            if left <= 0:
                return None, "no line like '%s'; the last: %s" % (
                    pattern, self.lines[-3:])
            try:
                self.lines.append(self.fresh.get(timeout=left))
            except queue.Empty:
                pass

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def addresses(self, of="networks"):
        """What it said last of its networks, once these are there."""
        self.wait("^networks.*" + of)
        return [x[1] for x in self.lines
                if x[1].startswith("networks")][-1].split(" ", 1)[1]

    def reach(self, other, of="networks"):
        self.tell("reach %d %s" % (other.rank, other.addresses(of)))

    def end(self):
        self.tell("quit")
        return self.process.wait(timeout=LIMIT)


def build_networks():
    for space in "abc":
        subprocess.run(["ip", "netns", "add", PREFIX + space], check=True)
        ip(space, "link", "set", "lo", "up")
    for left, right, n in (("a", "b", 1), ("a", "b", 2), ("c", "b", 3)):
        name = "eth%d" % n
        ip(left, "link", "add", name, "type", "veth", "peer", "name", name,
           "netns", PREFIX + right)
        for space in (left, right):
            host = "abc".index(space) + 1
            ip(space, "addr", "add", "10.91.%d.%d/24" % (n, host), "dev", name)
            ip(space, "addr", "add", "fd91:%d::%d/64" % (n, host), "dev", name,
               "nodad")
            ip(space, "link", "set", name, "up")
    # A bridge that each node has for itself, as containers make.
    for space in "ab":
        ip(space, "link", "add", "docker0", "type", "bridge")
        ip(space, "addr", "add", "172.17.0.1/16", "dev", "docker0")
        ip(space, "link", "set", "docker0", "up")
    subprocess.run(["ip", "netns", "exec", PREFIX + "b", "sh", "-c",
                    "echo 1 >/proc/sys/net/ipv4/ip_forward"], check=True)
    ip("a", "route", "add", "10.91.3.0/24", "via", "10.91.1.2")
    ip("c", "route", "add", "default", "via", "10.91.3.2")


def remove_networks():
    for space in "abc":
        subprocess.run(["ip", "netns", "del", PREFIX + space], check=False)


def within(when, begin, limit):
    return when is not None and when - begin <= limit


def run(program, folder):
    a = Node(program, "a", folder, 1)
    b = Node(program, "b", folder, 2)
    c = Node(program, "c", folder, 3)
    text = a.addresses("fd91:1::1.*fd91:2::1")
    note("O9 L2", "a node takes lanes on each interface over IPv4 and IPv6",
         all(x in text for x in ("10.91.1.1", "10.91.2.1", "fd91:1::1",
                                 "fd91:2::1")), text)
    note("O9", "a bridge of its own and loopback are not used",
         "docker0" not in text and "127.0.0.1" not in text, text)

    a.reach(b, "eth1 .*eth2 .*eth3")
    found = [a.wait("opened .* eth%d " % n) for n in (1, 2)]
    note("O2 O5", "two nodes have a lane over each network",
         all(x[0] for x in found), str(found))
    note("O5", "frames arrive over both",
         all(b.wait("^frame %s 100" % x[1].split()[1])[0] is not None
             for x in [b.wait("opened .* eth%d " % n) for n in (1, 2)]))

    time.sleep(2.1)  # So that the lanes count as steady.
    down = ip("a", "link", "set", "eth2", "down")
    at_a = a.wait("^closed .*network eth2 is down")
    at_b = b.wait("^closed .*network eth2 is down")
    note("O4 P-N1", "an interface that goes down ends its lanes within 50 ms",
         within(at_a[0], down, 50), "%s %s" % (at_a[0] and at_a[0] - down,
                                               at_a[1]))
    note("O4 P-N1", "so does the loss of the carrier at the other end",
         within(at_b[0], down, 50), "%s %s" % (at_b[0] and at_b[0] - down,
                                               at_b[1]))
    note("O4 L1", "the other lane stays",
         not [x for x in a.lines if "closed" in x[1] and "eth1" in x[1]])

    time.sleep(1.1)  # The kernel tells of a carrier once a second at most.
    up = ip("a", "link", "set", "eth2", "up")
    # Its IPv6 address went with the interface.
    again = a.wait("opened .* eth2 ", since=down)
    note("O4 L1", "the lane is there again within half a second of the interface",
         within(again[0], up, 500), "%s %s" % (again[0] and again[0] - up,
                                                again[1]))

    time.sleep(2.1)
    ip("a", "addr", "add", "fd91:2::1/64", "dev", "eth2", "nodad")
    a.wait("^networks .*fd91:2::1", since=up)
    gone = ip("a", "addr", "del", "10.91.2.1/24", "dev", "eth2")
    closed = a.wait("^closed .*address 10.91.2.1 is gone", since=up)
    note("O4 O9", "an address that is removed ends its lane within 50 ms",
         within(closed[0], gone, 50), "%s %s" % (closed[0] and closed[0] - gone,
                                                 closed[1]))
    other = a.wait("opened .* eth2 fd91:2::1 fd91:2::2", since=gone - 50)
    note("O12 L2", "the other family takes its place", other[0] is not None,
         "%s %s" % (other[0] and other[0] - gone, other[1]))

    a.reach(c, "eth3 10")
    far = a.wait("opened [0-9]+ 3 eth1 10.91.1.1 10.91.3.3 dialled")
    note("L6 O10", "a node behind a gateway is reached", far[0] is not None,
         far[1])
    note("L6", "frames arrive from there",
         a.wait("^frame %s 100" % (far[1].split()[1]))[0] is not None)

    # The way there changes while it is not up.
    ip("a", "route", "del", "10.91.3.0/24")
    a.tell("release 3")
    a.wait("^closed .* not needed")
    a.reach(c, "eth3 10")
    none = a.wait("^failed 3 10.91.3.3 no route")
    note("L4 L6", "without a route the owner is told so", none[0] is not None,
         none[1])
    routed = ip("a", "route", "add", "10.91.3.0/24", "via", "10.91.1.2")
    far = a.wait("opened [0-9]+ 3 eth1", since=routed - 50)
    note("L6", "a route that comes up is used within a second",
         within(far[0], routed, 1000), "%s %s" % (far[0] and far[0] - routed,
                                                  far[1]))

    # Who dies without a word: the kernel closes its connections.
    b.process.kill()
    dead = now()
    lost = a.wait("^closed .*lane|^closed .*cut|^closed .*closed", since=dead)
    note("L1", "the end of a daemon is noticed at once by its lanes",
         within(lost[0], dead, 1000), "%s %s" % (lost[0] and lost[0] - dead,
                                                 lost[1]))
    b.process.wait()
    note("O18", "the nodes end in order", [a.end(), c.end()] == [0, 0])


def main():
    program = os.path.join(os.environ.get("TROUPE_BIN", "."), "lane_node")
    folder = os.path.join(os.environ.get("TROUPE_WORK", "."), "credentials")
    if os.geteuid() != 0:
        print("skip O4 lanes over interfaces (network namespaces need root)")
        print("0 passed, 0 failed")
        return 0
    os.makedirs(folder, mode=0o700, exist_ok=True)
    subprocess.run([program, "--make", folder, "3"], check=True)
    try:
        build_networks()
        run(program, folder)
    finally:
        remove_networks()
    print("%d passed, %d failed" % (counts["ok"], counts["FAIL"]))
    return 1 if counts["FAIL"] else 0


sys.exit(main())
