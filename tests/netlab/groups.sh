# Groups over three nodes: the same as on one, a node that is lost in the middle,
# networks that fail during constructs.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "G13 G55 GRP-3"
compile groups group_names group_ends group_nodes
limit=20
lab 3 2
need_dvm n1:16,n2:16,n3:16

check "G1 G3 G4 G13 G55 G60 121 123 130 131 133" \
  "3 nodes: sizes, orders, ranks of members, context identifiers" \
  mesh_job -n 4 ./groups basics
check "G9 G15 G57 G61 122 124 127" "3 nodes: what is wrong is refused at all" \
  mesh_job -n 3 ./groups refused
check "G14 G16 G55 126 133" "3 nodes: 32 at once over the same processes" \
  mesh_job -n 6 ./groups together
check "G7 G8 129" "3 nodes: names of groups in all calls" \
  mesh_job -n 3 ./group_names calls
check "G6 G26 G60 132" "3 nodes: what members have posted, right after construct" \
  mesh_job -n 6 ./groups data
check "G3 G16 128" "3 nodes: a name again, and twice at once" \
  mesh_job -n 4 ./groups reuse
check "G1 G5 G10 121 173" "3 nodes: a group of two jobs" \
  mesh_job -n 1 ./groups spawned

dies() {
  rm -f board
  mesh_job --rtos recoverable -n 26 ./group_ends deaths >report 2>&1
  cat report
  [ "$(grep -c ': 24 deaths, the longest took' report)" -eq 2 ]
}
check "G11 G18 G19 G23 G31 G57 G58 134 135 136 140 141 142" \
  "3 nodes: members end in all ways at all times" dies
grep 'the longest took' report
check "G12 G18 G20 G56 138 139 140 170" \
  "3 nodes: members that live and never call" mesh_job -n 3 ./group_ends silent
check "G11 G25 G52 167 169" "3 nodes: one after another leaves" \
  mesh_job -n 3 ./group_ends leave
check "G53 168" "3 nodes: ... while the others are in a fence" \
  mesh_job -n 3 ./group_ends fence

# -- networks fail -------------------------------------------------------------

# cuts: each of two networks of a node, one after the other.
cuts() {
  local net outcome
  rm -f ready
  mesh_job -n 6 ./group_nodes steady 2 >report 2>&1 &
  local job_pid=$!
  eventually 10 test -f ready || { cat report; return 1; }
  for net in 1 2; do
    "$netlab" cut n2 "$net"
    sleep 0.4
    "$netlab" heal n2 "$net"
    sleep 0.4
  done
  wait "$job_pid"
  outcome=$?
  cat report
  return "$outcome"
}
check "G13 G55 GRP-3 137" "networks fail and come back, and no construct does" cuts
grep 'in turn' report

# -- a node is lost ------------------------------------------------------------

lost() {
  rm -f ready
  mesh_job --rtos recoverable -n 6 ./group_nodes lost >report 2>&1 &
  local job_pid=$!
  eventually 10 test -f ready || { cat report; return 1; }
  kill -9 "$(daemon n2)"
  wait "$job_pid"
  cat report
  [ "$(grep -c 'goes on without the node' report)" -eq 4 ]
}
check "G18 G19 G23 G31 G57 G58 GRP-3 137 141" \
  "a node is lost while groups are constructed, and between" lost
grep 'goes on' report
dvm_down >/dev/null 2>&1
check "G3" "nothing is left" nothing_after 10 n1
finish
