# Faults around the streams of jobs: launchers, readers and sources that stop or
# are killed, processes that end at once or leave their streams to children, too
# few descriptors. Two daemons, both on this machine.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

most_kib=65536
size=52428800
# Longer than the time after which a node that is silent is lost.
pause=7
"$TROUPE_CC" -std=gnu11 -O1 -Wall -o io_bytes \
  "$TROUPE_SOURCE/tests/netlab/programs/io_bytes.c" \
  || { failed "" "compiling io_bytes.c"; finish; }
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
troupe up --name faults --remote-shell "$PWD/here.sh" --host a:4,b:4 \
  >up 2>up.err </dev/null &
dvm=$!
if ! eventually 30 grep -qx "DVM ready" up; then
  cat up.err
  failed "I18" "a DVM of three daemons"
  finish
fi

tool() { within "$((60 * slow))" troupe "$@"; }
run() { tool run --oversubscribe "$@"; }
at_least() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
daemons() {
  local pid
  for pid in $(marked_processes); do
    case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
      troupe\ up* | *trouped*) echo "$pid" ;;
    esac
  done
}
# peak: the largest resident memory of the daemons, in KiB.
peak() {
  local pid
  for pid in $(daemons); do
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"
  done | sort -n | tail -n 1
}
descriptors() {
  local pid
  for pid in $(daemons); do ls "/proc/$pid/fd"; done | wc -l
}

# -- launchers -----------------------------------------------------------------

# stopped [OPTION]...: the launcher is stopped in the middle, and goes on.
stopped() {
  rm -f out
  troupe run "$@" -n 2 ./io_bytes write $size 1 >out 2>err &
  local launcher=$!
  eventually 10 at_least out 100000 || { cat err; return 1; }
  kill -STOP $launcher
  sleep $pause
  kill -CONT $launcher
  wait $launcher || { cat err; return 1; }
  ./io_bytes check $size <out
}
check "I18 IO-1 X24" "the launcher of a job in a DVM is stopped for $pause s" \
  stopped --dvm faults
check "I18 IO-1 X24" "the launcher of a job of its own is stopped for $pause s" \
  stopped
# killed SIGNAL: the launcher gets a signal and is killed; its processes end.
killed() {
  rm -f out pid.0 pid.1
  troupe run --dvm faults -n 2 sh -c 'echo $$ >pid.$PMIX_RANK
    exec ./io_bytes write 100000000000' >out 2>err &
  local launcher=$!
  eventually 10 at_least out 100000 || { cat err; return 1; }
  kill "-$1" $launcher
  sleep 0.5
  kill -KILL $launcher 2>/dev/null
  wait $launcher 2>/dev/null
  eventually 10 sh -c '! kill -0 $(cat pid.0) && ! kill -0 $(cat pid.1)'
}
check "I17 I18" "the launcher is killed: its job ends" killed KILL
check "I17 I18" "the launcher is stopped, then killed: its job ends" killed STOP
# unread [OPTION]...: a launcher without any standard stream.
unread() {
  run "$@" -n 2 sh -c 'cat; echo x; echo y >&2; exit 3' <&- >&- 2>&-
  [ $? = 3 ]
}
check "I18" "a launcher without standard streams, in a DVM" unread --dvm faults
check "I18" "a launcher without standard streams" unread

# -- sources -------------------------------------------------------------------

name_of() { sed -n 's/^troupe: job \([^:]*\): .*/\1/p' "$1" | head -n 1; }
./io_bytes write $size >input
mkfifo hold
exec 8<>hold
# more_is_given: whether the process has been given more of its input than `before`.
more_is_given() {
  given=$(tool io offsets --dvm faults "$job:1" | sed -n 's/.* stdin \([0-9]*\) .*/\1/p')
  given=${given:-0}
  [ "$given" -gt "$before" ]
}
resumed() {
  troupe run --dvm faults --display map -n 2 --stdin 1 sh -c '
    [ $PMIX_RANK = 1 ] || exit 0
    exec ./io_bytes check '$size >out 2>err <hold &
  local launcher=$! job source before=0 given moved=0 i
  eventually 10 grep -q '^troupe: job' err || return 1
  job=$(name_of err)
  for i in 1 2 3 4; do
    # Its end does not come before it is killed.
    { cat input; exec sleep 10; } \
      | troupe attach --dvm faults -i --resume-input "$job:1" >/dev/null 2>&1 &
    source=$!
    # The first one until something has come of it.
    [ $i -ne 1 ] || eventually 5 more_is_given
    sleep 0.3
    kill -KILL $source
    wait $source 2>/dev/null
    ! more_is_given || moved=1
    before=$given
  done
  tool attach --dvm faults -i --resume-input "$job:1" <input >/dev/null || return 1
  wait $launcher
  cat out
  grep -qx "$size bytes of $size, exact" out && [ $moved = 1 ]
}
check "I9 195" "sources of input are killed in the middle: each byte arrives once" \
  resumed
exec 8<&-

# -- processes -----------------------------------------------------------------

# at_once [OPTION]...: many write and end at the same time.
at_once() {
  run "$@" -n 200 sh -c 'i=0; while [ $i -lt 20 ]; do
    echo "$PMIX_RANK $i and forty more bytes, so that they fill a pipe"
    i=$((i + 1)); done' >out || return 1
  [ "$(wc -l <out)" = 4000 ] && [ "$(sort -u out | wc -l)" = 4000 ]
}
check "IO-4 206" "200 processes write and end at once, in a DVM" at_once --dvm faults
check "IO-4 206" "200 processes write and end at once" at_once
# together [OPTION]...: many write more than is kept when nobody reads.
together() {
  [ "$(run "$@" -n 200 head -c 300000 /dev/zero | wc -c)" = 60000000 ]
}
check "IO-1 IO-4" "60 MB of 200 processes at once, in a DVM" together --dvm faults
check "IO-1 IO-4" "60 MB of 200 processes at once" together
closes() {
  [ "$(run "$@" -n 1 sh -c 'echo out; exec >&-; sleep 0.3; echo late >&2' 2>&1 \
    | xargs)" = "out late" ]
}
check "IO-3" "a process closes its output and runs on" closes --dvm faults
check_equal "IO-4" "children write on as long as the job runs" 1000006 \
  "$(run --dvm faults -n 2 sh -c '
    if [ $PMIX_RANK = 1 ]; then until [ -e all ]; do sleep 0.02; done; sleep 2; exit; fi
    { seq 1 1000000; sleep 0.3; echo x; : >all; } & seq 1 5' | wc -l)"
# floods [OPTION]...: a child that never ends to write does not hold up the job.
floods() {
  run "$@" -n 1 sh -c 'while :; do echo spam; done & echo first; exit 5' >out
  [ $? = 5 ] && grep -qx first out
}
check "IO-4" "a child that never ends to write does not keep the job, in a DVM" \
  floods --dvm faults
check "IO-4" "a child that never ends to write does not keep the job" floods

# -- what there is little of -----------------------------------------------------

# few NUMBER: a launcher that may open so many files says why it cannot.
few() {
  local outcome
  (ulimit -n "$1" && exec timeout 30 troupe run -n 1 echo x) >out 2>&1
  outcome=$?
  cat out
  [ $outcome = 125 ] && [ "$(wc -l <out)" = 1 ] && grep -q "ulimit -n) is $1," out
}
check "I18" "too few descriptors for a launcher" few 20
enough() {
  (ulimit -n 64 && run -n 40 echo x) >out 2>&1
  local outcome=$?
  cat out
  # All or nothing: who has no pipes is told.
  [ $outcome = 0 ] && [ "$(grep -cx x out)" = 40 ] \
    || { [ $outcome != 0 ] && grep -q 'ulimit -n' out; }
}
check "I18" "too few descriptors for all processes" enough

short() {
  run --dvm faults -n 2 sh -c 'echo x; head -c 100000 /dev/zero >&2' 2>err >out \
    && [ "$(wc -c <err)" = 200000 ] && [ "$(xargs <out)" = "x x" ]
}
# at_most NUMBER: so many descriptors are open; what a job had is given back behind
# its end. Sets after.
at_most() {
  after=$(descriptors)
  [ "$after" -le "$1" ]
}
many() {
  local i before after outcome=0
  for i in $(seq 20); do short || return 1; done
  before=$(descriptors)
  for i in $(seq 60); do short || return 1; done
  eventually 5 at_most $((before + 2)) || outcome=1
  echo "$before descriptors before, $after after; $(peak) KiB"
  return "$outcome"
}
check "I17 LIM14" "many short jobs: no descriptor stays" many
cat "$TROUPE_WORK/output"
memory=$(peak)
echo "     most memory of a daemon: $memory KiB"
check "LIM14 193" "in less than 64 MB" test "$memory" -lt $most_kib

tool down --dvm faults >/dev/null 2>&1
wait "$dvm"
clean "I17" "nothing is left"
finish
