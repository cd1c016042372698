# The page of a DVM: what it shows, to whom, what it does under attack; and what is to
# be seen of it in a browser, in words.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/browser.sh"

cd "$TROUPE_WORK" || exit 1
build group_stays fence_waits
cat >here.sh <<'END_OF_SHELL'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END_OF_SHELL
chmod +x here.sh
limit=$((240 * slow))

# -- the command line ------------------------------------------------------------

check "PAGE-4" "other addresses than loopback need TLS" \
  status 2 troupe page --listen 0.0.0.0
check_match "PAGE-4" "and it says what to do" '--tls FILE.*ssh -L' \
  "$(troupe page --listen 0.0.0.0 2>&1)"
check_match "PAGE-1" "help" '--every' "$(troupe page --help)"
check "PAGE-1" "without a DVM there is no page" \
  status 1 within 20 troupe page --dvm nobody

# -- a DVM with two jobs -----------------------------------------------------------

troupe up --name page --node a --host a:4,b:4 --remote-shell "$PWD/here.sh" >up.out 2>up.err \
  </dev/null &
dvm_pid=$!
eventually 30 grep -qx "DVM ready" up.out || { failed "" "a DVM"; cat up.err; finish; }
# shellcheck disable=SC2016
within "$limit" troupe run --dvm page -n 4 --rtos recoverable sh -c '
  echo "line of $PMIX_RANK"
  echo "error of $PMIX_RANK" >&2
  echo "<script>window.attacked = 1</script>"
  until [ -e end ]; do sleep 0.05; done' >first.out 2>&1 </dev/null &
first=$!
within "$limit" troupe run --dvm page -n 4 ./group_stays stays >second.out 2>&1 \
  </dev/null &
second=$!
eventually 20 sh -c "troupe group list --dvm page | grep -q '^app.late  *constructing'"
job=$(troupe ps --dvm page | awk '$NF == "sh" { print $1; exit }')
calls=$(troupe group show app.shown --dvm page | sed -n 's/^ *0 *\([^ ]*\):3 .*/\1/p')

# serve NAME [OPTION]...: a page; its address in $address, its process in $page.
serve() {
  local name=$1
  shift
  troupe page --dvm page "$@" >"$name.out" 2>"$name.err" </dev/null &
  page=$!
  eventually 10 grep -q '#' "$name.out" || { cat "$name.err"; return 1; }
  address=$(head -n 1 "$name.out")
}
serve page || { failed "" "a page"; finish; }
check_match "PAGE-4" "its address is on loopback and holds a key" \
  '^http://127\.0\.0\.1:[0-9]+/#[0-9a-f]{32}$' "$address"
check_equal "PAGE-4" "neither the root nor the command for it has HTTP" "" \
  "$(grep -l civetweb "/proc/$dvm_pid/maps"; ldd "$TROUPE_BIN/troupe" | grep civetweb)"
check "PAGE-4" "it listens on loopback alone" sh -c '
  found=$(ss -tlnpH | grep "pid=$0,") && ! echo "$found" | grep -v " 127\.0\.0\.1:"' "$page"

# attack NAME: see page_attacks.py. Of what processes, the environment says.
attack() {
  JOB=${JOB:-$job} within $((150 * slow)) /usr/bin/python3 "$programs/page_attacks.py" \
    "$address" "$page" "$@"
}

# -- what it tells -----------------------------------------------------------------

# told SCRIPT: Python, in which `x` is all that the page has and `job` a namespace.
told() {
  attack state >state.json || return 1
  /usr/bin/python3 -c "
import json, sys
x = json.load(open('state.json'))
job, calls = sys.argv[1:]
$1" "$job" "$calls" || { head -c 4000 state.json; return 1; }
}
# soon SCRIPT: the same, before long.
soon() { eventually 10 told "$1" || told "$1"; }
check "PAGE-1" "nodes, jobs and processes" soon '
assert [y["name"] for y in x["nodes"].values()] == ["a", "b"], x["nodes"]
assert x["jobs"][job]["counts"]["running"] == 4, x["jobs"]
assert x["ranks"][job + ":3"]["state"] == "running"
assert x["ranks"][job + ":3"]["pid"] > 1
assert x["dvm"]["dvm"]["ready"] is True'
check "PAGE-1" "who is connected" soon '
assert x["jobs"][calls]["counts"]["connected"] == 4, x["jobs"]'
check "PAGE-1" "who waits for whom" soon '
late = [y for y in x["groups"].values() if y["id"] == "app.late"]
assert late and late[0]["missing"] == [calls + ":2"], x["groups"]'
check "PAGE-1" "connections" soon '
assert x["links"]["0-1"]["state"] == "well", x["links"]
assert x["links"]["0-1"]["networks"]'
check "PAGE-1" "streams" soon '
y = x["streams"][job + ":0/stdout"]
assert y["written"] > 10 and y["over"] is False, y
assert x["flows"][job]["streams"] >= 8, x["flows"]'
check "PAGE-1" "use of processors and memory" soon '
assert x["use"][job + ":0"]["memory_mb"] >= 0 and "load" in x["use"][job + ":0"], x["use"]
assert len(x["node_use"]) >= 1, x["node_use"]'
check "PAGE-1" "a monitor" troupe monitor add cpu_progress --dvm page --proc "$job:0" \
  --interval 1
check "PAGE-1" "alerts of monitors" soon '
assert any(y["process"] == job + ":0" for y in x["monitors"].values()), x["monitors"]'
check_match "PAGE-8" "its lines, both streams" 'error of 0.*line of 0' "$(attack lines)"
check_match "PAGE-8" "where it is" '#0|gdb|ptrace' "$(attack stack)"
check "PAGE-8" "a process that is not there" attack stranger

# -- attacks -----------------------------------------------------------------------

check "PAGE-4" "without the key nothing is told" attack keys
check "PAGE-4" "under a name of somebody else neither" attack names
check "PAGE-4" "it only reads" attack methods
check "PAGE-5" "paths that lead elsewhere" attack paths
check "PAGE-5" "huge and broken headers" attack headers
check "PAGE-5" "slow clients" attack slow
check "PAGE-5" "many connections" attack many
check "PAGE-5" "many that watch and read nothing" attack watchers
check "PAGE-9" "ten browsers have no more asked than one" attack rate
cat "$TROUPE_WORK/output"

# -- in a browser ------------------------------------------------------------------

browser() {
  within $((90 * slow)) /usr/bin/python3 "$programs/page_browser.py" "$chromium" \
    "$address" "$@"
}
pid_of() {
  troupe ps --json --dvm page | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin)["processes"]:
    if "%s:%d" % (x["nspace"], x["rank"]) == sys.argv[1]: print(x["pid"])' "$1"
}
if [ -n "$chromium" ]; then
  check "PAGE-1" "what is to be seen" browser visible "2 of 2 nodes live" "a: live" \
    "b: live" "Nodes and processes" "$job" "4 started" "3 in MPI, 1 in a collective" "app.shown" \
    "app.late" "constructing" "$calls:2" "well" "$job:0 stdout" "Colours show"
  check "PAGE-1" "the colours of load and of waiting" \
    browser modes "rank 2 of $calls "
  check "PAGE-7" "keys lead everywhere" browser keyboard
  check "PAGE-7" "all has a name" browser names
  check "PAGE-7" "dark and light" browser themes
  check "PAGE-8" "a click shows lines and resources" browser details \
    "rank 1 of $job " "line of 1" "error of 1" "<script>window.attacked" "Memory, MB" \
    "Process number" "$(pid_of "$job:1")"
  check "PAGE-8" "and where a process is" browser stack "rank 1 of $job " "#0" gdb ptrace
  troupe events send -3055 --dvm page \
    --message '<img src=x onerror="window.attacked = 1">' >sent 2>&1
  check "PAGE-6" "text of others stays text" \
    browser foreign '<img src=x onerror="window.attacked = 1">'
  check "PAGE-3" "1,000 processes that change five times a second" \
    browser thousand "$TROUPE_SOURCE/tools/page.html" state
  check "PAGE-3" "and with the loads of all of them" \
    browser thousand "$TROUPE_SOURCE/tools/page.html" load
else
  skip "PAGE-1 PAGE-3 PAGE-6 PAGE-7 PAGE-8" "the page in a browser" \
    "chromium is not installed"
fi

# -- who has not come to a fence -----------------------------------------------------

# Its second process is on the other node, and does not come.
within "$limit" troupe run --dvm page --oversubscribe --map-by node -n 3 ./fence_waits 1 \
  "$PWD/enter" >third.out 2>&1 </dev/null &
third=$!
# waits SCRIPT: the same as `told`, of `troupe jobs --waits`.
waits() {
  within "$((20 * slow))" troupe jobs --waits --json --dvm page >waits.json </dev/null \
    || return 1
  /usr/bin/python3 -c "
import json
x = [y for y in json.load(open('waits.json'))['waits'] if y['kind'] == 'fence']
$1" || { head -c 4000 waits.json; return 1; }
}
check "PAGE-10" "who does not come to a fence is named" eventually 20 waits '
assert len(x) == 1 and (x[0]["joined"], x[0]["size"]) == (2, 3), x
assert x[0]["missing"] == [{"proc": x[0]["job"] + ":1", "host": "b"}], x'
fenced=$(/usr/bin/python3 -c '
import json
print(*[y["job"] for y in json.load(open("waits.json"))["waits"] if y["kind"] == "fence"])')
check_match "PAGE-10" "in words" "fence +2 of 3 .*$fenced:1 on b" \
  "$(within "$((20 * slow))" troupe jobs --waits --dvm page)"
check_match "PAGE-10" "beside groups that wait" "group construct app.late .*$calls:2" \
  "$(within "$((20 * slow))" troupe jobs --waits --dvm page)"
check "PAGE-10" "by the page, too" soon '
assert [(y["kind"], y["joined"], y["size"], y["missing"]) for y in x["waits"].values()] == [
    ("fence", 2, 3, [{"proc": y["job"] + ":1", "host": "b"}]) for y in x["waits"].values()]
assert len(x["waits"]) == 1 and "began" in list(x["waits"].values())[0], x["waits"]'
if [ -n "$chromium" ]; then
  check "PAGE-10" "in a browser" browser visible "in a fence: 2 of 3, waits for rank 1 on b for"
  check "PAGE-10" "and by its colour" browser modes "rank 1 of $fenced "
else
  skip "PAGE-10" "fences in a browser" "chromium is not installed"
fi
check_match "PAGE-11" "where it is that does not come" 'forget_the_fence|ptrace|neither eu-stack' \
  "$(JOB=$fenced RANK=1 attack stack)"
touch enter
wait "$third"
check_equal "PAGE-10" "it comes, and all go on" 0 "$?"
check "PAGE-10" "nobody is waited for any more" eventually 20 waits 'assert x == [], x'
check "PAGE-10" "nor on the page" soon 'assert x.get("waits", {}) == {}, x["waits"]'

# -- TLS, and a key that stays --------------------------------------------------------

kill -TERM "$page"
wait "$page"
check_equal "PAGE-1" "an interrupt ends it well" 0 "$?"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
  -out cert.pem -days 1 -subj /CN=localhost 2>openssl.log
cat cert.pem key.pem >both.pem
check "PAGE-4" "a certificate that is none" \
  status 1 within 20 troupe page --dvm page --tls here.sh
(umask 022 && openssl rand -hex 16 >key)
check_match "PAGE-4" "a key that others may read is refused" 'chmod 600 key' \
  "$(within 20 troupe page --dvm page --key key 2>&1)"
chmod 600 key
echo short >short
chmod 600 short
check_match "PAGE-4" "and one that is short" '32 to 256 letters' \
  "$(within 20 troupe page --dvm page --key short 2>&1)"
check "PAGE-4" "a page with TLS begins" serve tls --listen 0.0.0.0 --tls both.pem --key key
address=${address/0.0.0.0/127.0.0.1}
check_match "PAGE-4" "with the key of the file" "^https://127.0.0.1:[0-9]+/#$(cat key)$" \
  "$address"
check "PAGE-4" "it tells the same" told '
assert len(x["nodes"]) == 2, x'
check "PAGE-4" "to nobody without the key" attack keys
check "PAGE-5" "slow handshakes" attack slow_tls
check "PAGE-4" "and nothing without TLS" sh -c '
  ! curl -s --max-time 5 "$0" | grep -q .' "http${address#https}"

# -- the end ---------------------------------------------------------------------------

for pid in $(marked_processes); do
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'trouped.*--join' && kill -KILL "$pid"
done
check "PAGE-1" "a node that is lost" eventually 30 told '
assert x["nodes"]["1"]["state"] == "lost", x["nodes"]'
touch end call leave go
wait "$first" "$second"
if [ -n "$chromium" ]; then
  kill -TERM "$page"
  wait "$page"
  serve last
  check "PAGE-1" "a lost node in a browser" browser visible "b: lost" "Lost: b"
  browser lost >lost.out 2>&1 &
  looker=$!
  eventually 30 grep -q ready lost.out
fi
check "PAGE-1" "down" within $((60 * slow)) troupe down --dvm page
wait "$dvm_pid"
wait "$page"
check_equal "PAGE-1" "the page ends with its DVM" 1 "$?"
check_match "PAGE-1" "and says why" 'the DVM has ended' "$(cat tls.err last.err 2>/dev/null)"
if [ -n "$chromium" ]; then
  wait "$looker"
  check_equal "PAGE-1" "a browser says so" 0 "$?"
fi
clean "PAGE-1" "nothing is left"
finish
