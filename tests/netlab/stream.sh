# A stream of notifications from one node to the others while networks fail:
# none lost, none doubled, none out of order.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "P-N1 L7 LINK-1"
compile stream
count=${TROUPE_STREAM:-100000}
limit=600
lab 3 2
need_dvm n1:2,n2:2,n3:2

# streamed COUNT FILE: whether both receivers found all of them.
streamed() {
  cat "$2"
  [ "$(grep -c "$1 received, 0 lost, 0 duplicated, 0 reordered" "$2")" -eq 2 ]
}

mesh_job -n 3 ./stream $((count / 10)) >"$TROUPE_WORK/plain" 2>&1
check "L7" "a tenth of it without faults" streamed $((count / 10)) \
  "$TROUPE_WORK/plain"
sed 's/^/     | /' "$TROUPE_WORK/plain"

# It rests a little now and then, so that there is time for faults.
mesh_job -n 3 ./stream "$count" 25 >"$TROUPE_WORK/stream.out" 2>&1 &
stream_pid=$!
faults=0
# Each fault for less than a node may be out of reach, one at a time.
while kill -0 $stream_pid 2>/dev/null && [ $faults -lt 400 ]; do
  for fault in "cut n1 1" "silence n2 2" "reset n3 all" "cut n3 2" \
    "unplug n1 2" "address-del n2 1" "silence n1 1 out" "reset n1 all"; do
    kill -0 $stream_pid 2>/dev/null || break
    # shellcheck disable=SC2086
    set -- $fault
    "$netlab" "$@"
    faults=$((faults + 1))
    sleep 1.5
    "$netlab" heal "$2" "$3"
    sleep 0.5
  done
done
wait $stream_pid
check_equal "P-N1" "the job ends with success after $faults faults" 0 $?
check "P-N1 L7 LINK-1" "$count notifications to two nodes: each once, in order" \
  streamed "$count" "$TROUPE_WORK/stream.out"
sed 's/^/     | /' "$TROUPE_WORK/stream.out"
check "L5" "nobody was lost" node_is_live n2
check "O18" "down" dvm_down
check "O18" "nothing is left on any node" nothing_after 5 n1 n2 n3
finish
