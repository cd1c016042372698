"""Nodes on this machine (scripts/netlab), and the DVMs that bench/mesh and
bench/groups start on them: Troupe's and PRRTE's."""

import os
import pathlib
import re
import subprocess
import time

from figures import first_line

HERE = pathlib.Path(__file__).resolve().parent
NETLAB = HERE.parent / "scripts/netlab"
LIMIT_SECONDS = 60
NODES = 8


def library_of(program):
    """The folder of the libpmix that a program is linked to."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True,
                          check=False).stdout
    found = re.search(r"libpmix\.so\S* => (\S+)", text)
    return os.path.dirname(found[1]) if found else None


def version_of_prrte(folder):
    """Of the PRRTE whose programs are in this folder, and of its OpenPMIx."""
    prte = os.path.join(folder, "prte")
    info = os.path.join(os.path.dirname(library_of(prte) or ""), "bin/pmix_info")
    return (first_line([prte, "--version"]) + " with OpenPMIx "
            + first_line([info, "--version"]).split(" ")[-1])


def cpu_ns(pids):
    return sum(int(x.read_text().split()[0]) for pid in pids
               for x in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"))


def pss_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def build_programs(scratch, *sources):
    """Compiles programs of this folder with the libpmix of the machine."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"],
                           check=True, capture_output=True, text=True)
    for source in (HERE / x for x in sources):
        subprocess.run(["cc", "-std=gnu11", "-O2", "-o", scratch / source.stem,
                        source, "-pthread", *flags.stdout.split()], check=True)


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

    def processes(self, names, node=None):
        """Numbers of processes with one of these names, of a node or of all."""
        result = []
        nodes = [node] if node else [
            x.stem for x in pathlib.Path(f"/run/{self.name}").glob("n*.pid")]
        for x in nodes:
            pids = subprocess.run(["ip", "netns", "pids", f"{self.name}-{x[1:]}"],
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
    """One of the two, as commands on node 1. Processes of its jobs load the libpmix
    that they are linked to."""

    def __init__(self, lab, folder, scratch):
        self.lab = lab
        self.folder = folder
        self.scratch = scratch
        self.dvm = None
        self.limit = LIMIT_SECONDS

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
                    time.monotonic() - begin > self.limit:
                raise RuntimeError(f"{self.name}: no DVM of {count} nodes: "
                                   + out.read_text()[-500:])
            time.sleep(0.002)
        return (time.monotonic() - begin) * 1e3

    def down(self):
        if self.dvm is None:
            return
        subprocess.run(self.lab.argv(self.down_words()), check=False,
                       env=self.lab.environment, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=self.limit)
        try:
            self.dvm.wait(10)
        except subprocess.TimeoutExpired:
            self.dvm.kill()
            self.dvm.wait()
        self.dvm = None


class Troupe(Mesh):
    name = "troupe"
    dvm_name = "bench"
    daemons = ("troupe", "trouped")

    def network_words(self):
        return ["--remote-shell", f"{NETLAB} exec"]

    def up_words(self, count):
        return [self.folder / "troupe", "up", "--name", self.dvm_name,
                "--host", self.hosts(count), *self.network_words()]

    def down_words(self):
        return [self.folder / "troupe", "down", "--dvm", self.dvm_name]

    def run_words(self, procs, per_node):
        spread = ["--map-by", f"ppr:{per_node}:node"] if per_node else []
        return [self.folder / "troupe", "run", "--dvm", self.dvm_name,
                "--bind-to", "none", "--oversubscribe", *spread, "-n", procs]

    def alone_words(self, count):
        return [self.folder / "troupe", "run", "--host", self.hosts(count),
                *self.network_words(), "-n", 1]


class OneNode(Troupe):
    """A DVM whose daemons are all on node 1: plain text is for loopback alone."""

    def __init__(self, lab, folder, scratch, is_plain):
        super().__init__(lab, folder, scratch)
        self.is_plain = is_plain
        self.name = "plain text" if is_plain else "TLS"
        self.dvm_name = "bench-plain" if is_plain else "bench-tls"
        self.shell = scratch / "here.sh"
        self.shell.write_text('#!/bin/sh\nshift\nexec "$@"\n')
        self.shell.chmod(0o755)

    def network_words(self):
        return ["--remote-shell", self.shell, "--networks", "lo", "--lanes", "tcp",
                *(["--insecure"] if self.is_plain else [])]


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


class Native:
    """The DVM of a mesh, whose processes load the mesh's own libpmix instead of the
    one that they are linked to."""

    def __init__(self, mesh, name, words):
        self.mesh = mesh
        self.name = name
        self.daemons = mesh.daemons

        # Options of `run` that choose the library.
        self.words = words

    def run_words(self, procs, per_node):
        words = self.mesh.run_words(procs, per_node)
        at = words.index("--bind-to")
        return words[:at] + self.words + words[at:]
