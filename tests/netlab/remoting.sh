# Handles over the mesh: processes of a user's own with actors and messages of
# their own, on nodes whose networks fail and that are killed.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"
. "$TROUPE_SOURCE/tests/netlab/remoting_nodes.sh"

need_lab "ACT-1 ACT-3 ACT-4 ACT-5 ACT-6 ACT-7 ACT-9 ACT-10 ACT-14 ACT-16"
lab 4 2
# n1 and n2 are of one user, n3 of another, n4 nobody's.
"$program" keys keys 0:1000 1:1000 2:1001 3 || { failed "" "credentials"; finish; }
# Of another authority, for the rank of n4.
"$program" keys foreign 3 || { failed "" "credentials"; finish; }

start n1 0 keys
start n2 1 keys

# -- handles -------------------------------------------------------------------

check "ACT-5" "an actor of another node is found by its name" \
  asks n1 10 'find desk: of node 1' find 1 10 desk desk
check "ACT-5" "... on whichever node it is" \
  asks n2 5 'find desk for n2: of node 1' find any 5 desk "desk for n2"
check "ACT-5" "a name that nobody has published is not there" \
  asks n1 5 'find nothing: .*no_actor_published' find 1 5 desk nothing
check "ACT-5" "a handle of another interface is refused" \
  asks n2 5 'find desk: .*interface' find 0 5 sink desk
check "ACT-1" "a request is answered" \
  asks n1 5 'send question: an answer' send 1 question

# -- once and in order ---------------------------------------------------------

# A million messages on two nodes.
in_order='over: COUNT taken, 0 faults'
cut_amid() {
  local node=$1 net=$2
  shift 2
  "$netlab" cut "$node" "$net"
  sleep 0.5
  if says n1 'flood . over'; then
    echo "the flood was over before"
    return 1
  fi
  "$netlab" heal "$node" "$net"
}
tell n1 flood 1 1000000 64
hears n1 10 'flood 1 goes on' >/dev/null
check "ACT-14" "2 nodes: a network is cut amid a flood" cut_amid n2 1
check "ACT-6 ACT-14" "2 nodes: a million messages come once and in order" \
  hears n1 90 "flood 1 ${in_order/COUNT/1000000}"
said n1 'flood 1 over' | sed 's/^/     | /'

start n3 2 keys
check "ACT-5" "a node that has just joined is found" \
  asks n1 10 'find desk: of node 2' find 2 10 desk desk
: >out.n1
tell n1 flood 1 333334 64
tell n2 flood 2 333333 64
tell n3 flood 0 333333 64
hears n1 10 'flood 1 goes on' >/dev/null
check "ACT-14" "3 nodes: a network is cut amid floods" cut_amid n1 2
all_in_order() {
  hears n1 90 "flood 1 ${in_order/COUNT/333334}" \
    && hears n2 90 "flood 2 ${in_order/COUNT/333333}" \
    && hears n3 90 "flood 0 ${in_order/COUNT/333333}"
}
check "ACT-14" "3 nodes: a million messages come once and in order" all_in_order
said n1 'flood 1 over' | sed 's/^/     | /'

# n1 is on one network, n3 on the other: n2 passes on what they say.
"$netlab" cut n1 1
"$netlab" cut n3 2
: >out.n1
tell n1 flood 2 100000 64
check "ACT-14" "... and over a third node, for want of a network in common" \
  hears n1 90 "flood 2 ${in_order/COUNT/100000}"
said n1 'flood 2 over' | sed 's/^/     | /'
"$netlab" heal n1 1
"$netlab" heal n3 2

# -- ends, and who may find whom ---------------------------------------------

check "ACT-3" "an actor that has ended: one down_msg, then errors at once" \
  asks n1 15 'dead: down .*user_shutdown.*; then .*receiver_down.*, down' dead 1
check "ACT-5 ACT-9" "an actor for one node is not found by another" \
  asks n3 5 'find desk for n2: .*no_actor_published' find 0 5 desk "desk for n2"
check "ACT-5" "... and by that node it is" \
  asks n2 5 'find desk for n2: of node 0' find 0 5 desk "desk for n2"

check "ACT-16" "an actor for the same user is found by its nodes" \
  asks n2 5 'find desk for the user: of node 0' find 0 5 desk "desk for the user"
check "ACT-16" "... and not by a node of another" \
  asks n3 5 'find desk for the user: .*no_actor_published' find 0 5 desk "desk for the user"
: >out.n1
check "ACT-3" "who is linked to an actor of another node ends with it" \
  asks n1 10 'link: ours has .*user_shutdown' link 1 theirs
: >out.n1
check "ACT-3" "... and that ends with who is linked to it" \
  asks n1 15 'link: theirs has down .*user_shutdown' link 1 ours

# -- a receiver that stands still ------------------------------------------------

n1_pid=$(processes n1 remoting_node)
n3_pid=$(processes n3 remoting_node)
# stopped COMMAND...: n3 stands still while n1 does that; `grown` is by how many KiB.
stopped() {
  local before
  before=$(rss "$n1_pid")
  kill -STOP "$n3_pid"
  tell n1 "$@"
  sleep 1.5
  grown=$(($(rss "$n1_pid") - before))
  kill -CONT "$n3_pid"
  echo "     | $*: $grown KiB more while it stands still"
}
: >out.n1
stopped pace 2 20000 16384
check "ACT-10" "a sender that waits for room: bounded memory" \
  at_most "$grown" 100000
check "ACT-10" "... and nothing is lost" hears n1 60 "pace 2 ${in_order/COUNT/20000}"
said n1 'pace 2 over' | sed 's/^/     | /'
stopped overfill 2 10000 16384
check "ACT-10" "requests as fast as they go: bounded memory" at_most "$grown" 100000
check "ACT-10" "... what has no room fails, and each ends once" \
  hears n1 20 'all ended: [0-9]+ answers, [1-9][0-9]* errors, 0 downs, 0 twice'
said n1 'all ended' | sed 's/^/     | /'

# -- a node is killed ------------------------------------------------------------

: >out.n1
tell n1 link 2 none
hears n1 10 'link is there' >/dev/null
tell n1 ask 2 100 10 20000
check "ACT-4" "20,000 requests and 1,000 monitors, 10,000 of them answered" \
  hears n1 40 'half answered'
kill -9 "$n3_pid"
check "ACT-3 ACT-4" "a node is killed: each request ends once, each monitor has one down_msg" \
  hears n1 15 'all ended: 10000 answers, 10000 errors, 1000 downs, 0 twice'
# By the clock of the node: it has said when half was answered, before the kill.
took=$(awk -v a="$(said n1 'half answered')" -v b="$(said n1 'all ended')" \
  'BEGIN { print a != "" && b != "" ? b - a : "never" }')
echo "     | $took s after the kill: $(said n1 'all ended')"
check "ACT-4" "... within the time of a death" at_most "$took" 7
check "ACT-3" "... and who is linked to an actor there ends" \
  hears n1 5 'link: ours has .*remote_link_unreachable'
check "ACT-3" "a handle of that node: errors at once" \
  asks n1 10 'again: .*, down' again

check "ACT-4" "... and nothing has ended a second time" \
  asks n1 5 'asked: 10000 answers, 10000 errors, 1000 downs, 0 twice' asked

# -- strangers -----------------------------------------------------------------

start n4 3 foreign
check "ACT-9" "a node with credentials of another authority finds nobody" \
  asks n4 10 'find desk: .*cannot_connect' find 0 2 desk desk
check "ACT-9" "... and is nobody for the others" \
  asks n1 5 'find desk: .*cannot_connect' find 3 0 desk desk
kill -9 "$(processes n4 remoting_node)"

# -- another version of the program ----------------------------------------------

start n4 3 keys old
check "ACT-5" "a node of an older program is found" \
  asks n1 10 'find desk: of node 3' find 3 10 desk desk
check "ACT-16" "a node that is nobody's finds no actor for a user" \
  asks n4 5 'find desk for the user: .*no_actor_published' find 0 5 desk "desk for the user"
check "ACT-7" "a message with a member more is refused, the request hears why" \
  asks n1 10 'send reading: .*' send 3 reading
check_equal "ACT-7" "... it has no answer" "" "$(said n1 'send reading: an answer')"
check "ACT-7" "a message of an unknown type is refused, the request hears why" \
  asks n1 10 'send novelty: .*' send 3 novelty
check_equal "ACT-7" "... it has no answer" "" "$(said n1 'send novelty: an answer')"
said n1 'send reading' | sed 's/^/     | /'
said n1 'send novelty' | sed 's/^/     | /'
check "ACT-7" "what both know still comes" \
  asks n1 5 'send question: an answer' send 3 question
check "ACT-7" "what was refused is counted" \
  asks n4 5 'gauges: .*refused_content=2' gauges

# -- the program of docs/remoting.md -------------------------------------------

"$TROUPE_BIN/remoting_adder" keys
background n1 "$TROUPE_BIN/remoting_adder" "$TROUPE_WORK/key.0" >adder.out 2>&1
check_equal "ACT-1 ACT-3" "the program of the documentation, on two nodes" \
  "40 + 2 = 42
exit_reason(user_shutdown)" "$(within 20 "$netlab" exec n2 "$TROUPE_BIN/remoting_adder" \
    "$TROUPE_WORK/key.1" 10.201.0.1 2>&1)"
finish
