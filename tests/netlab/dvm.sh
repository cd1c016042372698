# To be sourced after lab.sh: a DVM of daemons on the nodes of the lab. Its root
# runs on n1, and every tool too.

dvm_name=lab

# compile NAME...: builds programs of this folder or of tests/interop.
compile() {
  local name source
  for name in "$@"; do
    source=$lab_programs/$name.c
    [ -f "$source" ] || source=$programs/$name.c
    case $name in
      mpi_*) compile_mpi "$source" "$name" ;;
      *) compile_pmix "$source" "$name" ;;
    esac || { failed "" "compiling $name.c"; finish; }
  done
}

# dvm_up LIST [OPTION]...: starts a DVM on these hosts and waits until it is
# ready. Sets dvm_root, the number of the root's process.
dvm_up() {
  local hosts=$1
  shift
  : >"$TROUPE_WORK/dvm.out"
  background n1 troupe up --name "$dvm_name" --host "$hosts" \
    --remote-shell "$netlab exec" "$@" >"$TROUPE_WORK/dvm.out" \
    2>"$TROUPE_WORK/dvm.err"
  dvm_root=$background_pid
  eventually 30 dvm_is_ready && return
  echo "the DVM is not ready"
  dvm_says
  return 1
}

dvm_is_ready() { grep -qx 'DVM ready' "$TROUPE_WORK/dvm.out"; }

dvm_says() {
  sed 's/^/troupe up | /' "$TROUPE_WORK/dvm.out" "$TROUPE_WORK/dvm.err"
}

# need_dvm LIST [OPTION]...: the script ends with a failure without a DVM.
need_dvm() {
  dvm_up "$@" >"$TROUPE_WORK/need_dvm" 2>&1 && return
  failed "" "a DVM of $1"
  cat "$TROUPE_WORK/need_dvm"
  finish
}

# dvm_down: ends it as users do, and waits for its root.
dvm_down() {
  within $((60 * slow)) "$netlab" exec n1 troupe down --dvm "$dvm_name" \
    && eventually 10 ended "$dvm_root"
}

# in_dvm COMMAND [ARGUMENT]...: a command of `troupe` that asks the DVM.
in_dvm() {
  local command=$1
  shift
  within "$((${limit:-60} * slow))" "$netlab" exec n1 \
    troupe "$command" --dvm "$dvm_name" "$@"
}

# mesh_job [OPTION]... PROGRAM...: a job in the DVM, spread over its nodes.
mesh_job() { in_dvm run --map-by node --oversubscribe "$@"; }

# processes NODE [NAME]: the numbers of all processes on a node but the one that
# keeps it, the oldest first; those of a program, if it is named.
processes() {
  local pid
  # By their start: numbers begin again after the highest.
  for pid in $(ip netns pids "$TROUPE_LAB-${1#n}" | sed 's/^/-p/' \
    | xargs -r ps -o pid= --sort=start_time); do
    [ "$pid" != "$(cat "/run/$TROUPE_LAB/$1.pid")" ] || continue
    [ -z "${2:-}" ] || [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] \
      || continue
    # What has ended and waits for its parent does not run.
    grep -qs '^State:[[:space:]]Z' "/proc/$pid/status" || echo "$pid"
  done
}

# daemon NODE: the number of its daemon.
daemon() { processes "$1" trouped | head -n 1; }

# nothing_on NODE...: passes if nothing runs on a node, and nothing is left in
# its directories; says what is.
nothing_on() {
  local node pid file left=0
  for node in "$@"; do
    for pid in $(processes "$node"); do
      echo "$node: process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
      left=1
    done
    # A user's folder of sessions stays, empty.
    while read -r file; do
      echo "$node: file $file"
      left=1
    done < <(on "$node" find "/run/$TROUPE_LAB/$node/tmp" /dev/shm \
      -mindepth 1 ! -name "troupe-$(id -u)")
  done
  return "$left"
}

# no_process_on NODE...: the same of processes alone: what a daemon that was killed
# has in its directories is removed by the next one.
no_process_on() {
  local node pid left=0
  for node in "$@"; do
    for pid in $(processes "$node"); do
      echo "$node: process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
      left=1
    done
  done
  return "$left"
}

# nothing_after SECONDS NODE...: the same, after a moment.
nothing_after() {
  local seconds=$1
  shift
  eventually "$seconds" nothing_on "$@" || nothing_on "$@"
}

# node_state NAME: what the DVM says of a node, in one line.
node_state() { in_dvm nodes | grep -w -- "$1"; }
node_is_lost() { node_state "$1" | grep -qw lost; }
node_is_live() { node_state "$1" | grep -qw live; }

# lanes_are PEER NET yes|no [NET yes|no]...: whether the root has a usable lane to
# that node on each of these networks; says what there is if not.
lanes_are() {
  local found
  found=$(in_dvm net --json) || return
  /usr/bin/python3 - "$@" 3<<<"$found" <<'END' || { in_dvm net; return 1; }
import json, os, sys
nodes = json.load(os.fdopen(3))["nodes"]
peers = [p for node in nodes if node["rank"] == 0 for p in node["peers"]]
lanes = [x for p in peers if p["name"] == sys.argv[1] for x in p["lanes"]]
usable = {x["network"] for x in lanes if x["usable"] and "relay" not in x}
for net, wanted in zip(sys.argv[2::2], sys.argv[3::2]):
    if ("net" + net in usable) != (wanted == "yes"):
        sys.exit(1)
END
}

# -- time ----------------------------------------------------------------------

seconds_now() { date +%s.%N; }

# since START: seconds, with three digits.
since() { awk -v a="$1" -v b="$(seconds_now)" 'BEGIN { printf "%.3f", b - a }'; }

# at_most A B: compares two decimal numbers.
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }
