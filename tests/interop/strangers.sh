# Processes of the same user that are none of the job's, messages that nobody
# finishes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

strangers=$programs/strangers.py

# start_job COMMAND...: in the background; sets server, port, nspace.
start_job() {
  rm -f place
  troupe run -n 1 "$@" >job.out 2>job.log </dev/null &
  server=$!
  eventually 20 test -s place || {
    failed "" "a job starts"
    cat job.log
    finish
  }
  read -r port nspace server_name <place
}
tell='uri=$PMIX_SERVER_URI41; name=${uri%%;*}
  echo "${uri##*:} $PMIX_NAMESPACE ${name%.*}" >new; mv new place'

# connect KIND NAME RANK: prints how many of one are served.
connect() {
  within 30 /usr/bin/python3 "$strangers" connect "$port" "$1" 1 "$2" "$3"
}
is_served() { connect "$@" | grep -q '^1 of 1'; }
is_refused() { connect "$@" | grep -q '^0 of 1'; }

# -- who is rank 0 -------------------------------------------------------------

start_job sh -c "$tell; exec sleep 60"
check "MND-A9 X12" "a stranger of the same user is not rank 0" \
  is_refused lost "$nspace" 0
check_match "MND-A9 X12" "the log has the reason" \
  "refused: $nspace:0 was started as process [0-9]+, and this is neither that one" \
  "$(cat job.log)"
check "MND-A9 X12" "nor is a tool of that name" is_refused named "$nspace" 0
check "MND-A9" "a tool is no other rank of the job" is_refused named "$nspace" 7
check "MND-A9" "nor the server" is_refused named "$server_name" 0
check "MND-A9" "nor a scheduler" is_refused scheduler scheduler 0
check "MND-A9" "nor a job that is still to come" \
  is_refused named "$server_name@7" 0
check "MND-A9" "a name of its own it may have" is_served named "my-own-tool" 0
check_equal "MND-A9" "another tool may not have it as long as it is connected" \
  "1 of 2 served" "$(within 30 /usr/bin/python3 "$strangers" twice "$port" my-own-tool 0)"
check_equal "MND-A9" "but at once when it has closed its connection" \
  "50 of 50 served" \
  "$(within 30 /usr/bin/python3 "$strangers" connect "$port" named 50 my-own-tool 0)"
check "MND-A9" "the job goes on" kill -0 "$server"
kill -TERM "$server"
wait "$server" 2>/dev/null

# The first of many speaks as the last before that one is started.
early='exec /usr/bin/python3 "$0" early "${PMIX_SERVER_URI41##*:}" 1 "$PMIX_NAMESPACE" 300'
within 60 troupe run --oversubscribe -n 1 sh -c "$early" "$strangers" \
  : -n 300 sleep 1 >early.out 2>early.log
check_match "MND-A9 X12" "a stranger is no rank that is yet to be started" \
  '^refused [0-9]+ times' "$(cat early.out)"
check_match "MND-A9 X12" "the log has the reason" \
  'no process of this node has been started as .*:300, or it has ended' \
  "$(cat early.log)"

# what WRAPPER...: a process of the job that has been started by others is
# served: it is rank 0's own.
through() {
  local outcome=0
  rm -f done
  within 60 troupe run -n 1 "$@" >through.out 2>through.log || outcome=$?
  cat through.out through.log
  [ "$outcome" -eq 0 ] && grep -q '^1 of 1 served' through.out done 2>/dev/null
}
cat >speaks.sh <<SH
exec /usr/bin/python3 "$strangers" connect "\${PMIX_SERVER_URI41##*:}" "\${1:-finalized}" 1
SH
check "MND-A9" "the process itself is served" through sh speaks.sh
check "MND-A9 MND-A15" "so is one with many descriptors" \
  through bash -c 'for i in {10..400}; do eval "exec $i</dev/null"; done; . speaks.sh'
check "MND-A9" "so is what a script starts" through sh -c 'sh speaks.sh; exit'
check "MND-A9" "and what that starts in turn" \
  through sh -c 'bash -c "sh speaks.sh; exit"; exit'
check "MND-A9" "and one whose parent has ended, in a session of its own" \
  through sh -c '(setsid sh speaks.sh >new & ); until grep -q served new; do
    sleep 0.1; done; mv new done'
for wrapper in "setsid --wait" nohup "timeout 50" "numactl --localalloc" \
  "strace -f -o /dev/null" "valgrind -q --trace-children=yes" \
  "gdb -q -batch -ex run --args" "unshare -Urpf --mount-proc"; do
  # shellcheck disable=SC2086
  if ! command -v "${wrapper%% *}" >/dev/null; then
    skip "MND-A9" "what ${wrapper%% *} runs" "it is not installed"
  elif ! $wrapper /bin/true </dev/null >/dev/null 2>&1; then
    skip "MND-A9" "what ${wrapper%% *} runs" "it does not run here"
  else
    check "MND-A9" "and what ${wrapper%% *} runs" \
      through $wrapper /bin/bash "$PWD/speaks.sh"
  fi
done

# -- messages that nobody finishes ----------------------------------------------

# Below a shell, that is not stopped.
cat >stops.sh <<SH
exec >stops.out
/usr/bin/python3 "$strangers" stopped "\${PMIX_SERVER_URI41##*:}" &
echo "\$!" >stopped_pid
wait
SH
troupe run -n 1 sh stops.sh 2>stops.log </dev/null &
stops=$!
is_stopped() { grep -q '^State:.T' "/proc/$(cat stopped_pid)/status"; }
check "MND-A6" "a process is stopped within a message" eventually 20 is_stopped
began=$SECONDS

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A6" "half messages" "a sanitizer's memory is not counted"
else
  cat >halves.sh <<SH
$tell
exec /usr/bin/python3 "$strangers" halves "\${PMIX_SERVER_URI41##*:}" 8 33554431
SH
  start_job sh halves.sh
  first=$(rss "$server")
  largest=$first
  is_cut_off() {
    local now
    now=$(rss "$server")
    [ "${now:-0}" -le "$largest" ] || largest=$now
    grep -q 'not whole within 30000 ms' job.log
  }
  eventually 45 is_cut_off
  grown=$(((largest - first) >> 10))
  echo "$grown MiB more at most"
  check "MND-A6" "eight messages of 32 MiB of which a byte is missing take 128 MiB at most" \
    test "$grown" -lt 128
  check_match "MND-A6" "each has half a minute" \
    'served as .*a message was not whole within 30000 ms' "$(cat job.log)"
  kill -TERM "$server"
  wait "$server" 2>/dev/null
fi
late() { [ "$((SECONDS - began))" -gt 33 ] || grep -q 'not whole' stops.log; }
eventually 40 late
kill -CONT "$(cat stopped_pid)"
wait "$stops"
check_equal "MND-A6" "it may end the message when it goes on" answered \
  "$(cat stops.out)"
clean "MND-A6 MND-A9" "nothing is left"
finish
