# Processes of several nodes that meet in the memory of each: one of a node asks for
# all of them, whatever else they do.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "COLL-2 COLL-3 COLL-4"
compile node_store
lab 3 2
need_dvm n1:4,n2:4,n3:4

ours="env LD_LIBRARY_PATH=$TROUPE_LIB ./node_store"

# ours N CASE...: N processes on our library, over the nodes in turn.
ours() {
  local n=$1
  shift
  # shellcheck disable=SC2086
  mesh_job -n "$n" $ours "$@"
}

# mixed N CASE...: the same, and three on Debian's.
mixed() {
  local n=$1
  shift
  # shellcheck disable=SC2086
  mesh_job -n "$n" $ours "$@" : -n 3 ./node_store "$@"
}

check "COLL-3 F4.16" "6 on 3 nodes meet in every way, and read what others posted" \
  ours 6 rounds 100
check "COLL-3 F4.16" "7, of which not as many are on each node" ours 7 rounds 60
check "COLL-3 F4.16" "6 and three on Debian's library" mixed 6 rounds 40
check "COLL-3 C3.7" "two threads of each at once" ours 6 threads
check "COLL-3 C3.7" "the same with Debian's among them" mixed 6 threads

kill_some() {
  local i
  for ((i = 0; i < 8; ++i)); do
    status 137 mesh_job --rtos recoverable "$@" || return 1
    ! grep -qF node_store.c "$TROUPE_WORK/output" || return 1
  done
}
# shellcheck disable=SC2086
check "COLL-2 COLL-4" "one of six is killed in the midst of fences, 8 times" \
  kill_some -n 6 $ours killed
check "COLL-4" "one is stopped now and then" ours 6 stopped
check "COLL-2" "a time-out of one is one of all" ours 6 times_out
check "C3.4" "children that do not exec" ours 6 forks
check "C3.6 COLL-4" "all leave and come back" ours 6 returns
check "F4.21" "who waits for what has not been posted gets it" ours 6 waits
check "F4.21" "what fences bring and replace is found without asking" \
  ours 6 fenced here
check "F4.16 F4.21" "what is too much to come with a fence makes the old value go" \
  ours 6 fenced much
# shellcheck disable=SC2086
check "F4.16 F4.21" "without shared memory, too" \
  mesh_job --no-shared-memory -n 6 $ours fenced much
# shellcheck disable=SC2086
check "F4.21" "where they find nothing without asking" \
  mesh_job --no-shared-memory -n 6 $ours fenced asked
check "COLL-3 C3.7" "fences of several sets go on at once" ours 5 overlap
check "COLL-3 F4.16" "one starts other jobs while all are in fences" ours 6 spawns
# shellcheck disable=SC2086
check "COLL-2 F4.35" "one aborts the job while the others wait for it" \
  status 7 mesh_job -n 6 $ours aborts
# shellcheck disable=SC2086
check "COLL-2" "tolerant fences go on without one that is killed" \
  status 137 mesh_job --rtos recoverable -n 6 $ours tolerant
check "COLL-4" "one that posts is stopped while others read it and meet" \
  ours 6 beside

# -- statistics -------------------------------------------------------------------

# gauges NAME: of the servers of all nodes, in a line.
gauges() {
  in_dvm net --json | /usr/bin/python3 -c '
import json, sys
print(*(x["value"] for node in json.load(sys.stdin)["nodes"]
        for x in node["gauges"] if x["name"] == sys.argv[1]))' "$1"
}

# counted [OPTION]...: the fences in memory of each node, and its bytes, while a job
# that has met is there.
counted() {
  local holder
  rm -f held look
  # shellcheck disable=SC2086
  mesh_job "$@" -n 6 $ours held "$PWD/held" "$PWD/look" >held.log 2>&1 &
  holder=$!
  if eventually 30 test -e held; then
    gauges server.fences_in_memory
    gauges server.shared_memory
  fi
  touch look
  wait "$holder" || cat held.log
}
counted >shared
counted --no-shared-memory >asked
check_match "COLL-3 LOAD-2" "fences in memory are counted on each node" \
  '^([1-9][0-9]+ ){2}[1-9][0-9]+$' "$(sed -n 1p shared)"
check_match "LOAD-2" "and so is the memory" '^([1-9][0-9]+ ){2}[1-9][0-9]+$' \
  "$(sed -n 2p shared)"
check_equal "COLL-3 LOAD-2" "with --no-shared-memory there is nothing of it" \
  "0 0 0|0 0 0" "$(paste -sd '|' asked)"
check "" "the DVM ends" dvm_down
finish
