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
check "COLL-4" "one that posts is stopped while others read it and meet" \
  ours 4 beside
check "COLL-4" "the same with Debian's among them" mixed 2 beside
check "COLL-3 F4.15" "their server is stopped: they go on" ours 3 serverless
check "COLL-3 C3.7" "fences of several sets go on at once" ours 5 overlap
check "COLL-3 C3.7" "the same with Debian's among them" mixed 5 overlap
check "COLL-3 F4.16" "one starts other jobs while all are in fences" ours 3 spawns
check "COLL-3 F4.16" "the same with Debian's among them" mixed 2 spawns
# shellcheck disable=SC2086
check "COLL-2 F4.35" "one aborts the job while the others wait for it" \
  status 7 job -n 4 $ours aborts
# shellcheck disable=SC2086
check "COLL-2" "tolerant fences go on without one that is killed" \
  status 137 job --rtos recoverable -n 4 $ours tolerant
# shellcheck disable=SC2086
check "COLL-2" "the same with Debian's among them" \
  status 137 job --rtos recoverable -n 2 $ours tolerant : -n 2 ./node_store tolerant
check "COLL-2" "a time-out of one is one of all" ours 4 times_out
check "COLL-2" "the same with Debian's among them" mixed 2 times_out
check "C3.4" "children that do not exec" ours 3 forks
check "C3.6 COLL-4" "all leave and come back" ours 3 returns
check "F4.15 C3.16" "more than there is room for" ours 3 much
check "F4.15 C3.16" "the same with Debian's among them" mixed 2 much
check "F4.21" "who waits for what has not been posted gets it" ours 4 waits
check "F4.21" "the same with Debian's among them" mixed 2 waits

# -- fences of parts ---------------------------------------------------------------

for n in 2 3 5 9; do
  check "COLL-3 COLL-6" "parts of $n meet in every way, and read what the others posted" \
    ours "$n" parts $((1800 / n))
done
check "COLL-3 COLL-6" "the same with Debian's among them" mixed 3 parts 200
# shellcheck disable=SC2086
check "COLL-3 COLL-6" "the same by messages" \
  job --no-shared-memory -n 5 $ours parts 200
check "C3.7 COLL-6" "two threads of each are in two parts at once" ours 5 part_threads
check "COLL-6" "fences of a part go on while the server is stopped" ours 4 part_alone
check "COLL-2 COLL-6" "a time-out of one is one of its part" ours 4 part_times_out
# shellcheck disable=SC2086
check "COLL-2 COLL-4 COLL-6" "one of a part of three is killed in the midst of fences, 15 times" \
  kill_some -n 4 $ours part_killed

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

# placed OPTION...: what processes are told of their job when they start.
placed() {
  # shellcheck disable=SC2086
  job "$@" -n 5 $ours placed | sort
}
placed >shared
placed --no-shared-memory >asked
check "F4.43" "what is known of a job is what is known by messages" cmp shared asked
check_match "F4.43" "which is what each is told of the others" \
  '^4: pmix.lrank of 3: 3$' "$(cat shared)"
check_equal "F4.43" "and all that there is" 235 "$(wc -l <shared)"

# sent OPTION...: the bytes that a server sends to 32 processes which start, look for
# what is known of their job, and end.
sent() {
  # shellcheck disable=SC2086
  job --display summary "$@" -n 32 $ours placed 2>&1 >/dev/null \
    | sed -n 's/.* sent \([0-9]*\) bytes and .*/\1/p'
}
# a_quarter LESS MORE: passes if what is sent is some, and less than a quarter.
a_quarter() {
  echo "$1 bytes; by messages $2"
  [ "$1" -gt 0 ] && [ "$(($1 * 4))" -lt "$2" ]
}
by_memory=$(sent)
by_messages=$(sent --no-shared-memory)
check "F4.43" "they are not sent what they find in memory" \
  a_quarter "${by_memory:-0}" "${by_messages:-0}"

# mute HOW OPTION...: what they get who wait for one that never calls.
mute() {
  local how=$1
  shift
  # shellcheck disable=SC2086
  job --rtos recoverable "$@" -n 4 $ours mute "$how" 2>"mute.log" | sort
}
for how in leaves ends; do
  mute "$how" >shared
  mute "$how" --no-shared-memory >asked
  check "COLL-2 COLL-4" "one that never calls $how: as by messages" cmp shared asked
  check_equal "COLL-2 COLL-4" "which is an answer for each of the others" 3 \
    "$(grep -c '^[0-2]: ' shared)"
done

# -- statistics -------------------------------------------------------------------

# stack_in_fence SERVER: the stack of rank 1, which waits in a fence.
stack_in_fence() {
  local pid
  for pid in $(pgrep -P "$1" -x node_store); do
    ! grep -qzx PMIX_RANK=1 "/proc/$pid/environ" \
      || gdb -p "$pid" -nx -batch -ex 'thread apply all backtrace' 2>&1
  done
}

# counted [OPTION]...: the gauges of a server whose processes have met: fences, calls
# for groups, bytes.
counted() {
  local holder name
  rm -f held look
  # shellcheck disable=SC2086
  job "$@" -n 3 $ours held held look >held.log 2>&1 </dev/null &
  holder=$!
  if eventually 20 test -e held; then
    for name in fences_in_memory group_calls_in_memory shared_memory; do
      gauge "$(cat held)" "server.$name"
    done | xargs
    [ $# -gt 0 ] || ! command -v gdb >/dev/null || stack_in_fence "$(cat held)" >stack
  fi
  touch look
  wait "$holder" || cat held.log
}
# Fences, perhaps all but the first, and calls for groups.
check_match "F4.15 COLL-3 LOAD-2" "what goes on in memory is counted" \
  '^(49|5[0-9]) [1-9] [1-9][0-9]+$' "$(counted)"
# It sleeps in our library, which has not all tables that debuggers want.
if ! command -v gdb >/dev/null; then
  skip "COLL-3" "a debugger finds who is in a fence" "there is no gdb"
elif grep -qs 'not permitted' stack; then
  skip "COLL-3" "a debugger finds who is in a fence" "gdb may not look at processes here"
else
  check_match "COLL-3" "a debugger finds who is in a fence" ' in held ' "$(cat stack)"
fi
check_equal "F4.15 COLL-3 LOAD-2" "with --no-shared-memory nothing does" "0 0 0" \
  "$(counted --no-shared-memory)"

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

# -- where there is none -----------------------------------------------------------

# unshared WORDS COMMAND...: passes if a job works and one line of its log says that
# there is no memory, and why.
unshared() {
  local words=$1
  shift
  "$@" >unshared 2>&1 || { cat unshared; return 1; }
  [ "$(grep -c 'share no memory' unshared)" -eq 1 ] \
    && grep -q "share no memory .*: .*$words" unshared && return
  cat unshared
  return 1
}

# all_shared COMMAND...: passes if a job works and nothing is said of that.
all_shared() {
  "$@" >unshared 2>&1 && ! grep 'share no memory' unshared && return
  cat unshared
  return 1
}

# In a mount namespace of their own: without /proc, with a full /dev/shm.
# shellcheck disable=SC2016
{
  printf '#!/bin/sh\nmount -t tmpfs none /proc && exec "$@"\n' >no_proc
  printf '#!/bin/sh\n%s && %s && exec "$@"\n' \
    'mount -t tmpfs -o size=8k none /dev/shm' \
    '{ cat /dev/zero >/dev/shm/full 2>/dev/null || test -s /dev/shm/full; }' \
    >full_shm
  printf '#!/bin/sh\nshift\nexec "$@"\n' >here.sh
}
chmod +x no_proc full_shm here.sh

# A daemon with keys lets nobody look into it; root may, unless it is told not to.
is_traced_by_nobody=()
[ "$(id -u)" -ne 0 ] || is_traced_by_nobody=(setpriv --bounding-set -sys_ptrace)
# in_own_dvm HOSTS N COMMAND...: a job in a DVM of its own.
in_own_dvm() {
  local hosts=$1 n=$2
  shift 2
  within "$((60 * slow))" "${is_traced_by_nobody[@]}" troupe run --host "$hosts" \
    --remote-shell "$PWD/here.sh" -n "$n" "$@"
}
# shellcheck disable=SC2086
check "F4.15 X9" "under a daemon with keys they are handed what they cannot open" \
  all_shared in_own_dvm a:3 3 $ours fenced here
# shellcheck disable=SC2086
check "F4.21 X9" "also if there are several" \
  all_shared in_own_dvm a:2,b:2 4 $ours fenced here
# shellcheck disable=SC2086
check "F4.43 X9" "and find the data of their job there" \
  all_shared in_own_dvm a:2,b:2 4 $ours placed
# shellcheck disable=SC2086
check "COLL-3 X9" "and meet there" \
  all_shared in_own_dvm a:2,b:2 4 $ours rounds 50

if unshare -Urpf --mount-proc true 2>/dev/null; then
  # shellcheck disable=SC2086
  check "F4.15 C4.6" "processes in containers are handed it, too" \
    all_shared job -n 3 unshare -Urpf --mount-proc $ours fenced here
  # shellcheck disable=SC2086
  check "F4.15 COLL-3" "and meet others" all_shared \
    job -n 2 $ours rounds 50 : -n 2 unshare -Urpf --mount-proc $ours rounds 50
else
  skip "F4.15 C4.6" "processes in containers are handed it, too" \
    "this user may not make namespaces"
fi
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
  # shellcheck disable=SC2086
  check "F4.15 C4.6" "in another mount namespace they find it" \
    all_shared job -n 3 unshare -m $ours fenced here
  # shellcheck disable=SC2086
  check "F4.15 C4.6" "but not without /proc: they ask, and the log says why once" \
    unshared "does not find the server in its /proc" \
    job -n 3 unshare -m ./no_proc $ours rounds 50
  # shellcheck disable=SC2086
  check "F4.43 C4.6" "they are sent the data of their job" \
    unshared "does not find the server in its /proc" \
    job -n 3 unshare -m ./no_proc $ours placed
  # shellcheck disable=SC2086
  check "F4.15 C4.6" "the same if only some of them are so" \
    unshared "does not find the server in its /proc" \
    job -n 2 $ours rounds 50 : -n 2 unshare -m ./no_proc $ours rounds 50
  # shellcheck disable=SC2086
  check "F4.15 C4.6" "a full /dev/shm does not matter to it" \
    all_shared job -n 3 unshare -m ./full_shm $ours fenced here
  full_for_all() {
    # shellcheck disable=SC2086
    within "$((30 * slow))" unshare -m ./full_shm \
      troupe run --oversubscribe -n 3 $ours fenced here
  }
  check "F4.15 C4.6" "nor to its server" all_shared full_for_all
else
  skip "F4.15 C4.6" "what they find in other mount namespaces" "needs root"
fi
# The most that a file may have holds for memory, too.
small_files() (
  ulimit -f 64
  # shellcheck disable=SC2086
  job -n 3 $ours rounds 50
)
check "F4.15 C4.6" "a server that gets no memory says so" \
  unshared "File too large" small_files

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
