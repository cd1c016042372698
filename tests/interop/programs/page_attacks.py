"""Attacks on the page of a DVM, and questions to it.

usage: page_attacks.py ADDRESS PID ATTACK

ADDRESS is what `troupe page` has printed, PID its process. Ends with status 0 if the
page has held, else with a line that says what did not.
"""

import json
import os
import re
import socket
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 15 * (5 if os.environ.get("TROUPE_SANITIZER") else 1)
MOST_THREADS = 40
TLS_THREADS = 64  # One for each connection that it may have, beside those.
MOST_MEMORY = 160 << 20


class Page:
    def __init__(self, address, pid):
        parts = urllib.parse.urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.key = parts.fragment
        self.root = f"{parts.scheme}://{parts.netloc}"
        self.pid = pid
        self.context = ssl._create_unverified_context()

    def get(self, path, key=None, method="GET", headers=None):
        """Status, headers and body of an answer."""
        request = urllib.request.Request(self.root + path, method=method, headers=headers or {})
        if key is None or key:
            request.add_header("Authorization", "Bearer " + (self.key if key is None else key))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.context))
        try:
            with opener.open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)

    def talk(self, raw):
        """What comes back until the server closes; a reset is a close."""
        with self.connect() as to:
            try:
                to.sendall(raw)
            except OSError:
                pass
            return read_all(to)

    def head(self, path="/"):
        return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.key}\r\n"

    def holds(self):
        """It answers, soon, and is no larger than it may be."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self.get("/state")[0] == 200:
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline, "it does not answer any more"
            time.sleep(0.1)
        self.is_small()

    def is_small(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as lines:
            found = dict(re.findall(r"^(\w+):\s+(\d+)", lines.read(), re.M))
        most = MOST_THREADS + (TLS_THREADS if self.root.startswith("https") else 0)
        assert int(found["Threads"]) <= most, f"{found['Threads']} threads"
        if not os.environ.get("TROUPE_SANITIZER"):
            assert int(found["VmRSS"]) << 10 <= MOST_MEMORY, f"{found['VmRSS']} KiB"


def read_all(to):
    result = b""
    try:
        while True:
            part = to.recv(65536)
            if not part:
                return result
            result += part
    except TimeoutError:
        raise AssertionError(f"it keeps the connection; it has said {result[:200]}") from None
    except OSError:
        return result


def status_of(answer):
    found = re.match(rb"HTTP/1\.\d (\d+)", answer)
    return int(found[1]) if found else 0


def paths(page):
    for path in ("/../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd",
                 "/....//....//etc/passwd", "/..\\..\\etc\\passwd", "//etc/passwd", "/etc/passwd",
                 "/live/../../etc/passwd", "/.%00./etc/passwd", "/%00",
                 "/%c0%ae%c0%ae/etc/passwd", "/?/../../etc/passwd#", "http://evil.example/etc/passwd",
                 "*", "state", "/proc/self/environ", "/" + "x" * 6000):
        for rest in ("", "?" + "y" * 500):
            answer = page.talk((page.head(path + rest) + "\r\n").encode("latin-1"))
            assert b"root:" not in answer and b"TROUPE_MARK" not in answer, path
            # A path whose dots lead to the page itself, or that is one to our server.
            is_page = b"<!doctype html>" in answer
            assert status_of(answer) != 200 or is_page, (path, answer[:200])


def headers(page):
    lines = page.head()
    for raw in (lines + "X: " + "x" * (1 << 20) + "\r\n\r\n",
                lines + "".join(f"X-{i}: y\r\n" for i in range(20000)) + "\r\n",
                lines + "x" * (1 << 20),
                "GET /" + "x" * (1 << 20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "\r\n" * 200000,
                lines + "\0\0\0\r\n\r\n",
                "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
                lines + "Host: evil.example\r\nContent-Length: -1\r\n\r\n",
                lines + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"):
        answer = page.talk(raw.encode())
        assert b"root:" not in answer, answer[:200]
        assert len(answer) < 1 << 20, len(answer)
    for _ in range(20):
        page.talk(os.urandom(4096))


def methods(page):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "MKCOL"):
        try:
            status = page.get("/state", method=method)[0]
        except OSError:
            continue  # Closed without a word.
        assert status in (400, 405, 501), (method, status)
    # A body without an end is not waited for.
    began = time.monotonic()
    with page.connect() as to:
        to.sendall(b"POST /state HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n")
        answer = read_all(to)
    assert status_of(answer) == 405, answer[:200]
    assert time.monotonic() - began < PATIENCE, "it waits for the body"


def slow(page, begin=b"G"):
    """Half of the connections send a byte now and then, the others nothing."""
    began = time.monotonic()
    left = [page.connect() for _ in range(60)]
    for i, x in enumerate(left):
        x.settimeout(0.001)
        if i % 2 == 0:
            x.sendall(begin)
    while left:
        assert time.monotonic() - began < 4 * PATIENCE, f"{len(left)} slow ones are still there"
        page.is_small()
        time.sleep(0.5)
        for i, x in list(enumerate(left)):
            try:
                if i % 2 == 0:
                    x.sendall(b"E")
                if x.recv(4096):
                    continue
            except TimeoutError:
                continue
            except OSError:
                pass
            x.close()
            left.remove(x)


def slow_tls(page):
    """The same, of a handshake that they have announced: 16 KiB of it are to come."""
    slow(page, b"\x16\x03\x01\x40\x00\x01")


def many(page):
    opened = []
    for _ in range(800):
        try:
            opened.append(socket.create_connection((page.host, page.port), timeout=0.2))
        except OSError:
            break  # The kernel refuses more: as good.
        if len(opened) % 100 == 0:
            page.is_small()
    page.is_small()
    for x in opened:
        x.close()


def watchers(page):
    """More than may watch, who take nothing of what they are sent."""
    opened, seen = [], []
    for _ in range(18):
        x = page.connect()
        x.sendall((page.head("/live") + "\r\n").encode())
        opened.append(x)
        seen.append(status_of(x.recv(64)))
    assert seen.count(200) == 16 and seen.count(503) == 2, seen
    assert page.get("/", key="")[0] == 200, "the page itself is not served"
    page.is_small()
    for x in opened:
        x.close()
    deadline = time.monotonic() + PATIENCE
    while True:
        with page.connect() as x:
            x.sendall((page.head("/live") + "\r\n").encode())
            if status_of(x.recv(64)) == 200:
                return
        assert time.monotonic() < deadline, "their places are not free again"
        time.sleep(0.2)


def rate(page):
    """What is asked of the DVM has a bound, however many watch, and however often they come."""
    # Jobs each 0.2 s; three subjects each second; four each 2 s. Eight may be under way.
    a_second, edges = 5 + 3 + 2, 8

    def told():
        found = json.loads(page.get("/state")[2])["page"]["page"]
        return found["answers"], found["browsers"]

    def watch():
        x = page.connect()
        x.sendall((page.head("/live") + "\r\n").encode())
        assert status_of(x.recv(64)) == 200, "it cannot be watched"
        return x

    def asked(what, count, act):
        deadline = time.monotonic() + PATIENCE
        while told()[1] > 0:
            assert time.monotonic() < deadline, "watchers stay when they have gone"
            time.sleep(0.1)
        opened = [watch() for _ in range(count)]
        before, began = told()[0], time.monotonic()
        act()
        after, browsers = told()
        seconds = time.monotonic() - began
        for x in opened:
            x.close()
        assert browsers >= count, f"{browsers} of {count} watch"
        print(f"{what}: {(after - before) / seconds:.1f} questions a second")
        assert after - before <= a_second * seconds + edges, f"{after - before} questions in {seconds:.1f} s"
        assert after - before >= seconds, f"{after - before} questions in {seconds:.1f} s"

    def come_and_go():
        end = time.monotonic() + 3
        while time.monotonic() < end:
            with page.connect() as x:
                x.sendall((page.head("/live") + "\r\n").encode())
                x.recv(64)
            told()
            time.sleep(0.02)

    asked("one browser", 1, lambda: time.sleep(3))
    asked("ten browsers", 10, lambda: time.sleep(3))
    asked("browsers that come and go", 1, come_and_go)


def keys(page):
    for path in ("/state", "/live", "/lines?job=x&rank=0", "/usage?job=x&rank=0", "/stack?job=x&rank=0"):
        for key in ("", "x", page.key[:-1], page.key + "0", page.key.upper() + "x"):
            status, _, body = page.get(path, key=key)
            assert status == 401 and page.key.encode() not in body, (path, key, status)
        assert page.get(path + "&key=" + page.key, key="")[0] in (401, 404), path
    status, _, body = page.get("/", key="")
    assert status == 200 and page.key.encode() not in body


def names(page):
    for host in ("evil.example", "evil.example:80", "localhost.evil.example"):
        answer = page.talk(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert status_of(answer) == 421, (host, answer[:100])


def state(page):
    print(json.dumps(json.loads(page.get("/state")[2])))


def lines(page):
    """Those of the first process of the job in the environment."""
    job = urllib.parse.quote(os.environ["JOB"])
    print(page.get(f"/lines?job={job}&rank=0")[2].decode())


def stack(page):
    job = urllib.parse.quote(os.environ["JOB"])
    rank = os.environ.get("RANK", "0")
    print(json.loads(page.get(f"/stack?job={job}&rank={rank}")[2]))


def stranger(page):
    """A process that is not there."""
    for path in ("lines", "usage", "stack"):
        status, _, body = page.get(f"/{path}?job=nobody&rank=7")
        found = json.loads(body)
        assert status == 200 and ("error" in found or found == {"streams": {}}), (path, found)


ATTACKS = (paths, headers, methods, slow, slow_tls, many, watchers, rate, keys, names, state, lines, stack, stranger)


def main():
    page = Page(sys.argv[1], int(sys.argv[2]))
    attack = {x.__name__: x for x in ATTACKS}[sys.argv[3]]
    try:
        attack(page)
        page.holds()
    except AssertionError as why:
        sys.exit(f"{sys.argv[3]}: {why}")


main()
