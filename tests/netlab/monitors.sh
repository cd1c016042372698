# Kinds of monitors that work with other nodes: plugins that are built against the
# installed headers, daemons and tools of the installed tree, and a node that is killed.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "C11.3 C11.4 C11.7"
prefix=$TROUPE_WORK/prefix
check "C11.7" "cmake --install" cmake --install "$TROUPE_BUILD" --prefix "$prefix" --strip
export PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
compile peer_alerts
examples=$prefix/share/doc/troupe/examples

# plugin FILE SOURCE: as the first lines of the examples say.
mkdir -m 755 plugins
plugin() {
  # shellcheck disable=SC2046
  c++ -std=c++17 -O1 -shared -fPIC $(pkg-config --cflags troupe) "$2" -o "plugins/$1" \
    && chmod 755 "plugins/$1"
}
check "C11.3" "a kind that looks compiles out of the tree" \
  plugin backlog.so "$examples/queue_monitor.cpp"
check "C11.7" "one that works with other nodes, too" \
  plugin peer.so "$examples/peer_monitor.cpp"

lab 3
need_dvm n1:4,n2:4,n3:4 --monitor "plugins=$PWD/plugins"
check_equal "C11.7" "the daemons are those of the installed tree" "$prefix/bin/trouped" \
  "$(readlink "/proc/$(daemon n2)/exe")"

mkdir queue.0 queue.1 queue.2
mesh_job --rtos recoverable -n 3 ./peer_alerts >heard 2>job.err &
job_pid=$!
eventually 30 grep -qx ready heard || cat heard job.err
nspace=$(in_dvm jobs | awk 'NR == 2 { print $1 }')

# monitor COMMAND [ARGUMENT]...: as users do, on the root's node.
monitor() {
  local command=$1
  shift
  within $((60 * slow)) "$netlab" exec n1 troupe monitor "$command" --dvm "$dvm_name" "$@"
}

# watch RANK: has a process watched from the root's node, whichever it runs on.
watch() {
  monitor add peer --proc "$nspace:$1" --set probe=backlog --interval 0.2 \
    --set "directory=$PWD/queue.$1" --set limit=0
}
# alerts TEXT N: the handler has heard that so often. hears: soon.
alerts() {
  [ "$(grep -cFx "$1" heard)" -eq "$2" ]
}
hears() {
  eventually "$1" alerts "$2" "$3" && return
  cat heard job.err
  tail -n 20 dvm.err
  return 1
}
for rank in 0 1 2; do
  check "C11.7" "a monitor of rank $rank, asked for on the first node" watch "$rank"
done
for ((i = 0; i < 9; ++i)); do watch 2 >/dev/null || failed "C11.7" "more of them"; done
monitor list >list
check_equal "C11.7 C11.8" "all of them are on the node where they were asked for" "12 n1" \
  "$(awk 'NR > 1 { print $3 }' list | sort | uniq -c | awk '{ print $1, $2 }')"
touch queue.0/a queue.1/a
check "C11.4 C11.7" "what a probe finds on this node reaches the handler" \
  hears 10 "alert of 0: 1 files wait in $PWD/queue.0" 1
check "C11.4 C11.7" "and on another one" \
  hears 10 "alert of 1: 1 files wait in $PWD/queue.1" 1

kill -9 "$(daemon n3)"
check "C11.7" "each of ten monitors tells that the node is lost" \
  hears 30 "alert of 2: its node is lost" 10
sleep 2
check_equal "C11.7" "once, and nothing else was told" "1 1 10" \
  "$(echo $(grep -c 'alert of 0' heard) $(grep -c 'alert of 1' heard) \
    $(grep -c 'alert of 2' heard))"

# told RANK: how often files have been found for it. finds RANK: a queue that is
# empty for a while and then not is found anew, sooner or later.
told() { grep -c "^alert of $1: . files wait" heard; }
more_than() { [ "$(told "$1")" -gt "$2" ]; }
finds() {
  local before i
  before=$(told "$1")
  for ((i = 0; i < 20; ++i)); do
    rm -f "queue.$1"/*
    sleep 1
    touch "queue.$1/b"
    eventually 3 more_than "$1" "$before" && return
  done
  return 1
}
check "C11.7" "the others go on" finds 1
monitor list
number=$(monitor list | awk -v proc="$nspace:1" '$2 == proc { print $1 }')
check "C11.8" "one is cancelled by its number" monitor cancel "$number"
before=$(told 1)
rm -f queue.1/*
sleep 1
touch queue.1/d
check "C11.8" "the other one goes on" finds 0
check_equal "C11.8" "and it tells nothing any more" "$before" "$(told 1)"

touch done
wait "$job_pid"
dvm_down >/dev/null 2>&1
rm -rf queue.? plugins
check "C11.7" "nothing is left" nothing_after 10 n1 n2
finish
