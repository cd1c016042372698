"""System calls and context switches that a fence costs the server and a client, for
bench/run.

Two jobs each: in the one nobody looks on, and the kernel's own counters are read
before the first fence and after the last; in the other `strace` counts the calls of
all processes. It makes them slow: who would spin sleeps, so that calls on a futex are
an upper bound."""

import os
import shutil
import signal
import subprocess
import time

from figures import context_switches, markdown, number, read, server_and_clients

LIMIT_SECONDS = 30
SHOWN_CALLS = 4


class Cost:
    """What one fence costs, on the average."""

    def __init__(self):
        self.calls = {}
        self.switches = {}


def await_mark(job, out, mark):
    deadline = time.monotonic() + LIMIT_SECONDS
    while f"{mark} " not in read(out):
        if time.monotonic() > deadline or job.poll() is not None:
            raise RuntimeError(f"not {mark} after {LIMIT_SECONDS} s")
        time.sleep(0.01)


def open_gate(gate):
    """Lets rank 0 go on, as soon as it waits at the gate."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while True:
        try:
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


class Tracer:
    """strace, attached to processes that run already."""

    def __init__(self, pids, out):
        self.out = out
        words = ["strace", "-f", "-c", "-o", out]
        for pid in pids:
            words += ["-p", str(pid)]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        for _ in pids:
            while True:
                line = self.process.stderr.readline()
                if not line:
                    raise RuntimeError("strace cannot attach")
                if "attached" in line:
                    break

    def end(self):
        """Name of each system call -> how many there were."""
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=LIMIT_SECONDS)
        result = {}
        for line in read(self.out).splitlines():
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
                result[words[-1]] = int(words[3])
        return result


def count(launcher, program, scratch, work, traced):
    """Kind of process (`server`, `client`) -> what a fence costs one of that kind:
    switches, or a dictionary of calls."""
    out, gate = scratch / "costs", scratch / "gate"
    for path in (out, gate):
        path.unlink(missing_ok=True)
    os.mkfifo(gate)
    job = subprocess.Popen(
        launcher.argv(work.procs, [program, *work.mode, "--out", out,
                                   "--gate", gate]),
        env=launcher.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True)
    try:
        await_mark(job, out, "ready")
        server, clients = server_and_clients(job.pid, program)
        kinds = {"server": (server, 1), "client": (clients, work.procs)}
        if len(clients) != work.procs:
            raise RuntimeError(f"{len(clients)} of {work.procs} processes found")
        if traced:
            tracers = {x: Tracer(pids, scratch / f"strace.{x}")
                       for x, (pids, _) in kinds.items()}
        else:
            before = {x: context_switches(pids) for x, (pids, _) in kinds.items()}
        open_gate(gate)
        await_mark(job, out, "done")
        # One more fence lets all of them wait for rank 0.
        fences = work.rounds + 1
        result = {}
        for kind, (pids, share) in kinds.items():
            per_fence = 1.0 / share / fences
            if traced:
                result[kind] = {name: calls * per_fence for name, calls
                                in tracers[kind].end().items()}
            else:
                result[kind] = (context_switches(pids) - before[kind]) * per_fence
        open_gate(gate)
        job.wait(LIMIT_SECONDS)
        return result
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


class Costs:
    def __init__(self, launchers, program, scratch):
        self.launchers = launchers
        self.program = program
        self.scratch = scratch
        self.problems = []
        self.found = {}
        self.has_strace = shutil.which("strace") is not None
        if not self.has_strace:
            self.problems.append("system calls are not counted: no strace")

    def run(self, work):
        """Counts fences of this kind under all launchers."""
        for launcher in self.launchers:
            cost = self.found[work.title, launcher.name] = Cost()
            try:
                cost.switches = count(launcher, self.program, self.scratch, work,
                                      False)
                if self.has_strace:
                    cost.calls = count(launcher, self.program, self.scratch, work,
                                       True)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
                self.problems.append(f"costs of {work.title} under "
                                     f"{launcher.name}: {problem}")

    def text(self):
        """What was found, as tables."""
        names = [x.name for x in self.launchers]
        titles = list(dict.fromkeys(title for title, _ in self.found))
        return self.totals(titles, names) + "\n" + self.kinds_of_calls(titles, names)

    def totals(self, titles, names):
        lines = [["of each fence", *(f"{name}: {kind}, {what}" for name in names
                                 for kind in ("server", "client")
                                 for what in ("calls", "switches"))]]
        for title in titles:
            cells = [title]
            for name in names:
                cost = self.found[title, name]
                for kind in ("server", "client"):
                    calls = cost.calls.get(kind)
                    cells.append("-" if calls is None
                                 else number(sum(calls.values())))
                    cells.append(number(cost.switches[kind])
                                 if kind in cost.switches else "-")
            lines.append(cells)
        return markdown(lines)

    def kinds_of_calls(self, titles, names):
        lines = [["of each fence, most first", *names]]
        for title in titles:
            for kind in ("server", "client"):
                lines.append([f"{title}: {kind}", *(
                    most(self.found[title, name].calls.get(kind, {}))
                    for name in names)])
        return markdown(lines)


def most(calls):
    """The most frequent of them, as text."""
    ordered = sorted(calls.items(), key=lambda x: -x[1])[:SHOWN_CALLS]
    return ", ".join(f"{number(n)} {name}" for name, n in ordered
                     if n >= 0.05) or "-"
