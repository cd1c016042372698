# A link of one node goes down, and a node is lost: the nodes hear of it whose
# processes have registered, and no others.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "E4 E45 E48"
compile environment
lab 4 3
# The third network carries no lanes: it may go without harm.
need_dvm n1:4,n2:4,n3:4,n4:4 --networks net1,net2 --sensor link=net3

# start [OPTION]... PROGRAM...: starts a job and waits until it is ready.
start() {
  : >"$TROUPE_WORK/out"
  mesh_job "$@" >"$TROUPE_WORK/out" 2>"$TROUPE_WORK/err" &
  job_pid=$!
  eventually 30 grep -qx ready "$TROUPE_WORK/out" && return
  sed 's/^/     | /' "$TROUPE_WORK/out" "$TROUPE_WORK/err"
  return 1
}

# over: waits for the end of the job; what it said is in `said`.
over() {
  local outcome=0
  wait "$job_pid" || outcome=$?
  said=$(grep -v '^ready$' "$TROUPE_WORK/out")
  [ "$outcome" -eq 0 ] || sed 's/^/     | /' "$TROUPE_WORK/out" "$TROUPE_WORK/err"
  return "$outcome"
}

heard() { [ "$(grep -c "^$1: " "$TROUPE_WORK/out")" -ge "$2" ]; }

# A process on n4 listens; the link is that of n2.
if start -n 4 ./environment hears 3 2 -32236 -32237; then
  from=$(seconds_now)
  "$netlab" unplug n2 3
  eventually 10 heard 3 1
  echo "     heard of another node's link after $(since "$from") s"
  "$netlab" heal n2 3
fi
check "E4 E48" "a process hears of a link of another node, the others nothing" over
check_match "E48" "that it went" "^3: -32236 .*device=net3" "$said"
check_match "E48" "that it came back" "^3: -32237 .*device=net3" "$said"
check_equal "E48" "and each names the node" 2 \
  "$(grep -c 'host=n2 .*node=1' <<<"$said")"

# The link of the node itself, and of the root's.
if start -n 4 ./environment hears 1 2 -32236; then
  "$netlab" unplug n2 3
  eventually 10 heard 1 1
  "$netlab" unplug n1 3
fi
check "E48" "a process hears of its own node's link and of the root's" over
"$netlab" heal n2 3
"$netlab" heal n1 3

# n4 is lost while a job that has nothing on it listens.
if start -n 3 ./environment hears 1 1 -231; then
  kill -9 "$(daemon n4)"
fi
check "E45" "a process hears once that another node is lost" over
check_match "E45" "and which one" "^1: -231 .*host=n4 .*node=3" "$said"

check "O18" "down" dvm_down
check "O18" "nothing is left on the other nodes" nothing_after 15 n1 n2 n3
finish
