# MPI from Python, as Debian packages it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

python=/usr/bin/python3
if ! "$python" -c 'import mpi4py' 2>/dev/null; then
  skip "F6.5" "mpi4py" "python3-mpi4py is not installed"
  finish
fi
limit=60

agree() {
  job -n "$1" "$python" "$programs/mpi4py_program.py" | tee "$TROUPE_WORK/agree"
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx "mpi4py: $1 processes agree" "$TROUPE_WORK/agree"
}

check "F6.5 F6.6" "mpi4py: 1 process" agree 1
check "F6.5 F6.6" "mpi4py: 2 processes" agree 2
check "F6.5 F6.6" "mpi4py: 4 processes" agree 4
check "F6.5 F6.6" "mpi4py: 16 processes" agree 16
check "F6.5" "an exception that nobody catches ends the job" \
  status 1 job -n 2 "$python" -m mpi4py -c \
  'from mpi4py import MPI; 1 / MPI.COMM_WORLD.Get_rank(); MPI.COMM_WORLD.Barrier()'

clean "F5.20" "nothing is left of the jobs"
finish
