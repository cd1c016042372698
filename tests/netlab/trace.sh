# The way of a fence and of an event over three nodes, and levels of logs on all of
# them, asked at any; what is remembered when a node is lost.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "TRC-1 LOG-2"
compile fences events
lab 3 2
python=/usr/bin/python3
way="$python $programs/trace_way.py"
need_dvm n1:2,n2:2,n3:2

# at NODE COMMAND...: a command of `troupe` that asks the daemon of a node.
at() {
  local node=$1 dvm=$dvm_name
  shift
  [ "$node" = n1 ] || dvm=pid:$(daemon "$node")
  set -- "$@" --dvm "$dvm"
  within "$((20 * slow))" "$netlab" exec "$node" troupe "$@"
}

# -- a fence and an event ------------------------------------------------------

check "" "a job with 201 fences on three nodes" mesh_job -n 6 ./fences plain
at n1 trace --last 256 >latest
fence=$(awk '$1 ~ /^fence:.*#201$/ { print $1; exit }' latest)
check_match "TRC-1" "its last fence is listed, with three nodes" \
  "^$fence .* 3 +[0-9]+ +success\$" "$(cat latest)"
# follows NODE KIND ID ARGUMENT...: as a node tells, it is as it should be.
follows() {
  local node=$1 kind=$2 id=$3
  shift 3
  at "$node" trace "$id" --json >steps.json || return 1
  $way "$kind" "$@" <steps.json
}
check "TRC-1" "a fence: who has called, what went where, in order" \
  follows n1 fence "$fence" 6 0 1 2
check "TRC-1" "another node tells the same" follows n3 fence "$fence" 6 0 1 2

check "" "a job with an event" mesh_job -n 2 --host n2,n3 ./events to_default
nspace=$(at n1 trace | awk '/^fence:/ { sub("fence:", ""); sub("#.*", ""); print; exit }')
# The one of rank 0, among those that its node has put into the order of the job.
event=none
for id in $(at n1 trace --last 256 | awk '/^event:/ { print $1 }'); do
  case $id in
    "event:$nspace#"*@1)
      if at n1 trace "$id" | grep -q "$nspace:0 has raised it"; then event=$id; fi ;;
  esac
done
check "TRC-1" "an event: who has raised it, its place, who got it" \
  follows n1 event "$event" 1 2

# -- levels --------------------------------------------------------------------

check "LOG-2" "a level is set at the third node" at n3 log set collectives=debug
check_match "LOG-2" "for all nodes" '^collectives +debug +debug +debug$' \
  "$(at n1 log show)"
check "" "a job with fences" mesh_job -n 3 ./fences plain
check_match "LOG-2 TRC-1" "the root logs the steps of its fences" \
  'debug: .*node 1.*\(fence:.*#[0-9]+\)$' "$(cat "$TROUPE_WORK/dvm.err")"
check "LOG-2" "and set back" at n1 log set warning
check_match "LOG-2" "for all nodes, too" '^collectives +warning +warning +warning$' \
  "$(at n2 log show)"

# -- a node is lost ------------------------------------------------------------

kill -9 "$(daemon n3)"
check "" "a node is lost" eventually 30 node_is_lost n3
at n1 trace "$fence" >steps
check_match "TRC-1" "what the others remember is still there" 'n2 .*has called it' \
  "$(cat steps)"
check_match "TRC-1" "and what came from it" 'received from node 2' "$(cat steps)"
check "" "the DVM ends" dvm_down
finish
