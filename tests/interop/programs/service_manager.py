"""A service manager as small as can be: what systemd does of Type=notify,
WatchdogSec and Restart=always.

usage: service_manager.py FOLDER WATCHDOG COMMAND...

Runs COMMAND and appends what it is told to FOLDER/told, a line each, without
signs of life; the number of these is in FOLDER/beats, that of the process in
FOLDER/pid, and how each life ended in FOLDER/lives. A service that is ready and
gives no sign of life for WATCHDOG seconds is killed; one that ends is started
again. TERM ends the service, then the manager.
"""

import os
import signal
import socket
import subprocess
import sys
import time


class Manager:
    def __init__(self, folder, limit, command):
        self.folder, self.limit, self.command = folder, limit, command
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "notify")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.listener.bind(self.path)
        self.listener.settimeout(0.05)
        self.beats = 0
        self.deadline = None
        self.is_over = False
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_):
        self.is_over = True

    def note(self, name, text, mode="a"):
        path = os.path.join(self.folder, name)
        with open(path, mode, encoding="utf-8") as file:
            file.write(text + "\n")

    def start(self):
        env = dict(os.environ, NOTIFY_SOCKET=self.path,
                   WATCHDOG_USEC=str(int(self.limit * 1e6)))
        # The shell has the number of the process that it becomes.
        shell = 'WATCHDOG_PID=$$; export WATCHDOG_PID; exec "$@"'
        child = subprocess.Popen(["sh", "-c", shell, "service"] + self.command,
                                 env=env)
        self.note("pid", str(child.pid), "w")
        self.deadline = None
        return child

    def hear(self):
        """Takes one message; returns whether there was any."""
        try:
            text = self.listener.recv(65536).decode(errors="replace")
        except (TimeoutError, BlockingIOError):
            return False
        for line in text.split("\n"):
            if line == "WATCHDOG=1":
                self.beats += 1
                self.note("beats", str(self.beats), "w")
            elif line:
                self.note("told", line)
            if line == "READY=1" or self.deadline is not None:
                self.deadline = time.monotonic() + self.limit
        return True

    def run(self):
        child = self.start()
        is_told = False
        while True:
            self.hear()
            if self.deadline is not None and time.monotonic() > self.deadline:
                self.note("lives", "hung")
                self.deadline = None
                child.kill()
            if self.is_over and not is_told:
                is_told = True
                child.terminate()
            if child.poll() is None:
                continue
            self.note("lives", f"ended {child.returncode}")
            if self.is_over:
                break
            time.sleep(0.2)
            child = self.start()
        self.listener.settimeout(0)
        while self.hear():
            pass


Manager(sys.argv[1], float(sys.argv[2]), sys.argv[3:]).run()
