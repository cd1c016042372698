# A DVM of three nodes on two networks: the commands, unmodified Open MPI and
# PMIx programs over all nodes, and nothing left at the end.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "O5 O15"
compile mpi_ring mpi_spawn mpi_abort fences requests publish events spawner \
  connects mpi_steady
lab 3 2
everybody=n1:4,n2:4,n3:4

# -- the commands --------------------------------------------------------------

check "O5" "a DVM of three nodes" dvm_up $everybody
dvm_is_ready || finish
for node in n1 n2 n3; do
  check "O5" "$node is in it" node_is_live "$node"
done
for node in n2 n3; do
  check "O5 O7" "lanes to $node on both networks" eventually 5 \
    lanes_are $node 1 yes 2 yes
done
for command in nodes jobs ps net; do
  check "O5" "$command as JSON" sh -c '
    "$1" exec n1 troupe "$2" --dvm lab --json | /usr/bin/python3 -c "
import json, sys
assert json.load(sys.stdin)[\"schema\"] == 1"' - "$netlab" "$command"
done
no_job() {
  in_dvm jobs --json
  [ "$(in_dvm jobs --json | tr -d ' \n')" = '{"jobs":[],"schema":1}' ] \
    && [ "$(in_dvm ps --json | tr -d ' \n')" = '{"processes":[],"schema":1}' ]
}
check "O18" "no job is known at first" no_job

# -- where processes run -------------------------------------------------------

hosts_of() {
  in_dvm run "$@" hostname | sort | uniq -c | awk '{ printf "%s%s*%d", sep, $2, $1; sep = " " }'
}
check_equal "O15" "a process on each node" "n1*1 n2*1 n3*1" \
  "$(hosts_of -n 3 --map-by node)"
check_equal "O15" "two per node" "n1*2 n2*2 n3*2" \
  "$(hosts_of -n 6 --map-by ppr:2:node)"
check_equal "O15" "by slot" "n1*4 n2*1" "$(hosts_of -n 5 --map-by slot)"
elsewhere() { in_dvm run -n 3 --map-by node "$@" sh -c "[ \$PMIX_RANK != 2 ] || { $script; }"; }
script=cat
check_equal "O5" "standard input goes to a process elsewhere" "to rank 2" \
  "$(echo "to rank 2" | elsewhere --stdin 2)"
script='echo on $(hostname) >&2; exit 7'
check_equal "O5" "standard error of a process elsewhere" "on n3" \
  "$(elsewhere 2>&1 >/dev/null </dev/null | head -n 1)"
check "O5" "and its status" status 7 elsewhere
check "O5" "more processes than slots are refused" \
  status 1 in_dvm run -n 13 true

# -- Open MPI ------------------------------------------------------------------

ring() {
  mesh_job -n "$1" ./mpi_ring | tee "$TROUPE_WORK/ring"
  grep -qx "size $1: hello right, ring right, allreduce right" \
    "$TROUPE_WORK/ring"
}
for n in 3 6 12; do
  check "O15 O6" "Open MPI: hello, ring and allreduce of $n processes" ring $n
done
mpi_spawned() {
  mesh_job -n "$1" ./mpi_spawn "$2" | tee "$TROUPE_WORK/spawn"
  grep -qx "$1 and $2 processes: answer $((41 + $2)), together $(($1 + $2))" \
    "$TROUPE_WORK/spawn"
}
check "O15" "Open MPI: 1 process spawns 3" mpi_spawned 1 3
check "O15" "Open MPI: 3 processes spawn 3" mpi_spawned 3 3
check "O15" "MPI_Abort ends all nodes' processes with its status" \
  status 17 mesh_job -n 6 ./mpi_abort 17
python=/usr/bin/python3
if "$python" -c 'import mpi4py' 2>/dev/null; then
  check "O15" "mpi4py over three nodes" \
    mesh_job -n 6 "$python" "$programs/mpi4py_program.py"
else
  skip "O15" "mpi4py over three nodes" "python3-mpi4py is not installed"
fi

# -- PMIx ----------------------------------------------------------------------

# cases PROGRAM N CASE...: cases of a program of tests/interop.
cases() {
  local program=$1 n=$2 name
  shift 2
  for name in "$@"; do
    check "O15 L7" "$program ${name//_/ } over three nodes" \
      mesh_job -n "$n" "./$program" "$name"
  done
}
cases fences 6 plain collect subsets
cases events 6 to_default targeted
cases publish 6 waits times_out unpublish
check "O15" "processes connect and end" mesh_job -n 6 ./connects

# -- jobs in a loop ------------------------------------------------------------

descriptors_of_daemons() {
  local node
  for node in n1 n2 n3; do
    [ -z "$(daemon $node)" ] || descriptors "$(daemon $node)"
  done
  descriptors "$(processes n1 troupe | head -n 1)"
}
loop() {
  local i
  for i in $(seq "$1"); do
    mesh_job -n 6 true || return 1
  done
}
check "O18" "a few jobs" loop 3
# The last launcher's connection may not be closed yet.
settled() {
  before=$(descriptors_of_daemons | tr '\n' ' ')
  sleep 0.2
  same_descriptors
}
same_descriptors() {
  [ "$(descriptors_of_daemons | tr '\n' ' ')" = "$before" ]
}
eventually 5 settled
check "O18" "30 jobs one after another" loop 30
check "O18" "no daemon has more descriptors open than before" \
  eventually 5 same_descriptors
check "O18" "no job is known any more" eventually 5 no_job
at_once() {
  local i outcome=0
  local -a pids=()
  for i in 1 2 3 4 5 6; do
    mesh_job -n 3 ./fences plain &
    pids+=($!)
  done
  for i in "${pids[@]}"; do
    wait "$i" || outcome=1
  done
  return $outcome
}
check "O18 O17" "six jobs at once" at_once

# -- several DVMs --------------------------------------------------------------

second() {
  background n1 troupe up --name second --host n1,n2 \
    --remote-shell "$netlab exec" >"$TROUPE_WORK/second" 2>&1
  eventually 30 grep -qx 'DVM ready' "$TROUPE_WORK/second" || {
    cat "$TROUPE_WORK/second"
    return 1
  }
  on n1 troupe run --dvm second -n 2 --map-by node hostname \
    && on n1 troupe down --dvm second
}
check "O18" "a second DVM of the same user beside it" second
check "O18" "which the first does not mind" mesh_job -n 3 true

# -- down ----------------------------------------------------------------------

check "O18" "down" dvm_down
check_equal "O18" "nothing on standard error" "" "$(cat "$TROUPE_WORK/dvm.err")"
check "O18" "nothing is left on any node" nothing_after 5 n1 n2 n3

# -- a DVM for one job ---------------------------------------------------------

temporary() {
  within 60 "$netlab" exec n1 troupe run --host $everybody \
    --remote-shell "$netlab exec" --map-by node -n 3 "$@"
}
check_equal "O5" "a temporary DVM" "n1 n2 n3" \
  "$(temporary hostname | sort | tr '\n' ' ' | sed 's/ $//')"
check "O15" "Open MPI in a temporary DVM" temporary ./mpi_ring
check "O18" "nothing is left of it" nothing_after 5 n1 n2 n3

# -- bad input -----------------------------------------------------------------

# refuses REGEX ARGUMENT...: `troupe up` ends in time, with 1 or 3 and a line.
refuses() {
  local regex=$1 outcome=0
  shift
  within 30 "$netlab" exec n1 troupe up --name bad \
    --remote-shell "$netlab exec" "$@" >"$TROUPE_WORK/bad" 2>&1 </dev/null \
    || outcome=$?
  echo "status $outcome"
  cat "$TROUPE_WORK/bad"
  { [ $outcome -eq 1 ] || [ $outcome -eq 3 ]; } \
    && grep -Eq -- "$regex" "$TROUPE_WORK/bad" \
    && [ "$(wc -l <"$TROUPE_WORK/bad")" -le 2 ]
}
check "L4" "a host that is not there" refuses 'n9' --host n1,n9
check "L4" "a host twice under two spellings" refuses 'n2' --host n1,n2,n2:bad
check "X48" "a range that is none" refuses 'n\[3-' --host 'n[3-'
check "L4" "a daemon that cannot be started" refuses 'no/such' \
  --host n1,n2 --launch-agent /no/such/trouped
check "L4" "no such network" refuses 'net7' --host n1,n2 --networks net7
check "O18" "nothing is left of those" nothing_after 10 n1 n2 n3
finish
