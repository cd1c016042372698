# Unmodified Open MPI programs, built with Debian's mpicc.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build mpi_ring mpi_spawn mpi_abort
limit=60

# -- F6.1, F6.2, F6.6: hello, ring, allreduce ----------------------------------

ring() {
  job -n "$1" ./mpi_ring | tee "$TROUPE_WORK/ring"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "size $1: hello right, ring right, allreduce right" \
      "$TROUPE_WORK/ring"
}

check "F6.1 F6.2 F6.6" "hello, ring and allreduce of 1 process" ring 1
check "F6.1 F6.2 F6.6" "hello, ring and allreduce of 2 processes" ring 2
check "F6.1 F6.2 F6.6" "hello, ring and allreduce of 4 processes" ring 4
check "F6.1 F6.2 F6.6" "hello, ring and allreduce of 16 processes" ring 16
check "F6.1" "quiet: nothing on standard error" \
  sh -c 'troupe run -n 2 --oversubscribe ./mpi_ring 2>&1 >/dev/null </dev/null |
    tee /dev/stderr | wc -c | grep -qx 0'

# -- F6.3: spawn ---------------------------------------------------------------

spawn() {
  job -n "$1" ./mpi_spawn "$2" | tee "$TROUPE_WORK/spawn"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "$1 and $2 processes: answer $((41 + $2)), together $(($1 + $2))" \
      "$TROUPE_WORK/spawn"
}

check "F6.3 F6.6" "1 process spawns 1" spawn 1 1
check "F6.3 F6.6" "1 process spawns 3" spawn 1 3
check "F6.3 F6.6" "2 processes spawn 2" spawn 2 2
check "F6.3 F6.6" "4 processes spawn 4" spawn 4 4

# -- F6.4: abort ---------------------------------------------------------------

check "F6.4" "MPI_Abort of a single process gives its code" \
  status 3 job -n 1 ./mpi_abort 3
check "F6.4 F6.6" "MPI_Abort ends 4 processes with its code" \
  status 17 job -n 4 ./mpi_abort 17
check "F6.4 F6.6" "MPI_Abort ends 16 processes with its code" \
  status 1 job -n 16 ./mpi_abort 1
check_match "F6.4" "one line names the rank that aborted" \
  '^troupe: rank 1 \(./mpi_abort, pid [0-9]+ on [^ ]+\) called PMIx_Abort with status 5' \
  "$(job -n 2 ./mpi_abort 5 2>&1)"
check "F6.4 F5.16" "a process killed in MPI gives 128 and its signal" \
  status 137 job -n 4 ./mpi_abort killed

clean "F5.20" "nothing is left of the MPI jobs"
finish
