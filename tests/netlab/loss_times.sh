# How soon the others know that a daemon has died, stands still or is cut off: one node
# after the other, and the root and the last one stay.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "L8 L5 O13"
lab 6 2
# The time of guarantees 1 and what a machine with two processors adds.
dead=$((6 * slow))
need_dvm n1:2,n2:2,n3:2,n4:2,n5:2,n6:2

# lost NODE COMMAND...: does that, and waits until the DVM says that the node is lost.
lost() {
  local node=$1 struck took
  shift
  struck=$(seconds_now)
  "$@"
  eventually 15 node_is_lost "$node" || { in_dvm nodes; return 1; }
  took=$(since "$struck")
  echo "     noticed after $took s"
  at_most "$took" "$dead"
}

check "L8" "a daemon is killed: noticed in time" lost n2 kill -9 "$(daemon n2)"
cat "$TROUPE_WORK/output"
stopped=$(daemon n3)
check "L8" "a daemon stops: noticed in time" lost n3 kill -STOP "$stopped"
cat "$TROUPE_WORK/output"
check "L8" "a node is cut off: noticed in time" lost n4 "$netlab" part all n4
cat "$TROUPE_WORK/output"
check "L8 L5 O13" "a node is out of reach, in silence: noticed in time" \
  lost n5 "$netlab" silence n5 all
cat "$TROUPE_WORK/output"
check "L5" "the last one is live" node_is_live n6
kill -CONT "$stopped"
dvm_down >/dev/null 2>&1
finish
