#!/usr/bin/python3
"""A process that speaks PMI-1 to its launcher, and not as it should.

    pmi1_attacks.py NAME [SEED]

does what the function attack_NAME says and ends with 0 whatever the server does: it may
answer or hang up. The server is at descriptor $PMI_FD.

    pmi1_attacks.py honest FILE

puts, gets and meets the others until FILE is there, then prints how often, and the longest
time that one question took.

    pmi1_attacks.py list

prints the names of all attacks.
"""

import os
import random
import select
import socket
import sys
import time


class Server:
    def __init__(self):
        self.socket = socket.socket(fileno=int(os.environ["PMI_FD"]))
        self.rest = b""

    def send(self, data):
        """Sends, and takes what comes meanwhile; whether the server is there still."""
        data = memoryview(data)
        self.socket.setblocking(False)
        deadline = time.monotonic() + 40
        while data and time.monotonic() < deadline:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 1)
            try:
                if readable and not self.take():
                    return False
                if writable:
                    data = data[self.socket.send(data[:1 << 16]):]
            except BlockingIOError:
                pass
            except OSError:
                return False
        return not data

    def take(self):
        got = self.socket.recv(1 << 16)
        self.rest += got
        # What nobody waits for.
        if len(self.rest) > 1 << 20:
            self.rest = self.rest[-1000:]
        return bool(got)

    def line(self, seconds=30):
        """The next answer; nothing if the server has hung up."""
        self.socket.setblocking(True)
        self.socket.settimeout(seconds)
        try:
            while b"\n" not in self.rest:
                if not self.take():
                    return None
        except OSError:
            return None
        result, self.rest = self.rest.split(b"\n", 1)
        return result.decode("latin-1")

    def ask(self, text, seconds=30):
        if not self.send(text.encode("latin-1") + b"\n"):
            return None
        return self.line(seconds)

    def drain(self, seconds=5):
        """Reads until the server hangs up or is silent for a moment."""
        self.socket.setblocking(True)
        self.socket.settimeout(0.5)
        deadline = time.monotonic() + seconds
        try:
            while time.monotonic() < deadline and self.take():
                pass
        except OSError:
            pass

    def begin(self):
        self.ask("cmd=init pmi_version=1 pmi_subversion=1")


def spawn(**changes):
    """The lines of one program of a request."""
    args = {"nprocs": 1, "execname": "true", "totspawns": 1, "spawnssofar": 1, "argcnt": 0,
            "preput_num": 0, "info_num": 0}
    args.update(changes)
    return "mcmd=spawn\n" + "".join(f"{k}={v}\n" for k, v in args.items()) + "endcmd"


def attack_no_newline(server):
    server.send(b"cmd=put key=" + b"x" * (4 << 20))
    server.drain()


def attack_just_short(server):
    """Lines as long as may be, and one byte more."""
    for length in 65535, 65536:
        line = "cmd=put key=a value="
        print(server.ask(line + "v" * (length - len(line)))[:40])
    server.send(b"cmd=put key=a value=" + b"v" * 65536 + b"\n")
    server.drain()


def attack_zeros(server):
    server.send(bytes(200000))
    server.drain()


def attack_zeros_in_words(server):
    server.send(b"cmd=put\0 key=a\0b value=c\0d\ncmd=get key=a\0b\ncmd=lookup_name service=\0\n")
    server.drain()


def attack_unknown(server):
    server.send(b"cmd=\x1b]0;title\x07\x1b[31mforged rc=0\n")
    server.drain()


def attack_blanks(server):
    server.send(b" \t" * 30000 + b"\n" + b"\n" * 1000)
    server.drain()


def attack_words(server):
    """As many arguments as a line holds."""
    server.send(b"cmd=put " + b" ".join(b"%x=" % i for i in range(10000)) + b"\n")
    server.drain()


def attack_lengths(server):
    for size in 0, 1, 63, 64, 255, 256, 510, 511, 512, 4096, 60000:
        key = "k" * size
        for text in (f"cmd=put key={key} value=v", f"cmd=get key={key}",
                     f"cmd=get kvsname={key} key=a", f"cmd=lookup_name service={key}",
                     f"cmd=unpublish_name service={key}",
                     f"cmd=publish_name service={key} port=p"):
            if server.ask(text) is None:
                sys.exit(f"hung up at {text[:60]}")


def attack_numbers(server):
    for number in ("-1", "0", "2147483647", "2147483648", "-2147483649", "9" * 400, "", "1x",
                   "0x10", " 1", "+1", "1e9"):
        for key in ("nprocs", "totspawns", "spawnssofar", "argcnt", "preput_num", "info_num"):
            if key == "nprocs" and number == "2147483647":
                continue
            if server.ask(spawn(**{key: number, "execname": "/nowhere/at/all"}), 5) is None:
                # The next one of several programs may be what it waits for.
                server.begin()
    server.ask("cmd=init pmi_version=99999999999")


def attack_programs(server):
    """Programs without end, and out of order."""
    for i in 1, 3, 2, 2, 4097:
        server.send((spawn(totspawns=4096, spawnssofar=i) + "\n").encode())
    for i in range(1, 4096):
        server.send((spawn(totspawns=4096, spawnssofar=i, arg1="x" * 200, argcnt=1)
                     + "\n").encode())
    server.drain()


def attack_no_end(server):
    server.send(b"mcmd=spawn\n" + b"".join(b"%x=\n" % i for i in range(400000)))
    server.drain()


def attack_pairs(server):
    """Hints and presets that are not there, and one that is a key of the host."""
    for changes in ({"info_num": 3}, {"preput_num": 1, "preput_key_0": ""},
                    {"preput_num": 1, "preput_key_0": "", "preput_val_0": "x"},
                    {"preput_num": 1, "preput_key_0": "k" * 5000, "preput_val_0": "x"},
                    {"preput_num": 1, "preput_key_0": "pmix.job.size", "preput_val_0": "7"},
                    {"info_num": 1, "info_key_0": "wdir", "info_val_0": "/nowhere"},
                    {"info_num": 1, "info_key_0": "host", "info_val_0": "\x1b[2J,,:;*"}):
        print(server.ask(spawn(**changes), 10))


def attack_deaf(server):
    """Asks and never reads."""
    server.socket.settimeout(5)
    try:
        while True:
            server.socket.sendall(b"cmd=get_maxes\n" * 1000)
    except OSError:
        pass


def attack_puts(server):
    """New keys until no more are taken."""
    value = "v" * 1000
    for i in range(200):
        server.send(b"".join(b"cmd=put key=k%d-%d value=%s\n" % (i, j, value.encode())
                             for j in range(500)))
        server.rest = server.rest[-200:]
    server.drain()


def attack_gets(server):
    for _ in range(100):
        server.send(b"cmd=get key=nothing\ncmd=get kvsname=nobody key=k\n" * 200)
        server.rest = server.rest[-200:]
    server.drain()


def attack_names(server):
    for i in range(100):
        server.send(b"".join(b"cmd=publish_name service=s%d-%d port=p\n" % (i, j)
                             for j in range(200)))
        server.rest = server.rest[-200:]
    server.drain()


def attack_half(server):
    server.send(b"cmd=put key=a value=half a li")


def attack_after_the_end(server):
    print(server.ask("cmd=finalize"))
    for text in ("cmd=put key=a value=b", "cmd=get key=a", "cmd=finalize", spawn(),
                 "cmd=init pmi_version=1"):
        print(server.ask(text, 5))


def attack_barrier(server):
    """Goes while it is waited for."""
    server.send(b"cmd=barrier_in\ncmd=barrier_in\ncmd=put key=a value=b\n" * 10)


def attack_abort(server):
    server.send(b"cmd=abort exitcode=99999999999999999999 message=\x1b[2J\n" * 3)
    time.sleep(5)


WORDS = [b"cmd=", b"mcmd=", b"spawn", b"put", b"get", b"init", b"key=", b"value=", b"kvsname=",
         b"publish_name", b"service=", b"port=", b"lookup_name", b"endcmd", b"nprocs=",
         b"totspawns=", b"spawnssofar=", b"argcnt=", b"finalize", b"getbyidx", b" ", b"=", b"\n",
         b"\0", b"\t", b"1", b"-1", b"4294967296", b"\xff", b"execname=", b"rc=", b"\r",
         b"unpublish_name", b"get_maxes", b"get_appnum", b"get_my_kvsname", b"\x1b[2J"]
LINES = [b"cmd=put key=%s value=%s\n", b"cmd=get key=%s junk=%s\n", b"cmd=get kvsname=%s key=%s\n",
         b"cmd=lookup_name service=%s x=%s\n", b"cmd=publish_name service=%s port=%s\n",
         b"cmd=unpublish_name service=%s y=%s\n", b"cmd=init pmi_version=%s z=%s\n",
         b"cmd=get_universe_size %s=%s\n", b"mcmd=spawn\n%s=%s\nendcmd\n"]


def attack_random_lines(server):
    """Lines that are commands, with words by chance for their arguments."""
    for i in range(20000):
        line = random.choice(LINES)
        word = bytes(random.choices(b"abk01-=:\x7f\xc3%", k=random.randrange(1, 20)))
        if not server.send(line % (word.replace(b"=", b"") or b"a", word)):
            print(f"hung up after {i} lines, at {line}")
            return
        server.rest = server.rest[-200:]
    server.drain()


def attack_random_bytes(server):
    server.send(b"".join(random.choices(WORDS, k=100000)))
    server.drain()


def honest(until):
    server = Server()
    server.begin()
    rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
    worst, rounds = 0, 0
    while True:
        # All leave after the same round: the first of them says which.
        over = int(rank == 0 and os.path.exists(until))
        for text, wanted in (
                (f"cmd=put key=r{rounds % 50}-{rank} value={rounds}-{over}", "cmd=put_result rc=0 "),
                ("cmd=barrier_in", "cmd=barrier_out"),
                (f"cmd=get key=r{rounds % 50}-{(rank + 1) % size}", f"value={rounds}-"),
                (f"cmd=get key=r{rounds % 50}-0", f"value={rounds}-")):
            start = time.monotonic()
            answer = server.ask(text)
            worst = max(worst, time.monotonic() - start)
            if answer is None or wanted not in answer:
                sys.exit(f"rank {rank}: {text} was answered {answer}")
        rounds += 1
        if answer.endswith("-1"):
            break
        time.sleep(0.01)
    server.ask("cmd=barrier_in")
    server.ask("cmd=finalize")
    print(f"rank {rank}: {rounds} rounds, one answer took {worst * 1000:.0f} ms")


def main():
    what = sys.argv[1]
    attacks = {k[len("attack_"):]: v for k, v in globals().items() if k.startswith("attack_")}
    if what == "list":
        print("\n".join(attacks))
    elif what == "honest":
        honest(sys.argv[2])
    else:
        random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        server = Server()
        server.begin()
        attacks[what](server)


if __name__ == "__main__":
    main()
