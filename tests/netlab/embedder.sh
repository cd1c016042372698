# A program of somebody who uses the installed package, on three nodes: it embeds a
# member of a DVM with a server inside, has monitors of its own kind made on every
# node, gets their alerts, and hears of the end of each once when a node is killed.
# The source of a plugin, examples/queue_monitor.cpp, is another kind of it: a process of
# one node has those of all nodes watched, and hears of alerts by a handler.
#
# scripts/tsan runs the program from the build, under the thread sanitizer: then no node
# may have seen a race, and there are no such processes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "C11.9 C11.11 C12.4"
prefix=$TROUPE_WORK/prefix
is_sanitized() { [ "${TROUPE_SANITIZER:-}" = thread ]; }
built() {
  # shellcheck disable=SC2046
  within 300 c++ -std=c++17 -O1 -Wall -Wextra -Werror own/watch_nodes.cpp \
    own/queue_monitor.cpp $(pkg-config --cflags --libs troupe_mesh) -o watch_nodes
}
plugin() {
  # shellcheck disable=SC2046
  within 300 c++ -std=c++17 -O1 -shared -fPIC $(pkg-config --cflags troupe) \
    own/peer_monitor.cpp -o plugins/peer.so && chmod 755 plugins/peer.so
}
if is_sanitized; then
  cp "$TROUPE_BIN/watch_nodes" . || { failed "" "watch_nodes is not built"; finish; }
else
  check "C11.9" "cmake --install" cmake --install "$TROUPE_BUILD" --prefix "$prefix" --strip
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  # No header of the tree is beside it.
  mkdir own && cp "$lab_programs/watch_nodes.cpp" \
    "$prefix"/share/doc/troupe/examples/{queue,peer}_monitor.cpp own
  check "C11.9 C11.11" "a program out of the tree compiles, a plugin's source in it" built
  check_match "C11.9" "and uses the library that was installed" \
    "libtroupe_mesh\.so\.[0-9.]+ => $prefix/lib/" "$(ldd watch_nodes)"
  mkdir -m 755 plugins
  check "C11.11" "a plugin that it loads compiles" plugin
  compile peer_alerts
  mkdir queue.0 queue.1 queue.2
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nexec "%s" "%s" >"%s.$PMIX_RANK" 2>&1\n' "$PWD/peer_alerts" \
    "$PWD/queue" "$PWD/heard" >watched
  chmod 755 watched
fi

lab 3 2
monitors=4 # On each node.
(umask 077 && ./watch_nodes keys 3) || { failed "" "keys"; finish; }
mkdir spool.n1 spool.n2 spool.n3

# start NODE ARGUMENT...: the program there; what it writes is in said.NODE.
start() {
  local node=$1
  shift
  background "$node" "$PWD/watch_nodes" "$@" >"said.$node" 2>"err.$node"
}
start n1 key.0 3 "$monitors"
start n2 key.1 10.201.0.1
start n3 key.2 10.202.0.1

# lines PATTERN N: the first node has written so many of them. comes SECONDS PATTERN
# N: soon, and what there is instead.
lines() { [ "$(grep -cE -- "$1" said.n1)" -eq "$2" ]; }
comes() {
  eventually "$1" lines "$2" "$3" && return
  tail -n 20 said.n1 err.*
  return 1
}
check "C11.9 C12.4" "monitors of its kind begin on every node" \
  comes 30 '^begun ' $((3 * monitors))

# files NODE N: so many more come for the monitors of a node.
files() {
  local i there
  there=$(find "spool.$1" -type f | wc -l)
  for ((i = 1; i <= $2; ++i)); do : >"spool.$1/$((there + i))"; done
}
# tally: how many monitors of which node have told how often of a file, and ended how
# often and why; and all that may not be: an alert that does not come from there or is
# not the next one, one after the end of its monitor, and what nobody knows.
tally() {
  awk '
    function place(number) { return "n" int(number / 100) }
    $1 == "begun" { ++begun[$2]; next }
    $1 == "alert" && $2 in begun && !($2 in downs) && "n" $3 + 1 == place($2) \
      && $4 == alerts[$2] + 1 { alerts[$2] = $4; next }
    $1 == "down" && $2 in begun { ++downs[$2]; why[$2] = why[$2] " " $3; next }
    $1 != "end" { print "fault: " $0 }
    END {
      for (x in begun)
        print place(x) ": " alerts[x] + 0 " alerts, " downs[x] + 0 " downs" why[x]
    }' said.n1 | sort | uniq -c | sed 's/^ *//'
}

for node in n1 n2 n3; do files "$node" 100; done
check "C11.9" "each alert of each node comes" comes 20 '^alert ' $((300 * monitors))
check_equal "C11.9" "... typed, once and in order" \
  "$monitors n1: 100 alerts, 0 downs
$monitors n2: 100 alerts, 0 downs
$monitors n3: 100 alerts, 0 downs" "$(tally)"

# -- a process has those of all nodes watched --------------------------------------

# heard TEXT N: its handler has heard that so often. hears: soon, and what there is
# instead.
heard() { [ "$(grep -cFx -- "$1" heard.0)" -eq "$2" ]; }
hears() {
  eventually 20 heard "$1" "$2" && return
  tail -n 20 heard.0 err.*
  return 1
}
if ! is_sanitized; then
  check "C11.11" "a process has one of each node watched by the kind in the program" \
    hears ready 1
  touch queue.0/a
  check "C11.4 C11.11" "what it finds on this node reaches the handler" \
    hears "alert of 0: 1 files wait in $PWD/queue.0" 1
  touch queue.1/a
  check "C11.4 C11.11" "and on another one" \
    hears "alert of 1: 1 files wait in $PWD/queue.1" 1
fi

# -- a node is killed, while its monitors tell -----------------------------------

for ((i = 101; i < 3000; ++i)); do
  [ ! -e enough ] || break
  : >spool.n3/$i
  sleep 0.01
done &
writer=$!
amid() { [ "$(grep -c '^alert 3.. ' said.n1)" -gt $((120 * monitors)) ]; }
check "C11.9" "alerts flow" eventually 20 amid
kill -9 "$(processes n3 watch_nodes)"
files n1 100
files n2 100
check "C11.9" "the node is killed: the end of each of its monitors is told" \
  comes 15 '^down 3.. ' "$monitors"
check "C11.9" "the others go on meanwhile" comes 10 '^alert [12]' $((400 * monitors))
sleep 1
touch enough
wait "$writer"
tally | sed 's/^/     | /'
check_equal "C11.9" "... once, as the loss of its node, and after its alerts" \
  "$monitors: 1 downs exit_reason(remote_link_unreachable)" \
  "$(tally | awk '/ n3: | fault/ { n += $1; $1 = $2 = $3 = $4 = ""; how[$0] }
    END { printf "%d:", n; for (x in how) print x }' | tr -s ' ')"

files n1 100
files n2 100
check "C11.9" "the others go on afterwards" comes 20 '^alert [12]' $((600 * monitors))
check_equal "C11.9" "with all that they find, each once" \
  "$monitors n1: 300 alerts, 0 downs
$monitors n2: 300 alerts, 0 downs" "$(tally | grep -v ' n3: ')"
if ! is_sanitized; then
  check "C11.11" "the handler hears that the node is lost" \
    hears "alert of 2: its node is lost" 1
  check_equal "C11.11" "once, and of nothing else" \
    "alert of 0: 1 files wait in $PWD/queue.0
alert of 1: 1 files wait in $PWD/queue.1
alert of 2: its node is lost" "$(grep -v '^ready$' heard.0 | sort)"
  touch done
fi

# -- the end ---------------------------------------------------------------------

kill -TERM "$(processes n1 watch_nodes)"
check "C11.9 C12.4" "it ends its monitors, and itself" comes 20 '^end$' 1
check_equal "C11.9" "of whose end it hears once, too" \
  "$monitors n1: 300 alerts, 1 downs none
$monitors n2: 300 alerts, 1 downs none" "$(tally | grep -v ' n3: ')"
check_equal "C11.9" "and in all once of each" $((3 * monitors)) "$(grep -c '^down' said.n1)"
kill -TERM "$(processes n2 watch_nodes)"
check "C11.9" "nothing is left" nothing_after 10 n1 n2
no_errors() { cat err.n1 err.n2 err.n3 && [ ! -s err.n1 ]; }
check "C11.9" "and nobody has complained" no_errors
if is_sanitized; then
  check "C11.9" "the thread sanitizer sees no race in any node" no_races
fi
finish
