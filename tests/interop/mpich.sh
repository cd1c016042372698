# Unmodified MPICH programs, built with Debian's mpicc.mpich: they know no PMIx
# and speak PMI-1.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

limit=60

for program in mpi_ring mpi_spawn mpi_abort mpi_names; do
  mpicc.mpich -std=gnu11 -O1 -Wall -o "$program" "$programs/$program.c" || {
    failed "C6.8" "compiling $program.c"
    finish
  }
done
pmi1=$programs/pmi1.sh

# -- hello, ring, allreduce ----------------------------------------------------

ring() {
  job -n "$1" ./mpi_ring | tee "$TROUPE_WORK/ring"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "size $1: hello right, ring right, allreduce right" \
      "$TROUPE_WORK/ring"
}

check "C6.8 207" "hello, ring and allreduce of 1 process" ring 1
check "C6.8 207" "hello, ring and allreduce of 2 processes" ring 2
check "C6.8 207" "hello, ring and allreduce of 4 processes" ring 4
check "C6.8 207" "hello, ring and allreduce of 16 processes" ring 16
check "C6.8" "quiet: nothing on standard error" \
  sh -c 'troupe run -n 2 --oversubscribe ./mpi_ring 2>&1 >/dev/null </dev/null |
    tee /dev/stderr | wc -c | grep -qx 0'
check "C6.8" "a program started by a shell" \
  sh -c 'troupe run -n 2 --oversubscribe sh -c ./mpi_ring </dev/null |
    grep -qx "size 2: hello right, ring right, allreduce right"'

# -- spawn ---------------------------------------------------------------------

spawn() {
  job -n "$1" ./mpi_spawn "$2" | tee "$TROUPE_WORK/spawn"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "$1 and $2 processes: answer $((41 + $2)), together $(($1 + $2))" \
      "$TROUPE_WORK/spawn"
}

# MPICH on UCX, as Debian 12 builds it, opens no ports: MPI_Comm_spawn fails
# before it asks the launcher, also under MPICH's own.
if within 60 mpiexec.hydra -n 1 ./mpi_spawn 1 >spawn.log 2>&1 </dev/null; then
  for pair in "1 1" "1 3" "2 2" "4 4" "16 2"; do
    # shellcheck disable=SC2086
    check "C6.8 207" "MPI_Comm_spawn, processes and children: $pair" spawn $pair
  done
else
  skip "C6.8 207" "MPI_Comm_spawn" \
    "it fails under MPICH's own mpiexec too: $(tail -n 1 spawn.log)"
fi

children() {
  job -n 1 bash "$pmi1" parent "$1" | sort | tee "$TROUPE_WORK/children"
  [ "${PIPESTATUS[0]}" -eq 0 ] || return
  local number
  for number in 1 2; do
    for ((i = 0; i < $1; ++i)); do
      echo "child of 'program $number', spawned 1, $((2 * $1)) together, in /"
    done
  done | cmp - "$TROUPE_WORK/children"
}

check "C6.8" "two programs are spawned once each and see what was preset" \
  children 1
check "C6.8" "two programs are spawned four times each" children 4

# -- the protocol itself -------------------------------------------------------

check "C6.8" "every command of 1 process is answered" job -n 1 bash "$pmi1" data
check "C6.8" "every command of 4 processes is answered" \
  job -n 4 bash "$pmi1" data

# closes WHAT...: a connection that says this is closed, and the job ends.
closes() {
  check_match "C6.8" "closed: $*" "^closed$" \
    "$(job -n 1 bash "$pmi1" "$@" 2>&1)"
}

closes refused nonsense
closes refused cmd=unheard
closes refused 'cmd=put loose'
closes refused ''
closes refused 'mcmd=spawn\nloose'
closes endless

# -- names ---------------------------------------------------------------------

check "C6.8" "names are published, looked up and withdrawn" \
  job -n 2 ./mpi_names

# -- abort ---------------------------------------------------------------------

check "C6.8" "MPI_Abort of a single process gives its code" \
  status 3 job -n 1 ./mpi_abort 3
check "C6.8" "MPI_Abort ends 4 processes with its code" \
  status 17 job -n 4 ./mpi_abort 17
check "C6.8" "a process killed in MPI gives 128 and its signal" \
  status 137 job -n 4 ./mpi_abort killed

clean "C6.8" "nothing is left of the MPICH jobs"
finish
