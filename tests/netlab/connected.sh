# Jobs on several nodes that are connected, and process sets.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "G2"
compile connected process_sets
lab 3
need_dvm n1:2,n2:2,n3:4

# The dead one gives the launcher its status; the others check and end well.
with_dead() {
  status 137 mesh_job "$@" || return 1
  ! grep -qF 'connected.c' "$TROUPE_WORK/output"
}
check "G2 74" "3 nodes: all that are connected hear of a death once" \
  with_dead -n 3 --rtos recoverable ./connected survives
check "G2" "3 nodes: a death ends the jobs that are connected" \
  status 137 mesh_job -n 3 ./connected ends
check "G2" "3 nodes: a death after they have disconnected ends no other job" \
  with_dead -n 3 ./connected parts
check "G2" "3 nodes: who finalizes without disconnecting is reported" \
  mesh_job -n 3 ./connected finalizes
check "F4.27" "3 nodes: process sets are known on all nodes" \
  mesh_job -n 2 --pset ocean ./process_sets sets ocean \
  : -n 3 --pset ice ./process_sets sets ice

bereaved() {
  mesh_job --host n1,n2 -n 2 --rtos recoverable ./connected bereaved >report 2>&1 &
  local job_pid=$!
  eventually 20 test -f connected.ready || { cat report; return 1; }
  kill -9 "$(daemon n3)"
  wait "$job_pid"
  cat report
  ! grep -qF 'connected.c' report
}
check "G2 P-J3" "3 nodes: the loss of a node is reported to all that are connected" \
  bereaved

dvm_down >/dev/null 2>&1
check "G2" "nothing is left" nothing_after 10 n1 n2
finish
