# Three nodes of a user's program: beside the loop of its gateway each has an actor
# system of its own, whose scheduled, detached and blocking actors talk with the next
# node, while a network fails and a node is killed. scripts/tsan runs it under the
# thread sanitizer: then no node may have seen a race.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"
. "$TROUPE_SOURCE/tests/netlab/remoting_nodes.sh"

need_lab "C12.12"
lab 3 2
"$program" keys keys 0 1 2 || { failed "" "credentials"; finish; }
items=300000
[ "$slow" = 1 ] || items=30000
questions=2000

start n1 0 keys
start n2 1 keys
start n3 2 keys
joined() {
  asks n1 90 'find desk: of node 1' find 1 $((60 * slow)) desk desk \
    && asks n2 90 'find desk: of node 2' find 2 $((60 * slow)) desk desk \
    && asks n3 90 'find desk: of node 0' find 0 $((60 * slow)) desk desk
}
check "C12.12" "three nodes find each other" joined

# over NODE RANK: what its actors have sent to that node has come in order, and all
# its questions are answered.
over() {
  hears "$1" 90 "scheduled flood $2 over: $items taken, 0 faults" \
    && hears "$1" 90 "detached flood $2 over: $items taken, 0 faults" \
    && hears "$1" 90 "blocking over: $questions answers"
}
all_over() { over n1 1 && over n2 2 && over n3 0; }
tell n1 beside 1 "$items" 64 "$questions"
tell n2 beside 2 "$items" 64 "$questions"
tell n3 beside 0 "$items" 64 "$questions"
hears n1 60 'scheduled flood 1 goes on' >/dev/null
"$netlab" cut n2 1
sleep 0.3
"$netlab" heal n2 1
check "C12.12" "actors of a second system of each node talk with the next one" all_over
check "C12.12" "a thread asks an actor of another node" \
  asks n2 60 'send question: an answer' send 0 question
check "C12.12" "a thread hears of the end of an actor of another node" \
  asks n3 90 'dead: down .*user_shutdown.*; then .*receiver_down.*, down' dead 1

: >out.n1
: >out.n2
tell n1 ask 2 20 5 2000
hears n1 60 'half answered' >/dev/null
tell n2 beside 0 "$items" 64 "$questions"
kill -9 "$(processes n3 remoting_node)"
check "C12.12" "a node is killed: each request ends once, each monitor has one down_msg" \
  hears n1 60 'all ended: 1000 answers, 1000 errors, 100 downs, 0 twice'
check "C12.12" "... and the others go on" over n2 0

if [ "${TROUPE_SANITIZER:-}" = thread ]; then
  check "C12.12" "the thread sanitizer sees no race in any node" no_races
fi
finish
