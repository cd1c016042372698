# To be sourced by scripts that look at metrics: what asks for them, and what asks a
# Prometheus.

# fetch URL [ACCEPT]: the media type of what is there, then what is.
fetch() {
  within 20 /usr/bin/python3 -c '
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Accept": sys.argv[2]})
with urllib.request.urlopen(request, timeout=15) as x:
    print(x.headers["Content-Type"])
    sys.stdout.write(x.read().decode())' "$1" "${2:-*/*}"
}

# sample_of NAME: the value of the first sample of a name, with its labels if it has
# any, as a regular expression, on standard input. Whole numbers without a fraction.
sample_of() {
  /usr/bin/python3 -c '
import re, sys
text = sys.stdin.read()
name = sys.argv[1].replace("{", r"\{").replace("}", r"\}")
found = re.search("^" + name + r" (\S+)$", text, re.M)
value = float(found.group(1)) if found else float("nan")
print(int(value) if value == int(value) else value) if found else print("none")' "$1"
}

# raw PORT BYTES: what is answered to bytes, with escapes as printf has them.
raw() {
  printf '%b' "$2" | within 20 /usr/bin/python3 -c '
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 15) as x:
    x.sendall(sys.stdin.buffer.read())
    while True:
        got = x.recv(65536)
        if not got:
            break
        sys.stdout.buffer.write(got)' "$1"
}

# among_silent PORT COUNT TEXT: opens connections that say nothing, and asks all the
# same.
among_silent() {
  within 60 /usr/bin/python3 -c '
import resource, socket, sys, urllib.request
port, count = int(sys.argv[1]), int(sys.argv[2])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 64), hard))
silent = [socket.create_connection(("127.0.0.1", port), 15) for _ in range(count)]
with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=15) as x:
    assert sys.argv[3] in x.read().decode()' "$1" "$2" "$3"
}

# without_end PORT SECONDS COUNT: the most answers that one of several gets who scrape as
# fast as they can.
without_end() {
  within 60 /usr/bin/python3 -c '
import sys, threading, time, urllib.request
port, seconds, count = (int(x) for x in sys.argv[1:])
end = time.monotonic() + seconds
answers = [0] * count
def ask(i):
    while time.monotonic() < end:
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=15) as x:
            if b"troupe_build_info" in x.read():
                answers[i] += 1
threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
for x in threads:
    x.start()
for x in threads:
    x.join()
print(max(answers))' "$1" "$2" "$3"
}

# noise PORT COUNT: connections that send what nobody understands.
noise() {
  within 60 /usr/bin/python3 -c '
import random, socket, sys
rng = random.Random(1)
for _ in range(int(sys.argv[2])):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 15) as x:
        try:
            x.sendall(rng.randbytes(rng.randrange(1, 20000)))
        except OSError:
            pass  # It has been refused.' "$1" "$2"
}

# query URL EXPRESSION: the value of the first series that a Prometheus has.
query() {
  within 20 /usr/bin/python3 -c '
import json, sys, urllib.parse, urllib.request
url = sys.argv[1] + "/api/v1/query?" + urllib.parse.urlencode({"query": sys.argv[2]})
with urllib.request.urlopen(url, timeout=15) as x:
    found = json.load(x)["data"]["result"]
print(found[0]["value"][1] if found else "none")' "$1" "$2"
}

# rules URL: the health of each rule of a Prometheus.
rules() {
  within 20 /usr/bin/python3 -c '
import json, sys, urllib.request
with urllib.request.urlopen(sys.argv[1] + "/api/v1/rules", timeout=15) as x:
    for group in json.load(x)["data"]["groups"]:
        for rule in group["rules"]:
            print(rule["health"])' "$1"
}
