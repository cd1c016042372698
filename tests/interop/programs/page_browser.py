"""Looks at the page of a DVM with a browser, and says in words what is not as it should be.

usage: page_browser.py CHROMIUM ADDRESS CHECK [ARGUMENT]...

Ends with status 0 if all is well. Speaks the DevTools protocol over a pipe; needs nothing
but Python and Chromium.
"""

import base64
import fcntl
import http.server
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SLOW = 5 if os.environ.get("TROUPE_SANITIZER") else 1
PATIENCE = 20 * SLOW


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TROUPE_WORK"))
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Out of the way of 3 and 4, which are the browser's.
        high = [fcntl.fcntl(x, fcntl.F_DUPFD, 20) for x in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        env = dict(os.environ, HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        self.child = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % tuple(high), "-", program,
             "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-pipe", "--window-size=1400,1000",
             f"--user-data-dir={self.folder}/data", "about:blank"],
            pass_fds=high, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for x in high:
            os.close(x)
        self.input, self.output = ours_in, ours_out
        self.rest, self.last, self.session = b"", 0, None
        self.answers, self.errors, self.requests = {}, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.session = None
        try:
            self.send("Browser.close")
            self.child.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- the protocol --

    def send(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        return self.last

    def receive(self, limit):
        """Takes what has come; false: nothing has."""
        if not select.select([self.input], [], [], max(limit, 0))[0]:
            return False
        part = os.read(self.input, 1 << 16)
        assert part, "the browser has ended"
        *whole, self.rest = (self.rest + part).split(b"\0")
        for x in whole:
            self.take(json.loads(x))
        return True

    def take(self, x):
        if "id" in x:
            self.answers[x["id"]] = x
        elif x["method"] == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(x["params"]["exceptionDetails"])[:600])
        elif x["method"] == "Log.entryAdded" and x["params"]["entry"]["level"] == "error":
            self.errors.append(x["params"]["entry"]["text"])
        elif x["method"] == "Network.requestWillBeSent":
            self.requests.append(x["params"]["request"]["url"])

    def answer(self, number, limit=PATIENCE):
        deadline = time.monotonic() + limit
        while number not in self.answers:
            assert time.monotonic() < deadline, "the browser does not answer"
            self.receive(deadline - time.monotonic())
        found = self.answers.pop(number)
        assert "error" not in found, found
        return found["result"]

    def call(self, method, **params):
        return self.answer(self.send(method, **params))

    # -- the page --

    def run(self, script, limit=PATIENCE):
        """The value of an expression, or of the promise that it is."""
        found = self.answer(self.send("Runtime.evaluate", expression=script, returnByValue=True,
                                      awaitPromise=True), limit)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, address):
        self.address = address
        self.call("Page.navigate", url=address)
        self.until("document.getElementById('link')?.textContent === 'Live'", "it is not live")

    def until(self, script, otherwise, limit=PATIENCE):
        deadline = time.monotonic() + limit
        while not self.run(script):
            assert time.monotonic() < deadline, f"{otherwise}; the page says:\n{self.text()}"
            time.sleep(0.05)

    def text(self):
        return self.run("document.body.innerText")

    def press(self, key):
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40,
                "ArrowLeft": 37, "Home": 36, "End": 35}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))

    def is_clean(self):
        """It has had no errors, and has asked nobody else."""
        assert not self.errors, self.errors
        origin = self.address.split("#")[0]
        foreign = [x for x in self.requests if not x.startswith((origin, "data:", "about:"))]
        assert not foreign, foreign


def focus(browser):
    """What has it: the name of a process, or an identifier."""
    return browser.run("document.activeElement?.dataset.name || document.activeElement?.id"
                       " || document.activeElement?.tagName")


def visible(browser, *words):
    """All of these can be read."""
    for word in words:
        browser.until(f"document.body.innerText.includes({json.dumps(word)})", f"no \"{word}\" is to be seen")


def gone(browser, *words):
    for word in words:
        browser.until(f"!document.body.innerText.includes({json.dumps(word)})", f"\"{word}\" is still to be seen")


def cell(label):
    return f"[...document.querySelectorAll('#nodes .cell')].find((x) => x.getAttribute('aria-label')" \
           f".startsWith({json.dumps(label)}))"


def ranks(browser, *labels):
    """There is a process of each of these names: `rank 2 of JOB on n3: lost`."""
    for label in labels:
        browser.until(f"Boolean({cell(label)})", f"there is no {label}")


def killed(browser, label, pid, limit_ms):
    """A process that is killed turns red."""
    browser.until(f"['running', 'connected'].includes({cell(label)}?.dataset.state)", f"{label} does not run")
    waits = browser.send("Runtime.evaluate", returnByValue=True, awaitPromise=True, expression="""
        new Promise((done) => {
          const look = () => {
            const x = %s;
            const colour = getComputedStyle(x).backgroundColor;
            if (colour === "rgb(196, 38, 46)") done(x.getAttribute("aria-label"));
            else requestAnimationFrame(look);
          };
          look();
        })""" % cell(label))
    time.sleep(0.3)
    assert waits not in browser.answers, "it is red already"
    began = time.monotonic()
    os.kill(int(pid), signal.SIGKILL)
    label = browser.answer(waits)["result"]["value"]
    took = (time.monotonic() - began) * 1000
    print(f"red after {took:.0f} ms")
    assert "failed" in label, label
    assert took <= int(limit_ms) * SLOW, f"it takes {took:.0f} ms"


def keyboard(browser):
    """From the first Tab to the details of a process and back, without a mouse."""
    browser.until("document.querySelectorAll('#nodes .cell').length >= 4", "there are no processes")
    browser.run("document.activeElement?.blur()")
    browser.press("Tab")
    assert focus(browser) == "skip", focus(browser)
    browser.press("Enter")
    first = focus(browser)
    assert ":" in first, first
    browser.press("ArrowRight")
    second = focus(browser)
    assert ":" in second and second != first, second
    browser.press("ArrowLeft")
    assert focus(browser) == first, focus(browser)
    browser.press("End")
    browser.press("Home")
    assert focus(browser) == first, focus(browser)
    browser.press("ArrowRight")
    browser.press("Enter")
    assert focus(browser) == "details-title", focus(browser)
    assert not browser.run("document.getElementById('details').hidden"), "no details"
    browser.press("Tab")
    assert focus(browser) == "close", focus(browser)
    browser.press("Escape")
    assert browser.run("document.getElementById('details').hidden"), "the details stay"
    assert focus(browser) == second, focus(browser)
    tabs = browser.run("document.querySelectorAll(\"#nodes .cell[tabindex='0']\").length")
    assert tabs == 1, f"{tabs} stops in the map"


def names(browser):
    """Whatever can be used, and each part of the page, has a name."""
    browser.until("document.querySelectorAll('#nodes .cell').length >= 4", "there are no processes")
    browser.run(f"{cell('rank ')}.click()")
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    found = {}
    for x in nodes:
        role = x.get("role", {}).get("value")
        name = x.get("name", {}).get("value", "").strip()
        if x.get("ignored") or role not in ("button", "textbox", "combobox", "radio", "region", "image",
                                            "complementary", "group", "heading", "columnheader"):
            continue
        assert name, f"{role} without a name: {json.dumps(x)[:400]}"
        found.setdefault(role, []).append(name)
    for role, name in (("region", "Nodes and processes"), ("region", "Alerts"), ("region", "Jobs"),
                       ("region", "Events"), ("region", "Networks"), ("region", "Groups"),
                       ("region", "Streams"), ("radio", "load"), ("combobox", "Theme")):
        assert name in found.get(role, []), (role, name, found.get(role))
    assert any(x.startswith("rank 0 of ") and ": " in x for x in found["button"]), found["button"]
    assert browser.run("document.documentElement.lang") == "en"
    ids = browser.run("[...document.querySelectorAll('[id]')].map((x) => x.id)")
    assert len(ids) == len(set(ids)), "two elements have one id"


CONTRAST = """(() => {
  const number = (x) => { const y = x.match(/^rgba?\\(([^)]+)\\)/); return y ? y[1].split(/[ ,/]+/).map(Number) : null; };
  const light = (x) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
    const y = x[i] / 255;
    return sum + part * (y <= 0.04045 ? y / 12.92 : ((y + 0.055) / 1.055) ** 2.4); }, 0);
  const ground = (x) => {
    for (; x; x = x.parentElement) {
      const y = number(getComputedStyle(x).backgroundColor);
      if (y && (y[3] ?? 1) > 0.99) return y;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const x of document.querySelectorAll("body *")) {
    if (![...x.childNodes].some((y) => y.nodeType === 3 && y.data.trim())) continue;
    if (x.closest("svg, script, style, select") || !x.checkVisibility()) continue;
    const [a, b] = [light(number(getComputedStyle(x).color)), light(ground(x))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${x.tagName}.${x.className} ${ratio.toFixed(2)}: ${x.textContent.slice(0, 40)}`);
  }
  return bad;
})()"""


def themes(browser):
    """Dark and light, each readable; and either by wish."""
    grounds = []
    for theme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme}])
        browser.until(f"document.documentElement.dataset.theme === '{theme}'", f"it is not {theme}")
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
        bad = browser.run(CONTRAST)
        assert not bad, (theme, bad)
    assert grounds[0] != grounds[1], grounds
    browser.run("(() => { const x = document.getElementById('theme'); x.value = 'light';"
                " x.dispatchEvent(new Event('change')); })()")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == grounds[0]


def details(browser, label, *words):
    """A click on a process shows what it has written, and how it does."""
    browser.until(f"Boolean({cell(label)})", f"there is no {label}")
    browser.run(f"{cell(label)}.click()")
    for word in words:
        browser.until(f"document.getElementById('details').innerText.includes({json.dumps(word)})",
                      f"its details do not say \"{word}\"")


def stack(browser, label, *words):
    details(browser, label)
    browser.run("document.getElementById('take-stack').click()")
    browser.until("!['', 'taking it'].includes(document.getElementById('stack').textContent)", "no stack comes")
    found = browser.run("document.getElementById('stack').textContent")
    assert any(x in found for x in words), found


def modes(browser, waiting):
    """The colours of load, and of who waits for whom."""
    browser.run("document.querySelector('input[value=wait]').click()")
    browser.until(f"{cell(waiting)}?.classList.contains('waited')", f"nobody waits for {waiting}")
    colour = browser.run(f"getComputedStyle({cell(waiting)}).backgroundColor")
    browser.until(f"getComputedStyle({cell(waiting)}).backgroundColor === 'rgb(166, 83, 0)'", colour)
    assert browser.run(f"{cell(waiting)}.getAttribute('aria-label')").endswith("others wait for it")
    browser.run("document.querySelector('input[value=load]').click()")
    visible(browser, "half a processor")


def foreign(browser, text):
    """Text of others is shown, and does nothing."""
    visible(browser, text)
    assert not browser.run("Boolean(window.attacked)"), "a script of others has run"


def lost(browser):
    """The server of the page goes away: the page says so, and keeps what it has shown."""
    boxes = "document.querySelectorAll('#nodes .node').length"
    browser.until(f"{boxes} >= 2", "there are no nodes")
    print("ready", flush=True)
    browser.until("document.getElementById('link').textContent.startsWith('Not connected')", "it does not notice")
    assert browser.run(boxes) >= 2, "it forgets what it has shown"
    browser.errors.clear()  # That the connection has ended.


def picture(browser, file, theme, label, *words):
    """Keeps a picture of it when all of these can be read, with the details of a process if
    one is named."""
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.until(f"document.documentElement.dataset.theme === '{theme}'", f"it is not {theme}")
    if label:
        details(browser, label)
    visible(browser, *words)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as to:
        to.write(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))


# -- 1,000 processes -----------------------------------------------------------

RANKS, NODES, PAUSE = 1000, 16, 0.2


def rank(i, turn):
    state = "connected" if (i + turn) % 10 else "running"
    return {"job": "big@1", "rank": i, "node": i % NODES, "host": f"n{i % NODES}", "pid": 1000 + i,
            "state": state, "exit": 0, "cpus": ""}


def use(i, turn):
    return {"load": (i * 7 + turn * 13) % 101, "memory_mb": 100}


def whole():
    counts = {"starting": 0, "running": 100, "connected": 900, "ended": 0, "failed": 0, "lost": 0}
    return {
        "dvm": {"dvm": {"name": "big", "nodes": NODES, "live": NODES, "ready": True, "left_out": 0}},
        "nodes": {str(i): {"rank": i, "name": f"n{i}", "state": "live", "slots": 64, "procs": 63} for i in range(NODES)},
        "jobs": {"big@1": {"nspace": "big@1", "state": "running", "cmd": "app", "procs": RANKS, "nodes": NODES,
                           "counts": counts}},
        "ranks": {f"big@1:{i}": rank(i, 0) for i in range(RANKS)},
        "use": {f"big@1:{i}": use(i, 0) for i in range(RANKS)},
        "links": {f"{a}-{b}": {"a": a, "b": b, "state": "well", "resent": 0, "waiting": 0, "trouble": "",
                               "networks": [{"name": "net0", "usable": True, "round_trip_us": 100}]}
                  for a in range(NODES) for b in range(a + 1, NODES)},
    }


def change(turn):
    """Of every process the load, of a fifth the state."""
    return {"ranks": {f"big@1:{i}": rank(i, turn) for i in range(RANKS) if (i + turn) % 10 in (0, 1)},
            "use": {f"big@1:{i}": use(i, turn) for i in range(RANKS)}}


class Synthetic(http.server.BaseHTTPRequestHandler):
    page = b""

    def log_message(self, *_):
        pass

    def do_GET(self):
        is_live = self.path == "/live"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if is_live else "text/html; charset=utf-8")
        self.end_headers()
        if not is_live:
            self.wfile.write(self.page)
            return
        texts = [json.dumps(change(i)) for i in range(20)]
        try:
            self.wfile.write(f"event: whole\ndata: {json.dumps(whole())}\n\n".encode())
            due = time.monotonic()
            for turn in range(1, 10000):
                due += PAUSE
                time.sleep(max(0, due - time.monotonic()))
                self.wfile.write(f"event: change\ndata: {texts[turn % 20]}\n\n".encode())
        except OSError:
            pass


UPDATES = "Number(document.getElementById('updates').textContent.match(/\\d+/)[0])"


def begin_synthetic(browser, file, mode):
    """1,000 processes that all change five times a second, in the colours of `mode`."""
    with open(file, "rb") as page:
        Synthetic.page = page.read().replace(b"@NONCE@", b"x")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Synthetic)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
        window.gaps = [];
        window.tasks = [];
        let last = performance.now();
        const tick = (now) => { window.gaps.push(now - last); last = now; requestAnimationFrame(tick); };
        requestAnimationFrame(tick);
        new PerformanceObserver((x) => { for (const y of x.getEntries()) window.tasks.push(y.duration); })
          .observe({ entryTypes: ["longtask"] });""")
    browser.open(f"http://127.0.0.1:{server.server_port}/#0123456789")
    browser.until("document.querySelectorAll('#nodes .cell').length === %d" % RANKS, "not all are there")
    browser.run(f"document.querySelector('input[value={mode}]').click()")
    return server


def thousand(browser, file, mode):
    """All are drawn, and updates go on coming in; how fast is for bench/page."""
    server = begin_synthetic(browser, file, mode)
    before = browser.run(UPDATES)
    browser.until(f"{UPDATES} >= {before + 10}", "updates do not come in", 4 * PATIENCE)
    server.shutdown()


def smooth(browser, file, mode):
    """Measures frames: updates, frames, milliseconds of 95 % of them and of the longest, and
    how much of the time long tasks take."""
    seconds = 10
    server = begin_synthetic(browser, file, mode)
    time.sleep(2)
    browser.run("window.gaps.length = window.tasks.length = 0")
    before = browser.run(UPDATES)
    time.sleep(seconds)
    updates = browser.run(UPDATES) - before
    gaps = sorted(browser.run("window.gaps"))
    tasks = browser.run("window.tasks")
    print(f"{updates / seconds:.1f} {len(gaps) / seconds:.0f} {gaps[int(len(gaps) * 0.95)]:.0f} "
          f"{gaps[-1]:.0f} {sum(tasks) / seconds / 10:.0f}")
    server.shutdown()


CHECKS = (visible, gone, ranks, killed, keyboard, names, themes, details, stack, modes, foreign, lost, picture,
          thousand, smooth)


def main():
    program, address, check = sys.argv[1:4]
    browser = Browser(program)
    try:
        if check not in ("thousand", "smooth"):
            browser.open(address)
        {x.__name__: x for x in CHECKS}[check](browser, *sys.argv[4:])
        if check not in ("thousand", "smooth"):
            browser.is_clean()
    except AssertionError as why:
        sys.exit(f"{check}: {why}")
    finally:
        browser.close()


main()
