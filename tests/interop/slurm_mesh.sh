# Slurm 22.05 as Debian ships it, whose PMIx plugin has fence, direct modex and
# abort only: with our mesh inside of the daemons of its steps, Debian's clients
# get the rest, on two nodes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/slurm_cluster.sh"

unset PMIX_NAMESPACE PMIX_RANK
missing=
for program in munged slurmctld slurmd srun unshare; do
  PATH=$PATH:/usr/sbin type "$program" >/dev/null 2>&1 || missing+=" $program"
done
if [ -n "$missing" ]; then
  skip "O12" "Slurm" "not installed:$missing"
  finish
elif [ "$(id -u)" -ne 0 ]; then
  skip "O12" "Slurm" "its daemons need root to run jobs"
  finish
elif ! unshare --mount true 2>/dev/null; then
  skip "O12" "Slurm" "no mount namespaces here, and its plugin opens libpmix by its path"
  finish
fi

compile_pmix "$TROUPE_SOURCE/tests/interop/programs/rm_mesh.c" rm_mesh
trap 'slurm_stop; [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT

# cluster DIRECTORY: the daemons of its steps have the mesh inside.
cluster() {
  slurm_start "$TROUPE_WORK/$1" "$(readlink -f "$TROUPE_LIB/mesh/libpmix.so.2")"
}
runs() {
  within 60 srun --mpi=pmix "$@"
}

export TROUPE_MESH=1
check "O12" "Slurm starts, and its daemons switch the mesh on" cluster on
unset TROUPE_MESH
check "O12" "publish, look up, events and connect on one node" \
  runs -N 1 -n 2 ./rm_mesh whole
for n in 2 4 8; do
  check "O12" "publish, look up, events and connect on two nodes, $n processes" \
    runs -N 2 -n "$n" ./rm_mesh whole
done
check "O12" "what is asked before the servers have met waits" \
  runs -N 2 -n 4 ./rm_mesh early
slurm_stop

check "O12" "Slurm starts again, and its daemons do not" cluster off
check "O12" "switched off, everything is as without" \
  runs -N 2 -n 4 ./rm_mesh without
finish
