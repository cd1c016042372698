"""What bench/run and bench/mesh show: samples, tables, the figures of a server,
and under which circumstances."""

import datetime
import os
import pathlib
import signal
import statistics
import subprocess
import sys


def end_on_term():
    """Has SIGTERM end this script as an error does: what it has made, a lab
    included, goes with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class Row:
    """One line of the table: samples per launcher, one list per job."""

    def __init__(self, title, unit="us", goal=""):
        self.title = title
        self.unit = unit
        self.goal = goal
        self.jobs = {}

    def add(self, launcher, samples):
        self.jobs.setdefault(launcher, []).append(samples)

    def pooled(self, launcher):
        return [x for job in self.jobs.get(launcher, []) for x in job]


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def children(pid):
    result = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        result += [int(x) for x in read(task / "children").split()]
    return result


def server_and_clients(pid, program):
    """Processes of a launcher: itself with its helpers, and those that run the
    program."""
    server, clients, todo = [], [], [pid]
    while todo:
        x = todo.pop()
        if os.path.realpath(f"/proc/{x}/exe") == str(program):
            clients.append(x)
            continue
        server.append(x)
        todo += children(x)
    return server, clients


def server_figures(pid, program):
    """CPU and wake-ups by thread, and memory, of a launcher and its helpers, not
    of its clients."""
    total = {"cpu_ns": {}, "switches": {}, "rss_kib": 0, "pss_kib": 0}
    for x in server_and_clients(pid, program)[0]:
        for task in pathlib.Path(f"/proc/{x}/task").glob("*"):
            tid = task.name
            total["cpu_ns"][tid] = int(
                (read(task / "schedstat") or "0").split()[0])
            for line in read(task / "status").splitlines():
                if line.startswith("voluntary_ctxt_switches"):
                    total["switches"][tid] = int(line.split()[1])
        for line in read(f"/proc/{x}/smaps_rollup").splitlines():
            if line.startswith("Rss:"):
                total["rss_kib"] += int(line.split()[1])
            elif line.startswith("Pss:"):
                total["pss_kib"] += int(line.split()[1])
    return total


def context_switches(pids):
    """Of all threads of these processes, voluntary or not."""
    return sum(int(line.split()[1]) for pid in pids
               for task in pathlib.Path(f"/proc/{pid}/task").glob("*")
               for line in read(task / "status").splitlines()
               if "voluntary_ctxt_switches" in line)


def memory_figures(pid, program):
    """Memory of the clients of a launcher, of each, and of it with its helpers:
    KiB that are resident by share (PSS), and those that are a process's own and
    written (private and dirty)."""
    clients, server = [], {"pss": 0, "own": 0}
    todo = [pid]
    while todo:
        x = todo.pop()
        todo += children(x)
        found = {"pss": 0, "own": 0}
        for line in read(f"/proc/{x}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                found["pss"] = int(line.split()[1])
            elif line.startswith("Private_Dirty:"):
                found["own"] = int(line.split()[1])
        if os.path.realpath(f"/proc/{x}/exe") == str(program):
            clients.append(found)
        else:
            server = {key: server[key] + found[key] for key in server}
    return {"clients": clients, "server": server}


def memory_table(found, procs, total, names):
    """found: launcher name -> figures with `total` bytes of data and without."""
    lines = [[f"{procs} processes, {total >> 10} KiB in all", "unit", *names]]

    def line(title, unit, get):
        cells = []
        for name in names:
            with_data, without = found.get(name, (None, None))
            has_all = with_data and without and all(
                len(x["clients"]) == procs for x in (with_data, without))
            cells.append(get(with_data, without) if has_all else "-")
        lines.append([title, unit, *cells])

    def each(x, key):
        return statistics.median(y[key] for y in x["clients"])

    def whole(x):
        return sum(y["pss"] for y in x["clients"]) + x["server"]["pss"]

    line("a process: private and dirty", "KiB",
         lambda x, y: number(each(x, "own")))
    line("of which the data", "KiB",
         lambda x, y: number(max(0, each(x, "own") - each(y, "own"))))
    line("a process: PSS", "KiB", lambda x, y: number(each(x, "pss")))
    line("server: PSS", "KiB", lambda x, y: number(x["server"]["pss"]))
    line("node, all of them: PSS", "MiB",
         lambda x, y: number(whole(x) / 1024))
    line("of which the data", "MiB",
         lambda x, y: number(max(0, whole(x) - whole(y)) / 1024))
    return markdown(lines)


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 1 else f"{x:.2f}"


def percentile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(row, launcher):
    samples = row.pooled(launcher)
    if not samples:
        return ["-", "-", "-"]
    return [number(x) for x in (statistics.median(samples),
                                percentile(samples, 0.99), min(samples))]


def ratio(row, ours, theirs):
    """Median over neighbouring jobs of (their median / our median)."""
    pairs = [statistics.median(b) / statistics.median(a)
             for a, b in zip(row.jobs.get(ours, []), row.jobs.get(theirs, []))
             if a and b and statistics.median(a) > 0]
    if not pairs:
        return "-"
    median = statistics.median(pairs)
    return f"{median:.2f}" if median < 10 else f"{median:.1f}"


def timing_table(rows, names, pairs=None):
    """Figures of each launcher, and ratios of pairs (ours, theirs) of them: of the
    first to all others, if nothing else is said."""
    pairs = pairs or [(names[0], x) for x in names[1:]]
    head = ["", "unit", "goal"]
    for name in names:
        head += [f"{name} median", "p99", "best"]
    lines = [head + [f"{theirs} / {ours}" for ours, theirs in pairs]]
    for row in rows:
        cells = [row.title, row.unit, row.goal]
        for name in names:
            cells += figures(row, name)
        lines.append(cells + [ratio(row, *x) for x in pairs])
    return markdown(lines)


def idle_table(one, many, count, names):
    lines = [["server, launcher included", "unit", "goal", *names]]

    def line(title, unit, goal, get):
        cells = []
        for name in names:
            try:
                cells.append(get(name))
            except KeyError:
                cells.append("-")
        lines.append([title, unit, goal, *cells])

    line("idle CPU, 1 client", "%", "0.0",
         lambda x: f"{one[x]['cpu_percent']:.3f}")
    line(f"idle CPU, {count} clients", "%", "0.0",
         lambda x: f"{many[x]['cpu_percent']:.3f}")
    line("wake-ups while idle, 1 client", "1/s", "",
         lambda x: f"{one[x]['wake_ups']:.1f}")
    line("memory, 1 client: RSS", "MB", "< 10",
         lambda x: f"{one[x]['rss_kib'] * 1.024e-3:.1f}")
    line("memory, 1 client: PSS", "MB", "",
         lambda x: f"{one[x]['pss_kib'] * 1.024e-3:.1f}")
    line(f"memory, {count} clients: RSS", "MB", "",
         lambda x: f"{many[x]['rss_kib'] * 1.024e-3:.1f}")
    line(f"memory, {count} clients: PSS", "MB", "",
         lambda x: f"{many[x]['pss_kib'] * 1.024e-3:.1f}")
    line("memory per further client: RSS", "KiB", "", lambda x: number(
        max(0, many[x]['rss_kib'] - one[x]['rss_kib']) / (count - 1)))
    return markdown(lines)


def markdown(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["| " + " | ".join(x.ljust(w) for x, w in zip(line, widths)) + " |\n"
            for line in lines]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|\n"
    return "".join([text[0], rule, *text[1:]])


# -- circumstances -------------------------------------------------------------

def first_line(argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True,
                              check=False).stdout.strip().split("\n")[0]
    except OSError:
        return "?"


def libpmix_version():
    return first_line(["dpkg-query", "-W", "-f", "${Version}", "libpmix2"])


def circumstances(peers, load_before, seconds, scale):
    model = next((x.split(":")[1].strip() for x in
                  read("/proc/cpuinfo").splitlines()
                  if x.startswith("model name")), "unknown")
    memory = int(read("/proc/meminfo").split()[1]) // (1 << 20)
    return (
        f"{datetime.date.today()}; {os.cpu_count()} processors ({model}), "
        f"{memory + 1} GiB, Linux {os.uname().release}; load {load_before:.1f} "
        f"before and {os.getloadavg()[0]:.1f} after; {'; '.join(peers)}; "
        f"{seconds:.0f} s, scale {scale:g}, niceness {os.nice(0)}.\n")


def write_marked(path, marks, text):
    """Puts a text between two marks of a file."""
    head, rest = path.read_text().split(marks[0])
    tail = rest.split(marks[1])[1]
    path.write_text(head + marks[0] + text + marks[1] + tail)
