# What a daemon costs when nothing happens.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies

# uses_nothing PID: less than 1 ms of CPU time in 10 s, of threads that ended too:
# these show in ticks of 10 ms alone, of which one may be full by now. Sanitizers
# have threads of their own.
allowed_ns=1000000
[ "$slow" -eq 1 ] || allowed_ns=200000000
uses_nothing() {
  local ns ticks
  ns=$(cpu_ns "$1")
  ticks=$(cpu_ticks "$1")
  sleep 10 # The time that is measured.
  ns=$(($(cpu_ns "$1") - ns))
  ticks=$(($(cpu_ticks "$1") - ticks))
  echo "$ns ns, $ticks ticks in 10 s"
  [ "$ns" -lt "$allowed_ns" ] && [ "$ticks" -le $((1 + allowed_ns / 10000000)) ]
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

clean "F5.20" "nothing is left"
finish
