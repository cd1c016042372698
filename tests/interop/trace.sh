# The way of a fence and of an event over the daemons of a DVM, by the numbers that
# their messages carry: steps of all nodes, in the order of their times.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build fences events event_flow
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
python=/usr/bin/python3
way="$python $programs/trace_way.py"

# tool COMMAND...: a command that has to answer soon.
tool() { within "$((20 * slow))" troupe "$@" --dvm trace </dev/null; }
run() { within "$((60 * slow))" troupe run --dvm trace --map-by node "$@" </dev/null; }

troupe up --name trace --host a:8,b:8 --remote-shell "$PWD/here.sh" >up.out 2>up.err \
  </dev/null &
dvm_pid=$!
eventually 30 grep -qx "DVM ready" up.out || { failed "" "a DVM"; cat up.err; finish; }

check_match "TRC-1" "the latest are a table" '^ID +BEGAN +MS +NODES +STEPS +STATUS$' \
  "$(tool trace)"

# -- a fence -------------------------------------------------------------------

check "" "a job with 201 fences" run -n 4 ./fences plain
tool trace --last 256 >latest
fence=$(awk '$1 ~ /^fence:.*#201$/ { print $1; exit }' latest)
check_match "TRC-1" "its last fence is listed, with the nodes that know it" \
  "^$fence +[0-9T:.+-]+ +[0-9.]+ +2 +[0-9]+ +success$" "$(grep -w -- "$fence" latest)"
# follows KIND ID ARGUMENT...: the steps of one of them are as they should be.
follows() {
  local kind=$1 id=$2
  shift 2
  tool trace "$id" --json >steps.json || return 1
  $way "$kind" "$@" <steps.json
}
check "TRC-1" "a fence: who has called, what went where, in order" \
  follows fence "$fence" 4 1 2
tool trace "$fence" >steps
check_match "TRC-1" "its way in words, with times" \
  "^$fence, 2[0-9-]+T.*, [0-9.]+ ms\$" "$(head -n 1 steps)"
check_match "TRC-1" "each step has its node" \
  '^ *[0-9]+\.[0-9]{3}  a +[^ ]+:[0-9]+ has called it$' \
  "$(cat steps)"
check_equal "TRC-1" "four have called" 4 "$(grep -c 'has called it$' steps)"

check "" "a job whose fence times out" run -n 2 ./fences times_out
tool trace --last 256 >latest
check_match "TRC-1" "a fence that fails says how" '^fence:.* PMIX_ERR_TIMEOUT$' \
  "$(cat latest)"

# -- an event ------------------------------------------------------------------

check "" "a job with an event" run -n 2 ./events to_default
nspace=$(tool trace | awk '/^fence:/ { sub("fence:", ""); sub("#.*", ""); print; exit }')
# The one of rank 0, among those that its node has put into the order of the job.
event=none
for id in $(tool trace --last 256 | awk '/^event:/ { print $1 }'); do
  case $id in
    "event:$nspace#"*@1)
      if tool trace "$id" | grep -q "$nspace:0 has raised it"; then event=$id; fi ;;
  esac
done
check "TRC-1" "an event: who has raised it, its place, who got it" \
  follows event "$event" 1 2

# -- what is none --------------------------------------------------------------

check "TRC-1" "what nobody remembers" status 1 tool trace 'fence:no-such-job#1'
check "TRC-1" "what is no name" status 2 tool trace 'fence'
check_match "TRC-1" "is told in words" '^troupe trace: "fence" names no operation' \
  "$(tool trace fence 2>&1)"

# -- bounds --------------------------------------------------------------------

check "" "a job with 5,000 events" run -n 4 ./event_flow flood 5000
check "TRC-2" "no node remembers more than its bound" sh -c '
  troupe net --json --dvm trace | /usr/bin/python3 -c "
import json, sys
nodes = json.load(sys.stdin)[\"nodes\"]
found = [x for node in nodes for x in node[\"gauges\"]
         if x[\"name\"] == \"host.traced_steps\"]
assert len(found) == len(nodes) == 3, found
assert all(x[\"value\"] <= x[\"bound\"] == 8192 for x in found), found
assert max(x[\"value\"] for x in found) > 4096, found
"'
check "TRC-2" "and events have not driven out the fence" \
  follows fence "$fence" 4 1 2

check "" "the DVM ends" tool down
wait "$dvm_pid"
clean "" "nothing is left"
finish
