# Slurm 22.05 as Debian ships it: its PMIx plugin runs on our library, and our
# and Debian's clients run under it.

. "$TROUPE_SOURCE/tests/interop/check.sh"

# left_here: programs of this test that still run, once they have had time to end.
left_here() {
  local exe left
  for _ in $(seq 50); do
    left=
    for exe in /proc/[0-9]*/exe; do
      exe=$(readlink "$exe" 2>/dev/null) || continue
      [ "${exe#"$TROUPE_WORK"/}" = "$exe" ] || left+="$exe "
    done
    [ -n "$left" ] || return
    sleep 0.1
  done
  echo "$left"
}
. "$TROUPE_SOURCE/tests/interop/slurm_cluster.sh"

programs=$TROUPE_SOURCE/tests/interop/programs
examples=$TROUPE_SOURCE/examples
library=$TROUPE_LIB/libpmix.so.2
# Slurm's daemons and what it runs must not see who runs the tests.
unset PMIX_NAMESPACE PMIX_RANK

missing=
for program in munged slurmctld slurmd srun unshare; do
  PATH=$PATH:/usr/sbin type "$program" >/dev/null 2>&1 || missing+=" $program"
done
if [ -n "$missing" ]; then
  skip "C6.5" "Slurm" "not installed:$missing"
  finish
elif [ "$(id -u)" -ne 0 ]; then
  skip "C6.5" "Slurm" "its daemons need root to run jobs"
  finish
elif ! unshare --mount true 2>/dev/null; then
  skip "C6.5" "Slurm" "no mount namespaces here, and its plugin opens libpmix by its path"
  finish
fi

compile_mpi "$programs/mpi_ring.c" mpi_ring
compile_mpi "$programs/mpi_abort.c" mpi_abort
compile_pmix "$examples/pmix_hello.c" pmix_hello
compile_pmix "$programs/fence_holds.c" fence_holds
trap 'slurm_stop; [ "$checks_finished" = yes ] || echo "the script stopped before finish"' EXIT
if ! slurm_start "$TROUPE_WORK/slurm" "$(readlink -f "$library")" >start 2>&1; then
  failed "C6.5" "Slurm starts"
  cat start
  finish
fi
passed "C6.5" "Slurm starts"

run() {
  within 60 srun --mpi=pmix "$@" 2>&1 | tee output
  return "${PIPESTATUS[0]}"
}

ring() {
  run -N "${2:-1}" -n "$1" ./mpi_ring \
    && grep -q "^size $1: hello right, ring right, allreduce right$" output
}
hello() {
  run -N 1 -n "$1" ./pmix_hello \
    && grep -q "^pmix fence brought $1 of $1 values, event received$" output
}

# steps: the daemons of running steps, which our nodes have started.
steps() {
  local pid
  for pid in $(pgrep -x slurmstepd); do
    grep -qzx "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" 2>/dev/null \
      && grep -q libpmix "/proc/$pid/maps" 2>/dev/null && echo "$pid"
  done
}

# maps_ours: the daemon of a running step has our library and no other.
maps_ours() {
  local pid ours
  ours=$(stat -Lc %i "$library")
  run -N 1 -n 2 sleep 3 >/dev/null 2>&1 &
  for _ in $(seq 50); do
    pid=$(steps | head -n 1)
    [ -n "$pid" ] && break
    sleep 0.1
  done
  awk -v ours="$ours" '/libpmix/ { found = 1; if ($5 != ours) other = 1; print }
    END { exit !found || other }' "/proc/$pid/maps"
  local outcome=$?
  wait $!
  return "$outcome"
}
check "C6.5" "the plugin has loaded our library" maps_ours

for n in 1 2 4 8; do
  check "C6.5" "Open MPI with Debian's client on $n processes" ring "$n"
  check "C6.5" "Debian's PMIx client on $n processes" hello "$n"
done
export LD_LIBRARY_PATH=$TROUPE_LIB
for n in 1 2 4 8; do
  check "C6.5" "Open MPI with our client on $n processes" ring "$n"
  check "C6.5" "our PMIx client on $n processes" hello "$n"
done

# Two servers, joined by Slurm: fences with data, modex. Both nodes are one
# machine, so Open MPI must be kept from sharing memory between them.
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
for n in 2 4 8; do
  check "C6.5 C4.8" "our client on $n processes of two nodes" ring "$n" 2
done
holds() {
  rm -f counts
  run -N 2 -n 4 ./fence_holds "$PWD/counts" 200 \
    && [ "$(grep -c "200 fences, 0 too early$" output)" -eq 4 ]
}
check "C6.5 C4.8" "no fence of our client ends before all of two nodes came" holds
unset LD_LIBRARY_PATH
for n in 2 4 8; do
  check "C6.5 C4.8" "Debian's client on $n processes of two nodes" ring "$n" 2
done
check "C6.5 C4.8" "no fence of Debian's client ends before all of two nodes came" \
  holds
unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include
unset LD_LIBRARY_PATH

aborts() {
  run -N 1 -n 4 ./mpi_abort 17
  [ $? -eq 17 ]
}
check "C6.5" "an abort ends the step with its code" aborts
check "C6.5" "the node serves on after an abort" ring 4
check_equal "C6.5" "no process is left" "" "$(left_here)"

finish
