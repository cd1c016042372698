# Processes that end at any point: everything else ends in bounded time, the
# cause is reported, nothing is left.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies
bound=$((10 * slow))

# ends STATUS REGEX OPTION...: the job ends in time with that status and report.
ends() {
  local expected=$1 report=$2 start=$SECONDS outcome=0
  shift 2
  job -n 4 "$@" >"$TROUPE_WORK/report" 2>&1 </dev/null || outcome=$?
  cat "$TROUPE_WORK/report"
  echo "status $outcome after $((SECONDS - start)) s"
  [ "$outcome" -eq "$expected" ] && [ $((SECONDS - start)) -le "$bound" ] \
    && { [ -z "$report" ] || grep -Eq -- "$report" "$TROUPE_WORK/report"; }
}
killed='^troupe: rank 1 \([^ ]+, pid [0-9]+ on [^ ]+\) was killed by signal 9 \(SIGKILL'
unfinished='^troupe: rank 1 \([^ ]+, pid [0-9]+ on [^ ]+\) exited with status [03] without calling PMIx_Finalize'

# -- F6.12: killed -------------------------------------------------------------

for point in before_init after_init after_commit in_fence in_get in_lookup \
  in_connect after_finalize; do
  name=${point//_/ }
  check "F6.12" "killed $name" ends 137 "$killed" ./dies "$point"
  check "F6.12 F5.14" "killed $name, the others go on" \
    ends 137 "$killed" --rtos recoverable ./dies "$point"
done
check "F6.12 F4.21" "gets from a process that is killed end" \
  ends 137 "$killed" --rtos recoverable ./dies awaited
clean "F6.12 F5.20" "nothing is left of those that were killed"

# amid N: the others exit with 3 as soon as a fence fails, which it does as soon
# as the connection of the killed one breaks: before it can be reaped. Half of
# the rounds have all processors busy.
amid() {
  local i busy=()
  for ((i = 1; i <= $1; ++i)); do
    if [ "$i" -eq $(($1 / 2)) ]; then
      for _ in $(seq "$(nproc)") 1; do
        (while :; do :; done) &
        busy+=($!)
      done
    fi
    ends 137 "$killed" ./dies amid_fences >one || {
      cat one
      echo "in round $i of $1"
      break
    }
  done
  kill "${busy[@]}"
  wait "${busy[@]}" 2>/dev/null
  [ "$i" -gt "$1" ]
}
check "MND-A11 F6.12" "who is killed amid fences is the cause, 60 of 60 times" \
  amid 60
clean "MND-A11" "nothing is left of those"

# -- F6.13: exits without finalize ---------------------------------------------

check "F6.13" "status 0 without finalize is an error" \
  ends 1 "$unfinished" ./dies no_finalize
check "F6.13" "another status without finalize is that" \
  ends 3 "$unfinished" ./dies no_finalize_3
check "F6.13" "also where the others go on" \
  ends 1 "$unfinished" --rtos recoverable ./dies no_finalize
clean "F6.13 F5.20" "nothing is left of those that did not finalize"

# -- F6.14: never connects -----------------------------------------------------

check "F6.14" "status 0 without a connection while others wait" \
  ends 0 '' --rtos recoverable ./dies never_connects
check "F6.14" "the same where failures end the job" \
  ends 0 '' ./dies never_connects
check "F6.14" "a job of which nobody connects" status 0 job -n 4 true
check "F6.14 F5.7" "a process that neither connects nor ends meets the time-out" \
  status 124 job -n 2 --timeout 1 \
  sh -c 'test "$PMIX_RANK" = 0 && sleep 60; exec ./dies nobody'
clean "F6.14 F5.20" "nothing is left of those that never connected"

# -- in a daemon: descriptors and memory ---------------------------------------

build spawner
start_trouped
warm() {
  for point in after_init in_fence in_get no_finalize never_connects; do
    ./spawner "$trouped_uri" 1 4 "$PWD/dies" "$point" || return 1
  done
}
check "F6.12 F6.13 F6.14" "a daemon survives all of that" warm
before=$(descriptors "$trouped_pid")
memory=$(rss "$trouped_pid")
again() {
  for _ in 1 2 3 4; do warm || return 1; done
}
check "F6.12 F6.13 F6.14" "many times" again
same_descriptors() {
  echo "$before before, $(descriptors "$trouped_pid") after"
  [ "$(descriptors "$trouped_pid")" -le "$before" ]
}
check "F6.12 F6.13 F6.14" "and has no more descriptors open than before" \
  eventually 5 same_descriptors
check "F6.12 F6.13 F6.14" "nor grows by more than 2 MiB" \
  test "$(($(rss "$trouped_pid") - memory))" -lt $((slow == 1 ? 2048 : 65536))
stop_trouped >/dev/null 2>&1
clean "F5.20 F4.12" "nothing is left of the daemon"
finish
