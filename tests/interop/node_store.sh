# Memory that processes of a node share: what they post and where they meet, with
# processes that have it not.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build node_store

ours="env LD_LIBRARY_PATH=$TROUPE_LIB ./node_store"

ours() {
  local n=$1
  shift
  # shellcheck disable=SC2086
  job -n "$n" $ours "$@"
}

# mixed N CASE...: N processes on our library, two on Debian's.
mixed() {
  local n=$1
  shift
  # shellcheck disable=SC2086
  job -n "$n" $ours "$@" : -n 2 ./node_store "$@"
}

for n in 1 2 4 9; do
  check "COLL-3 F4.16" "$n meet in every way, and read what the others posted" \
    ours "$n" rounds $((1200 / n))
done
check "COLL-3 F4.16" "the same with Debian's among them" mixed 2 rounds 200
# shellcheck disable=SC2086
check "COLL-3 F4.16" "the same by messages" \
  job --no-shared-memory -n 4 $ours rounds 200
check "C3.7 COLL-3" "two threads of each at once" ours 3 threads
check "C3.7 COLL-3" "the same with Debian's among them" mixed 2 threads

kill_some() {
  local i
  for ((i = 0; i < 15; ++i)); do
    status 137 job --rtos recoverable "$@" || return 1
    ! grep -qF node_store.c "$TROUPE_WORK/output" || return 1
  done
}
# shellcheck disable=SC2086
check "COLL-2 COLL-4" "one of two is killed in the midst of fences, 15 times" \
  kill_some -n 2 $ours killed
# shellcheck disable=SC2086
check "COLL-2 COLL-4" "one of five is killed in the midst of fences, 15 times" \
  kill_some -n 5 $ours killed
check "COLL-4" "one is stopped now and then" ours 3 stopped
check "COLL-2" "a time-out of one is one of all" ours 4 times_out
check "COLL-2" "the same with Debian's among them" mixed 2 times_out
check "C3.4" "children that do not exec" ours 3 forks
check "C3.6 COLL-4" "all leave and come back" ours 3 returns
check "F4.15 C3.16" "more than there is room for" ours 3 much
check "F4.15 C3.16" "the same with Debian's among them" mixed 2 much
check "F4.21" "who waits for what has not been posted gets it" ours 4 waits
check "F4.21" "the same with Debian's among them" mixed 2 waits

# -- groups of all -----------------------------------------------------------------

for n in 1 2 4 9; do
  check "G1 G3 COLL-3" "$n make groups of them all in every way, and use them" \
    ours "$n" groups $((600 / n))
done
check "G1 G3 COLL-3" "the same with Debian's among them" mixed 2 groups 100
# shellcheck disable=SC2086
check "G1 G3 COLL-3" "the same by messages" \
  job --no-shared-memory -n 4 $ours groups 100
# shellcheck disable=SC2086
check "G11 COLL-2 COLL-4" "one of two is killed in the midst of groups, 15 times" \
  kill_some -n 2 $ours group_killed
# shellcheck disable=SC2086
check "G11 COLL-2 COLL-4" "one of five is killed in the midst of groups, 15 times" \
  kill_some -n 5 $ours group_killed

# -- the same as by messages -----------------------------------------------------

# scopes OPTION...: what processes see of each other.
scopes() {
  # shellcheck disable=SC2086
  job "$@" -n 3 $ours scopes | sort
}
scopes >shared
scopes --no-shared-memory >asked
check "F4.15" "what is seen is what is seen by messages" cmp shared asked
check_match "F4.15" "which is something" 'local: PMIX_SUCCESS|local: SUCCESS' \
  "$(cat shared)"

# -- several nodes ----------------------------------------------------------------

# A host in C with two servers, which fences and does nothing else.
"${TROUPE_CC:-cc}" -std=gnu11 -Wall -I"$TROUPE_SOURCE/c_api/include" -o two_nodes \
  "$programs/two_nodes.c" -L"$TROUPE_LIB" -lpmix -lpthread || {
  failed "F4.21" "compiling two_nodes.c"
  finish
}
on_two_nodes() {
  within 60 env LD_LIBRARY_PATH="$TROUPE_LIB" ./two_nodes --no-modex "$@" \
    | tee "$TROUPE_WORK/nodes"
  [ "$(grep -c 'served 2 processes, 0 failed$' "$TROUPE_WORK/nodes")" -eq 2 ]
}
with_ours="/usr/bin/env LD_LIBRARY_PATH=$TROUPE_LIB"
# shellcheck disable=SC2086
check "F4.21" "what a fence brings from another node is found without asking" \
  on_two_nodes $with_ours ./node_store fenced here
# shellcheck disable=SC2086
check "F4.21 C4.6" "unless the host wants no shared memory" \
  on_two_nodes --no-shared-memory $with_ours ./node_store fenced asked
check "F4.21" "nor do processes on Debian's library find it there" \
  on_two_nodes ./node_store fenced asked
check "F4.21" "in a job of one node it is the same" ours 3 fenced here

# -- who sees what ---------------------------------------------------------------

# Run by a process of a job, whose parent is the server.
cat >descriptors <<'END'
$LAUNCH ./node_store waits || exit
ls -l "/proc/$PPID/fd" | grep -c memfd:troupe- || true
END
check_match "F4.15" "there is memory" '^[1-9]' \
  "$(job -n 1 env LAUNCH="${ours% *}" sh descriptors)"
check_match "F4.15" "with --no-shared-memory there is none" '^0$' \
  "$(job --no-shared-memory -n 1 env LAUNCH="${ours% *}" sh descriptors)"

# -- programs linked to Debian's -------------------------------------------------

folder=$(cd "$TROUPE_LIB" && pwd -P)
check_match "C6.2" "--own-libpmix has programs find our library" \
  "libpmix.so.2 => $folder/" "$(job --own-libpmix -n 1 ldd ./node_store)"
check_match "C6.2" "before any other" "^$folder:/nowhere$" \
  "$(LD_LIBRARY_PATH=/nowhere job --own-libpmix -n 1 printenv LD_LIBRARY_PATH)"
check_match "C6.2" "and --display says where" "libpmix.so.2 in $folder" \
  "$(job --own-libpmix --display map -n 1 true 2>&1)"
check "COLL-3" "they meet in memory" job --own-libpmix -n 4 ./node_store rounds 100
build mpi_ring
check "C6.2" "so does Open MPI" job --own-libpmix -n 4 ./mpi_ring
python=/usr/bin/python3
if "$python" -c 'import mpi4py' 2>/dev/null; then
  check_match "C6.2 F6.5" "and mpi4py" "^mpi4py: 4 processes agree$" \
    "$(job --own-libpmix -n 4 "$python" "$programs/mpi4py_program.py")"
else
  skip "C6.2 F6.5" "and mpi4py" "python3-mpi4py is not installed"
fi

clean "F5.15" "nothing is left"
finish
