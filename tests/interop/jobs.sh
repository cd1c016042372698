# To be sourced after check.sh: jobs, daemons, and what they leave behind.
#
# Everything that a script starts lives in a temporary directory of its own and
# carries a mark in its environment, so that two scripts do not disturb each
# other and leftovers are found.

export TMPDIR=$TROUPE_WORK/tmp
mkdir -p "$TMPDIR"
unset PMIX_SYSTEM_TMPDIR PMIX_NAMESPACE PMIX_RANK PMIX_SERVER_TMPDIR
export TROUPE_MARK=$$.$RANDOM
programs=$TROUPE_SOURCE/tests/interop/programs
slow=1
[ -z "${TROUPE_SANITIZER:-}" ] || slow=5

# build NAME...: compiles programs of this folder into the current directory.
build() {
  local name
  for name in "$@"; do
    case $name in
      mpi_*) compile_mpi "$programs/$name.c" "$name" ;;
      *) compile_pmix "$programs/$name.c" "$name" ;;
    esac || { failed "" "compiling $name.c"; finish; }
  done
}

# job [OPTION]... PROGRAM...: a job that has to end within `limit` seconds.
job() {
  within "$((${limit:-30} * slow))" troupe run --oversubscribe "$@"
}

# eventually SECONDS COMMAND...: passes as soon as COMMAND does. The whole time:
# SECONDS counts in full ones, and would give up to one less.
eventually() {
  local deadline=$((${EPOCHREALTIME//[!0-9]/} + $1 * slow * 1000000))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "${EPOCHREALTIME//[!0-9]/}" -lt "$deadline" ] || return 1
    sleep 0.02
  done
}

# ended PID: passes if there is no such process any more.
ended() { ! kill -0 "$1" 2>/dev/null; }

# marked_processes: the numbers of all processes that carry our mark, without
# this shell and what it runs for itself.
marked_processes() {
  local file pid
  for file in $(grep -lszx "TROUPE_MARK=$TROUPE_MARK" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    pid=${pid%/environ}
    [ "$pid" != $$ ] && [ "$pid" != "$BASHPID" ] || continue
    case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in
      "" | bash\ *.sh\ * | tr\ * | grep\ *) ;;
      *) echo "$pid" ;;
    esac
  done 2>/dev/null
}

# nothing_left: passes if no process, socket, file or segment is left of what
# the script has started; says what is.
nothing_left() {
  local left=0 pid file
  for pid in $(marked_processes); do
    echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    left=1
  done
  # A user's folder of sessions stays, empty.
  for file in $(find "$TMPDIR" -mindepth 1 ! -path "$TMPDIR/troupe-$(id -u)"); do
    echo "file $file"
    left=1
  done
  if [ -f "$TROUPE_WORK/segments" ]; then
    for file in $(segments | comm -13 "$TROUPE_WORK/segments" -); do
      # Somebody else's job may be using it.
      ! grep -qs -- "$file" /proc/[0-9]*/maps || continue
      echo "shared memory $file"
      left=1
    done
  fi
  if ss -tlnpH 2>/dev/null | grep -E '"trouped?"'; then
    other_launchers || left=1
  fi
  return "$left"
}

segments() {
  find /dev/shm -mindepth 1 -user "$(id -un)" 2>/dev/null | sort
}

# other_launchers: passes if the launchers that listen are not ours.
other_launchers() {
  local pid
  for pid in $(ss -tlnpH | sed -n 's/.*"trouped\{0,1\}",pid=\([0-9]*\).*/\1/p'); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null \
      | grep -qx "TROUPE_MARK=$TROUPE_MARK" && return 1
  done
  return 0
}

# clean IDENTIFIERS DESCRIPTION: a check that nothing is left.
clean() {
  check "$1" "$2" eventually_nothing_left
}

# What a process that was killed held is given back by the kernel, which takes
# a moment on a loaded machine.
eventually_nothing_left() {
  eventually 3 nothing_left || nothing_left
}

# -- daemons -------------------------------------------------------------------

# start_trouped [OPTION]...: sets trouped_pid and trouped_uri.
start_trouped() {
  : >"$TROUPE_WORK/uri"
  trouped --report-uri "$@" >"$TROUPE_WORK/uri" 2>"$TROUPE_WORK/trouped.log" \
    </dev/null &
  trouped_pid=$!
  eventually 10 grep -q tcp "$TROUPE_WORK/uri" || {
    failed "" "trouped starts"
    cat "$TROUPE_WORK/trouped.log"
    finish
  }
  trouped_uri=$(head -n 1 "$TROUPE_WORK/uri")
}

# stop_trouped [SIGNAL]: ends it and waits; its status is the result.
stop_trouped() {
  kill -"${1:-TERM}" "$trouped_pid"
  wait "$trouped_pid"
}

# gauge PID NAME: what `troupe net` says of a server.
gauge() {
  within 20 troupe net --json --dvm "pid:$1" \
    | /usr/bin/python3 -c 'import json, sys
for x in json.load(sys.stdin)["nodes"][0]["gauges"]:
    if x["name"] == sys.argv[1]:
        print(x["value"])' "$2"
}

# -- processes -----------------------------------------------------------------

# rss PID: resident memory in KiB.
rss() {
  sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

# descriptors PID: how many are open.
descriptors() {
  find "/proc/$1/fd" -mindepth 1 | wc -l
}

# cpu_ns PID: CPU time of all its threads in nanoseconds.
cpu_ns() {
  cat "/proc/$1"/task/*/schedstat | awk '{sum += $1} END {print sum + 0}'
}

# cpu_ticks PID: the same in ticks, from another source.
cpu_ticks() {
  sed 's/.*) //' "/proc/$1/stat" | awk '{print $12 + $13}'
}

segments >"$TROUPE_WORK/segments"
