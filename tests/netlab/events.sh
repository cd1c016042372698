# Events over nodes: all, once, and in one order at all receivers; deaths on other
# nodes; watching from another node.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "P-J1 P-J3 E45"
compile event_flow event_deaths events mpi_steady
lab 3 2
python=/usr/bin/python3

# flows PROCESSES EVENTS: a flood of one source.
flows() {
  mesh_job -n "$1" ./event_flow flood "$2" 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c 'all, once, in order' flow)" -eq $(($1 - 1)) ]
}

# agree PROCESSES EACH: all of them raise events, and hear those of the others.
agree() {
  rm -f heard.*
  mesh_job -n "$1" ./event_flow order "$2" \
    && "$python" "$programs/same_order.py" "$2" heard.*
}

# on_nodes N: a DVM of the first nodes, and what is the same for any number.
on_nodes() {
  local list=n1:4 i
  for ((i = 2; i <= $1; ++i)); do list+=,n$i:4; done
  need_dvm "$list"
  check "P-J1 P-J2 E8 E11 E12" "$1 nodes: 1,000 events of one source" \
    flows $((2 * $1)) 1000
  check "P-J1 P-J2 E8 E11 E12" "$1 nodes: 10,000 events of one source" \
    flows $((2 * $1)) 10000
  grep '^memory\|^raised' flow
  check "P-J3 P-J1 P-J2" "$1 nodes: every process raises 300, one order for all" \
    agree $((2 * $1)) 300
  check "E13 E46" "$1 nodes: a range reaches whom it names, and nobody else" \
    mesh_job -n 3 ./event_flow ranges
  check "E35" "$1 nodes: a default handler is the first registration" \
    mesh_job -n 3 ./event_flow first
  check "E3 E45" "$1 nodes: each end is told of once" status 137 \
    mesh_job --rtos recoverable -n 9 ./event_deaths deaths
}

on_nodes 2
check "E45" "a DVM of two nodes ends" dvm_down
on_nodes 3

# -- watching from another node ------------------------------------------------

watch() {
  : >watched
  background n3 troupe events watch --json --dvm "pid:$(daemon n3)" \
    >watched 2>watch_error
  watch_pid=$background_pid
  eventually 10 grep -q '"watching"' watched && return
  cat watched watch_error
  return 1
}
saw() { grep -c "$1" watched | grep -qx "$2"; }
comes() { eventually 10 saw "$@" || { cat watched watch_error; return 1; }; }
check "E45 E57" "watching at the third node" watch
check "E45 E57" "an event is sent at the first" within 20 "$netlab" exec n1 \
  troupe events send -3060 --dvm "$dvm_name"
check "E45 E57" "and watched at the third, once" comes '"code":-3060' 1
check "E3 E45" "a job with a process that is killed, elsewhere" status 137 \
  mesh_job --rtos recoverable -n 2 ./events killed
check "E3 E13" "is watched, too" comes 'PMIX_ERR_PROC_ABORTED_BY_SIG' 1

# -- a node is lost ------------------------------------------------------------

lost_at() {
  mesh_job --rtos recoverable -n 3 ./event_deaths bereaved >report 2>&1 &
  local job_pid=$!
  eventually 20 grep -q '^ready' report || { cat report; return 1; }
  kill -9 "$(daemon n2)"
  wait "$job_pid"
  cat report
  [ "$(grep -c 'heard of 1 once' report)" -eq 2 ]
}
check "E3 E45 211" "the processes of a node that is lost are told of once" lost_at
check "E48 E45" "whoever watches hears of the node" comes 'PMIX_E[A-Z]*_NODE_DOWN' 1
dvm_down >/dev/null 2>&1
finish
