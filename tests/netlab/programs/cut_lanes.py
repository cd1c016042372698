#!/usr/bin/python3
"""Cuts connections between daemons: cut_lanes.py KIND PAUSE_MS PID...

KIND is unix or tcp: lanes of daemons of one machine, or those between addresses other
than loopback's, where processes connect. Each PAUSE_MS all of these processes' are shut
down, as if the kernel had lost them, until one of the processes ends or SIGTERM comes;
then the number of all that were cut is printed. 0: once.

cut_lanes.py check: whether this is possible here; says why not."""

import ctypes
import errno
import os
import signal
import socket
import sys
import time

PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def unix_lanes(pid):
    """The inodes of connected sockets that have a name of a lane, or of its end."""
    with open(f"/proc/{pid}/net/unix") as table:
        for line in table.readlines()[1:]:
            x = line.split()
            if len(x) == 8 and x[5] == "03" and x[7].startswith("@troupe-lane."):
                yield x[6]


def tcp_lanes(pid):
    for name in "tcp", "tcp6":
        with open(f"/proc/{pid}/net/{name}") as table:
            for line in table.readlines()[1:]:
                x = line.split()
                address = x[1].split(":")[0]
                is_loopback = (address.endswith("7F") if name == "tcp"
                               else address == "0" * 24 + "01000000")
                if x[3] == "01" and not is_loopback:
                    yield x[9]


def copy_of(pidfd, fd):
    """A descriptor of ours for that of another process."""
    result = libc.syscall(PIDFD_GETFD, pidfd, int(fd), 0)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"pidfd_getfd: {os.strerror(code)}")
    return result


def check():
    """Of a process that has no ties to us, as daemons have none."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE, as daemons do.
        here.close()
        there.send(b"x")
        there.recv(1)
        os._exit(0)
    here.recv(1)
    try:
        os.close(copy_of(os.pidfd_open(pid), there.fileno()))
    finally:
        here.close()
        there.close()
        os.waitpid(pid, 0)


def cut(pid, lanes):
    inodes = {f"socket:[{x}]" for x in lanes(pid)}
    pidfd = os.pidfd_open(pid)
    count = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                if os.readlink(f"/proc/{pid}/fd/{fd}") not in inodes:
                    continue
            except FileNotFoundError:
                continue  # Closed meanwhile.
            try:
                copy = copy_of(pidfd, fd)
            except OSError as e:
                if e.errno == errno.EBADF:
                    continue
                raise
            # The number may be another file's by now.
            if os.readlink(f"/proc/self/fd/{copy}") not in inodes:
                os.close(copy)
                continue
            with socket.socket(fileno=copy) as x:
                try:
                    x.shutdown(socket.SHUT_RDWR)
                    count += 1
                except OSError:
                    pass  # Cut at its other end already.
    finally:
        os.close(pidfd)
    return count


def main():
    if sys.argv[1] == "check":
        try:
            check()
        except OSError as e:
            sys.exit(f"descriptors of others cannot be had: {e}")
        return
    lanes = {"unix": unix_lanes, "tcp": tcp_lanes}[sys.argv[1]]
    pause = int(sys.argv[2]) / 1000
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    total = 0
    while going:
        try:
            total += sum(cut(int(x), lanes) for x in sys.argv[3:])
        except (FileNotFoundError, ProcessLookupError):
            break
        if pause == 0:
            break
        time.sleep(pause)
    print(total)


main()
