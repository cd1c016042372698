# What a daemon costs when nothing happens, or when it is asked for metrics.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/metrics_tools.sh"

build dies

# uses_nothing PID: in 10 s it wakes a few times, to see whether its files are there, on
# a thread that it makes for that; anything by the second would wake it oftener. What
# that takes differs by machine: 0.3 to 1.5 ms of CPU time, of threads that ended too.
# Sanitizers have threads of their own.
allowed_ns=5000000
allowed_wakes=8
[ "$slow" -eq 1 ] || { allowed_ns=200000000; allowed_wakes=1000; }
wakes() {
  awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum + 0 }' \
    "/proc/$1"/task/*/status
}
uses_nothing() {
  local ns woken
  woken=$(wakes "$1")
  ns=$(/usr/bin/python3 -c 'import sys, time
clock = ~int(sys.argv[1]) << 3 | 2  # The CPU clock of that process.
before = time.clock_gettime_ns(clock)
time.sleep(10)  # The time that is measured.
print(time.clock_gettime_ns(clock) - before)' "$1")
  woken=$(($(wakes "$1") - woken))
  echo "$ns ns, $woken wakes in 10 s"
  [ "$ns" -lt "$allowed_ns" ] && [ "$woken" -le "$allowed_wakes" ]
}

# at_rest PID: no thread of it runs or waits for a processor, and none has for a
# while: what belongs to the start is over.
at_rest() {
  local ns
  ns=$(cpu_ns "$1")
  sleep 0.5
  ! sed 's/.*) //' "/proc/$1"/task/*/stat | grep -q '^[RD]' \
    && [ "$(cpu_ns "$1")" -eq "$ns" ]
}

start_trouped
# One that never rests fails below.
eventually 10 at_rest "$trouped_pid"
check "F4.2" "an idle daemon uses no CPU time in 10 s" \
  uses_nothing "$trouped_pid"
sed 's/^/     /' "$TROUPE_WORK/output"
stop_trouped >/dev/null 2>&1

troupe run --oversubscribe -n 4 ./dies stays >there 2>&1 </dev/null &
launcher=$!
check "F4.3" "four clients connect" \
  eventually 20 sh -c "grep -c 'is there' there | grep -qx 4"
# Those that worked at the start; the time they took goes with them.
one_thread() {
  [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ]
}
[ "$slow" -ne 1 ] \
  || check "F4.3" "threads that nothing needs end" eventually 10 one_thread "$launcher"
eventually 10 at_rest "$launcher"
check "F4.3" "idle client sessions cost the server no CPU time in 10 s" \
  uses_nothing "$launcher"
sed 's/^/     /' "$TROUPE_WORK/output"
kill -TERM "$launcher"
wait "$launcher"

port=$(free_port)
start_trouped --metrics "127.0.0.1:$port"
scrape() { fetch "http://127.0.0.1:$port/metrics"; }
within "$((60 * slow))" troupe run --dvm "pid:$trouped_pid" --oversubscribe -n 2 true
# The first makes what those after it use.
check_match "OBS-1" "a daemon tells metrics" '^troupe_jobs_started_total 1$' "$(scrape)"
eventually 10 at_rest "$trouped_pid"
# In the time between two scrapes, and one of them.
cost() {
  local before used allowed=15000000
  [ "$slow" -eq 1 ] || allowed=1000000000
  before=$(cpu_ns "$trouped_pid")
  scrape >/dev/null
  sleep 15 # The time that is measured.
  used=$(($(cpu_ns "$trouped_pid") - before))
  echo "$used ns in 15 s"
  [ "$used" -lt "$allowed" ]
}
check "OBS-4" "a scrape every 15 s takes less than 0.1 % of a processor" cost
sed 's/^/     /' "$TROUPE_WORK/output"
stop_trouped >/dev/null 2>&1

clean "F5.20" "nothing is left"
finish
