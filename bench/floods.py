"""What bench/io asks of fences and events while a process writes as fast as it can."""

import os
import pathlib
import signal
import statistics
import subprocess
import time

from figures import Row, markdown, number, percentile, timing_table

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_SECONDS = 30
DRAIN_SECONDS = 2
MB = 1_000_000

# One rank starts what floods its own standard output, and ends it after the work.
RANK = """
out=$1 load=$2 size=$3 flooder=$4; shift 4
if [ "$PMIX_RANK" = "$flooder" ] && [ "$size" != 0 ]; then
  "$load" write 1000000000000000 "$size" & flood=$!
fi
"$@" --out "$out.part"; status=$?
[ -z "$flood" ] || kill "$flood"
[ "$PMIX_RANK" != 0 ] || mv "$out.part" "$out"
exit $status
"""

# Through whom the flood goes, and how much it writes at a time.
CALM, BESIDE, BLOCKS, LINES = range(4)
KINDS = ((CALM, 0, "{}"),
         (BESIDE, 1 << 16, "... while 64 KiB at a time go through cat"),
         (BLOCKS, 1 << 16, "... through the launcher"),
         (LINES, 64, "... 64-byte lines through the launcher"))


class Work:
    """What is measured, and the rank whose output is the flood."""

    def __init__(self, title, procs, sample, *words, flooder=0):
        self.procs = procs
        self.flooder = flooder
        self.sample = sample
        self.words = words
        self.rows = {kind: Row(text.format(title), "us",
                               "p99 2x" if kind in (BLOCKS, LINES) else "")
                     for kind, _, text in KINDS}


def all_work(scratch):
    bench, events = scratch / "pmix_bench", scratch / "pmix_events"
    result = {}
    for procs in (2, 4):
        result[f"flood-fence-{procs}"] = Work(
            f"fence of {procs}", procs, "fence", bench, "fence", "--rounds", 400)
    result["flood-event"] = Work("event from one to another", 2, "oneway", events,
                                 "oneway", "--rounds", 60)
    return result


def build(scratch):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"],
                           check=True, capture_output=True, text=True)
    for name in ("pmix_bench", "pmix_events"):
        subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-o", scratch / name,
                        HERE / f"{name}.c", "-pthread", *flags.stdout.split()],
                       check=True)


class Chain:
    """Processes of which each reads what the one before it writes."""

    def __init__(self, *commands):
        self.parts = []
        source = subprocess.DEVNULL
        for words in commands:
            is_last = words is commands[-1]
            part = subprocess.Popen(
                [str(x) for x in words], stdin=source, text=True,
                stdout=subprocess.DEVNULL if is_last else subprocess.PIPE,
                stderr=subprocess.PIPE if is_last else subprocess.DEVNULL,
                start_new_session=True)
            if self.parts:
                source.close()
            self.parts.append(part)
            source = part.stdout

    def rate_and_bytes(self):
        """Ends with its source. @returns bytes per second at its end, and how many
        came."""
        text = self.parts[-1].communicate()[1]
        for part in self.parts:
            part.wait()
        figures = dict(x.split() for x in text.splitlines())
        seconds, count = float(figures.get("seconds", 0)), int(figures["bytes"])
        return (count / seconds if seconds > 0 else 0), count

    def end_source(self, patience):
        """A launcher that has too much to pass on is not waited for."""
        source = self.parts[0]
        try:
            source.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(source.pid, signal.SIGKILL)


class Floods:
    def __init__(self, scratch, problems):
        self.load = scratch / "io_load"
        self.out = scratch / "flood-samples"
        self.problems = problems
        self.rates = {}
        self.used = []

    def run(self, launcher, name, work):
        """One job of each kind, in turn."""
        if work not in self.used:
            self.used.append(work)
        for kind, size, _ in KINDS:
            self.run_one(launcher, name, work, kind, size)

    def run_one(self, launcher, name, work, kind, size):
        self.out.unlink(missing_ok=True)
        beside = None
        if kind == BESIDE:
            beside = Chain([self.load, "write", 10 ** 15, size], ["cat"],
                           [self.load, "read"])
        job = Chain(
            launcher.command(work.procs, "sh", "-c", RANK, "sh", self.out,
                             self.load, 0 if beside else size, work.flooder,
                             *work.words),
            [self.load, "read"])
        deadline = time.monotonic() + LIMIT_SECONDS
        while (time.monotonic() < deadline and not self.out.exists()
               and job.parts[0].poll() is None):
            time.sleep(0.02)
        job.end_source(DRAIN_SECONDS)
        rate, _ = job.rate_and_bytes()
        if beside:
            beside.end_source(0)
            rate, _ = beside.rate_and_bytes()
        samples = []
        if self.out.exists():
            samples = [float(x.split()[1])
                       for x in self.out.read_text().splitlines()
                       if x.startswith(work.sample + " ")]
        if not samples:
            self.problems.append(f"{launcher.name}: {name}: no figures after "
                                 f"{LIMIT_SECONDS} s")
            return
        work.rows[kind].add(launcher.name, samples)
        self.rates.setdefault((kind, launcher.name), []).append(rate / MB)

    def text(self, names, pairs=None):
        rows = [row for work in self.used for row in work.rows.values()]
        if not rows:
            return ""
        return ("\n" + timing_table(rows, names, pairs) + "\n"
                + self.multiples(names)
                + "\n" + self.flood_rates(names))

    def multiples(self, names):
        """What a flood through the launcher does to the 99th percentile, beyond
        what it does to whoever shares the processors with it."""
        lines = [["p99, as a multiple of"]
                 + [f"{x}: {y}" for x in names for y in ("calm", "beside cat")]]
        for work in self.used:
            for kind in (BLOCKS, LINES):
                cells = [work.rows[CALM].title
                         + (", 64 KiB at a time" if kind == BLOCKS
                            else ", 64-byte lines")]
                for name in names:
                    found = [percentile(x, 0.99) if x else None for x in (
                        work.rows[y].pooled(name) for y in (kind, CALM, BESIDE))]
                    cells += [number(found[0] / x) if found[0] and x else "-"
                              for x in found[1:]]
                lines.append(cells)
        return markdown(lines)

    def flood_rates(self, names):
        lines = [["rate of the flood, MB/s", *names]]
        for kind, _, text in KINDS[1:]:
            cells = [text.removeprefix("... ").removeprefix("while ")]
            for name in names:
                rates = self.rates.get((kind, name))
                cells.append(number(statistics.median(rates)) if rates else "-")
            lines.append(cells)
        return markdown(lines)
