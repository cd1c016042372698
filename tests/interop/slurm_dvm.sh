# A DVM in an allocation of Slurm 22.05 as Debian ships it: its nodes are found in
# the environment, and srun starts the daemons.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/slurm_cluster.sh"

unset PMIX_NAMESPACE PMIX_RANK
missing=
for program in munged slurmctld slurmd srun salloc unshare; do
  PATH=$PATH:/usr/sbin type "$program" >/dev/null 2>&1 || missing+=" $program"
done
if [ -n "$missing" ]; then
  skip "DVM-9" "Slurm" "not installed:$missing"
  finish
elif [ "$(id -u)" -ne 0 ]; then
  skip "DVM-9" "Slurm" "its daemons need root to run jobs"
  finish
elif ! unshare --mount true 2>/dev/null; then
  skip "DVM-9" "Slurm" "no mount namespaces here"
  finish
fi

export TMPDIR=$TROUPE_WORK/tmp TROUPE_MARK=$$.$RANDOM
mkdir -p "$TMPDIR"
trap 'slurm_stop; [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT
check "DVM-9" "Slurm starts" slurm_start "$TROUPE_WORK/cluster" ""

# allocated NODES COMMAND...: runs a command in an allocation, on this machine.
allocated() {
  local nodes=$1
  shift
  within 60 salloc --quiet --nodes="$nodes" --ntasks-per-node=3 "$@" </dev/null
}

# idle: passes once Slurm has its nodes back.
idle() {
  local i
  for i in $(seq 100); do
    [ "$(sinfo -h -o '%D %T' 2>/dev/null)" = "2 idle" ] && return 0
    sleep 0.1
  done
  squeue
  return 1
}

where='echo $PMIX_HOSTNAME'
check_equal "DVM-9" "run: a DVM of the allocation, its nodes and tasks" \
  "n1 n1 n1 n2 n2 n2" \
  "$(allocated 2 troupe run sh -c "$where" | sort | xargs)"
check_equal "DVM-9" "one process per node" "n1 n2" \
  "$(allocated 2 troupe run --map-by node -n 2 sh -c "$where" | sort | xargs)"
check "DVM-9" "the exit status is the job's" \
  status 7 allocated 2 troupe run -n 6 sh -c 'test $PMIX_RANK != 5 || exit 7'
check_match "DVM-9" "more than the tasks of the allocation are refused" \
  '7 processes do not fit into 6 slots' "$(allocated 2 troupe run -n 7 true 2>&1)"
check_equal "DVM-9" "fewer nodes by --host" "n2" \
  "$(allocated 2 troupe run --host n2 sh -c "$where")"
if command -v mpicc >/dev/null; then
  compile_mpi "$TROUPE_SOURCE/tests/interop/programs/mpi_ring.c" mpi_ring
  mpi() {
    OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1 \
      allocated 2 troupe run -n 4 ./mpi_ring \
      | grep -qx "size 4: hello right, ring right, allreduce right"
  }
  check "DVM-9" "Open MPI on both nodes" mpi
else
  skip "DVM-9" "Open MPI on both nodes" "there is no mpicc"
fi

# A DVM as long as the allocation.
cat >session.sh <<'END_OF_FILE'
troupe up --name slurm >up.out 2>up.err &
root=$!
for i in $(seq 200); do
  grep -qx "DVM ready" up.out && break
  sleep 0.1
done
troupe nodes --dvm slurm --json >nodes.json
troupe run --dvm slurm -n 6 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs >hosts
troupe down --dvm slurm
wait "$root"
END_OF_FILE
check "DVM-9" "a DVM in an allocation: up, run, down" allocated 2 bash ./session.sh
check_equal "DVM-9" "its nodes are those of the allocation" "n1 live 3|n2 live 3" \
  "$(/usr/bin/python3 -c '
import json
print("|".join("%s %s %d" % (x["name"], x["state"], x["slots"])
               for x in json.load(open("nodes.json"))["nodes"] if x["slots"]))')"
check_equal "DVM-9" "and its processes are there" "n1 n1 n1 n2 n2 n2" "$(cat hosts)"

check "DVM-9" "Slurm has its nodes back" idle
none_left() {
  local folder left=0
  for folder in /proc/[0-9]*; do
    [ "$(cat "$folder/comm" 2>/dev/null)" = trouped ] || continue
    { tr '\0' '\n' <"$folder/environ" | grep -qx "TROUPE_MARK=$TROUPE_MARK"; } \
      2>/dev/null || continue
    echo "process ${folder#/proc/} is left"
    left=1
  done
  return "$left"
}
check "DVM-9" "no daemon is left" none_left
finish
