"""Nodes on this machine (scripts/netlab), and the DVMs that bench/mesh and
bench/groups start on them: Troupe's and PRRTE's."""

import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
NETLAB = HERE.parent / "scripts/netlab"
LIMIT_SECONDS = 60
NODES = 8


class Lab:
    """The nodes."""

    def __init__(self, name):
        self.name = name
        self.environment = dict(os.environ, TROUPE_LAB=name)

    def do(self, *words, check=True):
        return subprocess.run([NETLAB, *map(str, words)], check=check,
                              env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def argv(self, words):
        return [str(NETLAB), "exec", "n1", *map(str, words)]

    def processes(self, names):
        """Numbers of the nodes' processes with one of these names."""
        result = []
        for i in range(1, NODES + 1):
            pids = subprocess.run(["ip", "netns", "pids", f"{self.name}-{i}"],
                                  capture_output=True, text=True, check=False)
            for pid in pids.stdout.split():
                comm = pathlib.Path(f"/proc/{pid}/comm")
                if comm.exists() and comm.read_text().strip() in names:
                    result.append(int(pid))
        return result

    def traffic(self):
        words = self.do("traffic").stdout.split()
        return int(words[0]), int(words[2])


class Mesh:
    """One of the two, as commands on node 1."""

    def __init__(self, lab, folder, scratch):
        self.lab = lab
        self.folder = folder
        self.scratch = scratch
        self.dvm = None

    def hosts(self, count):
        return ",".join(f"n{i}:200" for i in range(1, count + 1))

    def up(self, count):
        """Starts a DVM; returns the time until it says that it is ready."""
        out = self.scratch / f"{self.name}.dvm"
        begin = time.monotonic()
        with open(out, "w", encoding="utf-8") as log:
            self.dvm = subprocess.Popen(
                self.lab.argv(self.up_words(count)), env=self.lab.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        while "DVM ready" not in out.read_text():
            if self.dvm.poll() is not None or \
                    time.monotonic() - begin > LIMIT_SECONDS:
                raise RuntimeError(f"{self.name}: no DVM of {count} nodes: "
                                   + out.read_text()[-500:])
            time.sleep(0.002)
        return (time.monotonic() - begin) * 1e3

    def down(self):
        if self.dvm is None:
            return
        subprocess.run(self.lab.argv(self.down_words()), check=False,
                       env=self.lab.environment, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=LIMIT_SECONDS)
        try:
            self.dvm.wait(10)
        except subprocess.TimeoutExpired:
            self.dvm.kill()
            self.dvm.wait()
        self.dvm = None


class Troupe(Mesh):
    name = "troupe"
    daemons = ("troupe", "trouped")

    def up_words(self, count):
        return [self.folder / "troupe", "up", "--name", "bench",
                "--host", self.hosts(count),
                "--remote-shell", f"{NETLAB} exec"]

    def down_words(self):
        return [self.folder / "troupe", "down", "--dvm", "bench"]

    def run_words(self, procs, per_node):
        spread = ["--map-by", f"ppr:{per_node}:node"] if per_node else []
        return [self.folder / "troupe", "run", "--dvm", "bench", "--bind-to",
                "none", "--oversubscribe", *spread, "-n", procs]

    def alone_words(self, count):
        return [self.folder / "troupe", "run", "--host", self.hosts(count),
                "--remote-shell", f"{NETLAB} exec", "-n", 1]


class Prrte(Mesh):
    name = "prrte"
    daemons = ("prte", "prted")

    def agent(self):
        return ["--prtemca", "plm_ssh_agent", f"{NETLAB} shell"]

    def up_words(self, count):
        return [self.folder / "prte", "--allow-run-as-root", "--host",
                self.hosts(count), "--report-uri", self.scratch / "prrte.uri",
                *self.agent()]

    def down_words(self):
        return [self.folder / "pterm", "--dvm-uri",
                f"file:{self.scratch}/prrte.uri"]

    def run_words(self, procs, per_node):
        spread = ["--map-by", f"ppr:{per_node}:node:oversubscribe"] \
            if per_node else []
        return [self.folder / "prun", "--allow-run-as-root", "--dvm-uri",
                f"file:{self.scratch}/prrte.uri", "--bind-to", "none", *spread,
                "-n", procs]

    def alone_words(self, count):
        return [self.folder / "prterun", "--allow-run-as-root", "--host",
                self.hosts(count), *self.agent(), "-n", 1]
