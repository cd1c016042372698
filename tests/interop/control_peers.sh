# Job control and heartbeats asked for by unmodified clients and by tools, and
# who may ask.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build control_calls
limit=30

# -- clients -------------------------------------------------------------------

check "J1 J2 J3 J15 J18 J30 79" "signals reach exactly whom they name" \
  job -n 3 ./control_calls signals
text=$(job -n 2 ./control_calls refusals 2>&1) && refused=yes || refused=$text
check_equal "J4 J32 85 93" "what cannot be done is refused" yes "$refused"
[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || check_match "J4" \
  "and the callback says why" '^unknown job: .*no-such-job' "$text"
check "J8 J21 89" "cancel of all, in all its forms" job -n 1 ./control_calls cancels
text=$(job -n 1 ./control_calls beats 2>&1)
check_match "M13 M14 M25 111" "beats in all forms, and an alert when they end" \
  '^alert after [0-9]+ ms$' "$text"

# -- python --------------------------------------------------------------------

python=/usr/bin/python3
if "$python" -W ignore -c 'import pmix' 2>/dev/null; then
  cat >calls.py <<'END'
import os, signal, time, warnings
warnings.simplefilter("ignore")
import pmix

seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))

def info(key, kind, value):
    return {"key": key, "flags": 0, "value": value, "val_type": kind}

client = pmix.PMIxClient()
outcome, me = client.init([])
assert outcome == pmix.PMIX_SUCCESS, outcome
outcome, _ = client.job_control(
    [{"nspace": me["nspace"], "rank": me["rank"]}],
    [info(pmix.PMIX_JOB_CTRL_SIGNAL, pmix.PMIX_INT, int(signal.SIGUSR1))])
assert outcome == pmix.PMIX_SUCCESS, outcome
for _ in range(500):
    if seen:
        break
    time.sleep(0.01)
assert seen, "the signal comes"
outcome, _ = client.monitor(
    [info(pmix.PMIX_MONITOR_HEARTBEAT, pmix.PMIX_BOOL, True)],
    pmix.PMIX_MONITOR_HEARTBEAT_ALERT,
    [info(pmix.PMIX_MONITOR_ID, pmix.PMIX_STRING, "beats"),
     info(pmix.PMIX_MONITOR_HEARTBEAT_TIME, pmix.PMIX_UINT32, 60)])
assert outcome == pmix.PMIX_SUCCESS, outcome
outcome, _ = client.monitor(
    [info(pmix.PMIX_MONITOR_CANCEL, pmix.PMIX_STRING, "beats")],
    pmix.PMIX_SUCCESS, [])
assert outcome == pmix.PMIX_SUCCESS, outcome
client.finalize([])
print("python3-pmix controls", flush=True)
END
  check_match "J1 M1 F6.11" "python3-pmix: a signal, a monitor and its cancel" \
    '^python3-pmix controls$' "$(job -n 1 "$python" calls.py 2>&1)"
else
  skip "J1 M1 F6.11" "python3-pmix" "python3-pmix is not installed"
fi

# -- tools ---------------------------------------------------------------------

troupe run --oversubscribe -n 3 ./control_calls waits >job.out 2>job.err \
  </dev/null &
launcher=$!
eventually 20 sh -c 'grep -c waits job.out | grep -qx 3'
# The launcher itself, by its process.
jobs=$(troupe jobs --dvm "pid:$launcher" --json)
nspace=$(sed -n 's/.*"nspace": "\(.*\)".*/\1/p' <<<"$jobs" | head -n 1)
ctl() {
  within $((20 * slow)) troupe ctl "$@" --dvm "pid:$launcher"
}
pids() {
  pgrep -P "$launcher" -f 'control_calls waits'
}

check_equal "J3 J15" "troupe ctl signal" "reached 1 process" \
  "$(ctl signal USR1 "$nspace:2" 2>&1)"
check "J15 79" "that rank has it" eventually 5 grep -qx 'rank 2 has 1' job.out
sleep 0.1
check_equal "J15 79" "and no other" 1 "$(grep -c has job.out)"

states() {
  local pid
  for pid in $(pids); do
    sed 's/.*) \(.\).*/\1/' "/proc/$pid/stat"
  done | sort | uniq -c | tr -s ' \n' ' '
}
check "J6" "troupe ctl pause" ctl pause "$nspace" --id stopped
used() {
  local pid total=0
  for pid in $(pids); do
    total=$((total + $(cpu_ns "$pid")))
  done
  echo "$total"
}
# Each of their threads stops on its own processor, in a moment.
still() {
  before=$(used)
  sleep 0.1
  [ "$(used)" = "$before" ]
}
eventually 1 still
check_equal "J6" "all three of them" 3 "$(pids | wc -l)"
sleep 0.3
check_equal "J6 81" "paused processes use no CPU time" "$before" "$(used)"
check "J7" "troupe ctl resume" ctl resume "$nspace"
runs_again() {
  [ "$(used)" -gt "$before" ]
}
check "J7 81" "and they go on" eventually 5 runs_again

check_match "J4" "an unknown job is refused, by name" \
  '^troupe ctl kill: .*no-such-job' "$(ctl kill no-such-job 2>&1)"
check "J4" "with status 1" status 1 ctl kill no-such-job
check "J3" "a mistake in the command line has status 2" \
  status 2 ctl signal NONE "$nspace"
check_match "J20" "requests are shown with what came of them" \
  '^stopped .* pause +done +PMIX_SUCCESS' "$(ctl status)"
ctl signal USR1 "$nspace:0" --id first >/dev/null
check_match "J5 J20 88" "by id and as JSON" '"id": "first"' \
  "$(ctl status first --json)"

# -- another user --------------------------------------------------------------

if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1; then
  # What another user runs has to be where another user may read.
  there=$(mktemp -d /tmp/troupe-ctl.XXXXXX)
  chmod 755 "$there"
  cp "$(command -v troupe)" "$there/"
  uri=$(tr '\0' '\n' <"/proc/$(pids | head -n 1)/environ" \
    | sed -n 's/^PMIX_SERVER_URI4[0-9]*=//p' | head -n 1)
  text=$(cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups \
    env -u TMPDIR HOME=/ timeout 20 "$there/troupe" ctl kill "$nspace" \
    --dvm "$uri" 2>&1)
  outcome=$?
  check_equal "J23 91" "another user's tool does not control" 1 "$outcome"
  check_match "J23 91" "and is told so" '^troupe ctl kill: .' "$text"
  check_match "J23 91" "the daemon says whom it refused" \
    "user $(id -u nobody) may not" "$(cat job.err)"
  check_equal "J23 91" "the job still runs" 3 "$(pids | wc -l)"
  rm -rf "$there"
else
  skip "J23 91" "another user's tool" "needs root and the user nobody"
fi

check "J9" "troupe ctl kill" ctl kill "$nspace"
gone() {
  ! pids
}
check "J9" "ends the job" eventually 10 gone
wait "$launcher"
check "J9" "of which the launcher tells" test $? -ne 0

clean "F5.20" "nothing is left of the jobs"
finish
