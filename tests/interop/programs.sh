# Programs of other people run as well as under mpirun: processes know their
# place, and that their node is oversubscribed; Open MPI needs no sign of a
# resource manager that is not there. How fast they are is in bench/README.md.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build place_told mpi_ring
limit=60
cores=$(nproc)
unset OMPI_MCA_mpi_oversubscribe MPIR_CVAR_POLLS_BEFORE_YIELD FLUX_JOB_ID

# told PROCS OPTION... -- EXPECTED: all processes of a job say EXPECTED.
told() {
  local options=() procs=$1
  shift
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  job -n "$procs" "${options[@]}" ./place_told | tee "$TROUPE_WORK/told"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c ": $2\$" "$TROUPE_WORK/told")" -eq "$procs" ]
}

# -- RUN-1: oversubscribed -----------------------------------------------------

check "RUN-1 RUN-2" "a node with a processor for each process is not oversubscribed" \
  told "$cores" -- "free, yields no"
check "RUN-1 RUN-2" "one with more processes than processors is" \
  told "$((cores + 1))" -- "oversubscribed, yields yes"
check_equal "RUN-1" "what the user sets goes before it" "0 1" \
  "$(OMPI_MCA_mpi_oversubscribe=0 job -n "$((cores + 1))" sh -c \
    'echo $OMPI_MCA_mpi_oversubscribe $MPIR_CVAR_POLLS_BEFORE_YIELD' | sort -u)"
check_equal "RUN-1" "what mpirun tells its own processes does not" "1" \
  "$(OMPI_COMM_WORLD_RANK=0 OMPI_MCA_mpi_oversubscribe=0 job -n \
    "$((cores + 1))" sh -c 'echo $OMPI_MCA_mpi_oversubscribe' | sort -u)"

spawned() {
  job -n 1 ./place_told spawn "$1" | tee "$TROUPE_WORK/told"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c ": $2\$" "$TROUPE_WORK/told")" -eq "$1" ]
}
check "RUN-1 RUN-2" "a spawned job: its parent takes a processor" \
  spawned "$cores" "oversubscribed, yields yes"
if [ "$cores" -gt 1 ]; then
  check "RUN-1" "a spawned job that fits beside its parent" \
    spawned "$((cores - 1))" "free, yields no"
else
  skip "RUN-1" "a spawned job that fits beside its parent" "one processor"
fi

# Nodes of a DVM are daemons on this machine: see dvm.sh.
cat >here.sh <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x here.sh
nodes() {
  within "$((limit * slow))" troupe run --remote-shell "$PWD/here.sh" \
    --oversubscribe "$@" </dev/null
}
# Three processes on slots a:1 and b:5: one on each and one more, or two on b.
per_node() {
  nodes --host "a:1,b:$((cores + 5))" --map-by node -n 3 ./place_told nodes a,b \
    | tee "$TROUPE_WORK/nodes"
  [ "${PIPESTATUS[0]}" -eq 0 ] || return
  local on_a
  on_a=$(nodes --host "a:1,b:$((cores + 5))" --map-by node -n 3 ./place_told \
    | tee "$TROUPE_WORK/here" | grep -c ' on a: ')
  cat "$TROUPE_WORK/here"
  echo "$on_a processes on a"
  # What each says of its own node is what all say of that node.
  for rank in 0 1 2; do
    local node state
    node=$(sed -n "s/^$rank of 3 on \([ab]\): .*/\1/p" "$TROUPE_WORK/here")
    state=$(sed -n "s/^$rank of 3 on .: \([a-z]*\),.*/\1/p" "$TROUPE_WORK/here")
    [ "$(grep -c ": $node $state\$" "$TROUPE_WORK/nodes")" -eq 3 ] || return 1
  done
}
check "RUN-1" "each node of a job is told of, to all processes" per_node
check_match "RUN-1" "more processes than slots of a node" \
  '^0 of 2 on a: oversubscribed, yields yes$' \
  "$(nodes --host a:1 -n 2 ./place_told)"
if [ "$cores" -gt 1 ]; then
  check_match "RUN-1" "and no more than it has" '^0 of 2 on a: free, yields no$' \
    "$(nodes --host a:2 -n 2 ./place_told)"
else
  skip "RUN-1" "and no more than it has" "one processor"
fi

# -- RUN-2: the environment, as wrappers read it -------------------------------

check_equal "RUN-2" "a wrapper binds by its local rank" "0 0 2|1 1 2" \
  "$(job -n 2 sh -c \
    'echo $OMPI_COMM_WORLD_LOCAL_RANK $MPI_LOCALRANKID $TROUPE_LOCAL_SIZE' \
    | sort | paste -sd '|')"
if /usr/bin/python3 -c 'import h5py._debian_h5py_mpi' 2>/dev/null; then
  cat >shared.py <<'END'
from mpi4py import MPI
import h5py
world = MPI.COMM_WORLD
with h5py.File('shared.h5', 'w', driver='mpio', comm=world) as f:
    f.create_dataset('x', (world.size,), dtype='i')[world.rank] = world.rank + 1
with h5py.File('shared.h5', 'r', driver='mpio', comm=world) as f:
    assert list(f['x']) == list(range(1, world.size + 1))
if world.rank == 0:
    print('h5py wrote and read with', world.size)
END
  check_equal "RUN-2" "Debian's h5py has MPI" "h5py wrote and read with 2" \
    "$(job -n 2 /usr/bin/python3 shared.py 2>&1)"
else
  skip "RUN-2" "Debian's h5py has MPI" "python3-h5py-mpi is not installed"
fi

# -- RUN-3: Open MPI -----------------------------------------------------------

check_equal "RUN-3" "no process has a FLUX_JOB_ID of ours" "unset" \
  "$(job -n 2 sh -c 'echo ${FLUX_JOB_ID-unset}' | sort -u)"
check_equal "RUN-3" "nor loses one of its own" "f23" \
  "$(FLUX_JOB_ID=f23 job -n 2 sh -c 'echo $FLUX_JOB_ID' | sort -u)"
# ring [VARIABLE=VALUE]...: Open MPI beside the signs of other resource managers.
ring() {
  job -n 2 env "$@" ./mpi_ring | tee "$TROUPE_WORK/ring"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "size 2: hello right, ring right, allreduce right" \
      "$TROUPE_WORK/ring"
}
check "RUN-3" "Open MPI finds its place" ring
check "RUN-3" "Open MPI in a batch script of Slurm" \
  ring SLURM_JOBID=4711 SLURM_NODELIST=here
check "RUN-3" "Open MPI in a job of Flux" ring FLUX_JOB_ID=f23
check "RUN-3" "mpirun inside a job starts processes of its own" sh -c '
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    troupe run -n 1 mpirun --oversubscribe -n 2 ./mpi_ring </dev/null |
    grep -qx "size 2: hello right, ring right, allreduce right"'

# -- RUN-5: no slower ----------------------------------------------------------

# A node that is not known to be oversubscribed costs forty times as much.
xsqr=/usr/lib/$(uname -m)-linux-gnu/scalapack/openmpi-tests/xsqr
if [ -x "$xsqr" ]; then
  outcome=0
  within 400 "$TROUPE_SOURCE/bench/programs" xsqr --bar 3 --jobs 3 --limit 40 \
    --processes "$((2 * cores))" --troupe "$TROUPE_BIN/troupe" \
    --library "$TROUPE_LIB" >figures 2>&1 </dev/null || outcome=$?
  sed 's/^/     /' figures
  if [ "$outcome" -eq 3 ]; then
    skip "RUN-5" "as fast as under mpirun" \
      "mpirun is not done in 40 s either: the machine has other work to do"
  else
    check_equal "RUN-5" "twice as many processes as processors: as fast as under mpirun" \
      0 "$outcome"
  fi
else
  skip "RUN-5" "as fast as under mpirun" "scalapack-mpi-test is not installed"
fi

clean "F5.20" "nothing is left of the jobs"
finish
