#!/usr/bin/python3
"""A user at a terminal: an interactive shell on a pseudo-terminal runs a job.

usage: shell_job.py stop|winch COMMAND...

The command prints "ready PID..." once its processes run. `stop`: Ctrl-Z has the
shell say that the job is stopped, and its processes stand still; `fg` has them
go on; Ctrl-C ends the job. `winch`: the command prints the size of its terminal
whenever that changes, and it does as ours does.
"""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

LIMIT = 60 * int(os.environ.get("SLOW", "1"))


class Terminal:
    def __init__(self):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = "prompt% "
            os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
        self.resize(24, 80)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def await_text(self, pattern):
        """Waits for what the pattern finds, and forgets what was before."""
        end = time.monotonic() + LIMIT
        while True:
            found = re.search(pattern, self.text)
            if found:
                self.text = self.text[found.end():]
                return found
            if time.monotonic() > end:
                sys.exit("waited for %r in vain; the terminal shows:\n%s"
                         % (pattern, self.text))
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def stands_still(pid):
    """Whether a process uses no processor for a while."""
    def ticks():
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12]) + int(fields[13])
    before = ticks()
    time.sleep(0.3)
    return ticks() == before


def eventually(holds, what):
    end = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > end:
            sys.exit("not so: " + what)
        time.sleep(0.05)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    terminal = Terminal()
    terminal.await_text("prompt% ")
    terminal.type(shlex.join(sys.argv[2:]) + "\n")
    if sys.argv[1] == "winch":
        terminal.await_text(r"ready\r")
        for rows, columns in [(30, 100), (11, 22)]:
            terminal.resize(rows, columns)
            terminal.await_text(r"%d %d\r" % (rows, columns))
        terminal.end()
        return
    pids = []
    for _ in range(2):
        pids.append(int(terminal.await_text(r"ready (\d+)\r").group(1)))
    for _ in range(2):
        terminal.type("\x1a")
        terminal.await_text(r"Stopped")
        terminal.await_text("prompt% ")
        eventually(lambda: all(map(stands_still, pids)), "the job stands still")
        terminal.type("fg\n")
        eventually(lambda: not any(map(stands_still, pids)), "the job goes on")
    terminal.type("\x03")
    terminal.await_text("prompt% ")
    terminal.type("echo status $?\n")
    terminal.await_text(r"status 130\r")
    terminal.end()


main()
