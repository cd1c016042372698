# Daemons and nodes that die, stop or are cut off: what the others hear, and what becomes
# of the processes. How soon the others hear of it is measured by loss_times.sh.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "L8 P-C2 P-M1"
compile survives steady fences
lab 3 2
limit=90
# The time of guarantees 1 and what a machine with two processors adds.
fence=$((36 * slow))

fresh_dvm() {
  dvm_down >/dev/null 2>&1
  local node pid
  for node in n1 n2 n3; do
    for pid in $(processes $node); do
      kill -9 "$pid" 2>/dev/null
      kill -CONT "$pid" 2>/dev/null
    done
    "$netlab" heal $node all
  done
  rm -f "$TROUPE_WORK/struck"
  need_dvm n1:4,n2:4,n3:4 "$@"
}

# lost NODE: waits until the DVM says so.
lost() { eventually 15 node_is_lost "$1" || { in_dvm nodes; return 1; }; }

# started N OPTION...: a job of `survives` on all nodes; waits until it is ready.
started() {
  : >"$TROUPE_WORK/job"
  mesh_job "$@" >"$TROUPE_WORK/job" 2>&1 &
  job_pid=$!
  eventually 30 grep -qx ready "$TROUPE_WORK/job" && return
  cat "$TROUPE_WORK/job"
  return 1
}

strike() {
  touch "$TROUPE_WORK/struck"
  struck=$(seconds_now)
  "$@"
}

# told RANK OF...: that process has heard of each of these once.
told() {
  local rank=$1 other times
  shift
  for other in "$@"; do
    times=$(grep -c "^rank $rank: event .*:$other\$" "$TROUPE_WORK/job")
    [ "$times" -eq 1 ] || { echo "rank $rank heard $times times of $other"; return 1; }
  done
}

# job_over SECONDS: the job ends within that time; its status is job_status.
job_over() {
  eventually "$1" ended $job_pid || { cat "$TROUPE_WORK/job"; return 1; }
  wait $job_pid
  job_status=$?
  echo "status $job_status after $(since "$struck") s"
}

show() { sed 's/^/     | /' "$TROUPE_WORK/job"; }

# -- a daemon is killed: idle --------------------------------------------------

fresh_dvm
strike kill -9 "$(daemon n2)"
check "L8" "a daemon is killed while idle: noticed" lost n2
check "L8 L5" "the others are live" node_is_live n3
check "L8" "jobs run on the others" mesh_job -n 2 hostname
check "L8" "and its slots are gone" status 1 in_dvm run -n 9 --map-by node true
check "P-M1" "nothing runs on its node" eventually 5 no_process_on n2

# -- ... during a fence of a job that goes on ----------------------------------

fresh_dvm
started -n 3 --rtos recoverable ./survives in_fence 1
strike kill -9 "$(daemon n2)"
check "P-C2" "a daemon is killed during a fence: the job ends" job_over 30
show
check "P-C2" "the fence ends at each survivor" test \
  "$(grep -Ec '^rank [02]: fence .* after' "$TROUPE_WORK/job")" -eq 2
check_equal "P-C2" "with the same outcome" 1 \
  "$(sed -n 's/^rank [02]: fence \([A-Z_-]*\) .*/\1/p' "$TROUPE_WORK/job" \
    | sort -u | wc -l)"
check "L8" "rank 0 hears of the lost process once" told 0 1
check "L8" "rank 2 hears of the lost process once" told 2 1
check "P-C2" "the survivors meet" test \
  "$(grep -c 'the others met' "$TROUPE_WORK/job")" -eq 2
check "P-M1" "nothing runs on its node" eventually 5 no_process_on n2

# -- ... of a job that does not go on ------------------------------------------

fresh_dvm
started -n 3 ./survives in_fence 1
strike kill -9 "$(daemon n2)"
check "P-C2" "a job that does not go on without: it ends" job_over 30
show
check "P-C2" "with an error" test "$job_status" -ne 0
check_match "L8" "and the name of the node" 'n2' "$(cat "$TROUPE_WORK/job")"
idle_nodes() { [ -z "$(processes n3 survives)$(processes n2 survives)" ]; }
check "P-M1" "no process of it is left" eventually 5 idle_nodes

# -- ... during launches -------------------------------------------------------

fresh_dvm
for delay in 0 0.05; do
  mesh_job -n 30 sleep 0.2 >"$TROUPE_WORK/job" 2>&1 &
  job_pid=$!
  sleep "$delay"
  strike kill -9 "$(daemon n3)"
  check "P-C2 O18" "a daemon is killed $delay s after a launch: the job ends" \
    job_over 30
  check "O18" "and the next one runs" in_dvm run -n 2 --map-by node true
  fresh_dvm
done

# -- a daemon that stops for less than the limit -------------------------------

mesh_job -n 3 ./steady 8 "$TROUPE_WORK/stop" >"$TROUPE_WORK/job" 2>&1 &
job_pid=$!
sleep 2
stopped=$(daemon n2)
strike kill -STOP "$stopped"
sleep 3
kill -CONT "$stopped"
check "MEM-4 L5" "a daemon stops for 3 s: the job ends" job_over 30
check_equal "MEM-4 L5" "with success" 0 "$job_status"
tail -n 1 "$TROUPE_WORK/job" | sed 's/^/     | /'
check "MEM-4 L5" "nobody is lost" node_is_live n2

# -- ... and for more ----------------------------------------------------------

started -n 3 --rtos recoverable ./survives waits 1
stopped=$(daemon n2)
strike kill -STOP "$stopped"
check "L8" "a daemon stops for longer: noticed" lost n2
check "L8 P-C2" "the job goes on without" job_over 30
show
kill -CONT "$stopped"
check "P-M1 MEM-3 X42" "on waking it ends its processes and itself" nothing_after 10 n2

# -- cut off and back ----------------------------------------------------------

fresh_dvm
mesh_job -n 3 ./steady 8 "$TROUPE_WORK/stop2" >"$TROUPE_WORK/job" 2>&1 &
job_pid=$!
sleep 2
strike "$netlab" part all n3
sleep 3
"$netlab" heal n3 all
check "P-M1 L5" "cut off for 3 s: the job ends" job_over 30
check_equal "P-M1 L5" "with success" 0 "$job_status"
check "L5" "nobody is lost" node_is_live n3

started -n 3 --rtos recoverable ./survives waits 2
strike "$netlab" part all n3
check "L8" "cut off for longer: noticed" lost n3
"$netlab" heal n3 all
check "P-M1 MEM-3" "once back it ends what runs there" nothing_after 15 n3
echo "     after $(since "$struck") s"
check "P-M1 P-C2" "the job goes on without" job_over 30

# -- two daemons at once -------------------------------------------------------

fresh_dvm
started -n 3 --rtos recoverable ./survives waits 1 2
two() { kill -9 "$(daemon n2)" "$(daemon n3)"; }
strike two
check "L8 P-C2" "two daemons at once: the job goes on" job_over 30
show
check "L8" "rank 0 hears of both once" told 0 1 2

# -- a node without any network, and the root -----------------------------------

# One wait for both: each ends what it runs when its lease is over.
fresh_dvm
started -n 3 --rtos recoverable ./survives waits 2
strike "$netlab" silence n3 all
silenced=$struck
check "L8 L5 O13" "a node out of reach, in silence: noticed" lost n3
check "L8 P-C2 O13" "the job goes on without" job_over 30
show
check "L8" "rank 0 hears of the lost process once" told 0 2

mesh_job -n 2 sleep 300 >"$TROUPE_WORK/job" 2>&1 &
job_pid=$!
on_both() { [ -n "$(processes n1 sleep)" ] && [ -n "$(processes n2 sleep)" ]; }
check "L8" "a job on the nodes that are left" eventually 10 on_both
# What was started is the root itself: the remote shell becomes its command.
strike kill -9 "$dvm_root"
check "P-M1" "the node out of reach ends what runs there" nothing_after "$fence" n3
echo "     after $(since "$silenced") s"
check "L8 P-M1" "the root is killed: nothing is left on other nodes" \
  nothing_after "$fence" n2
echo "     after $(since "$struck") s"
check "L8" "the tool that waits for a job ends" job_over 10
finish
