# A launcher and its job in a control group with little memory: what processes
# want to keep in the server is refused before the kernel kills it, and whom it
# kills is named.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

# The hierarchy with memory that we may use, and its files.
v1=/sys/fs/cgroup/memory
v2=/sys/fs/cgroup
if [ -w "$v1/cgroup.procs" ]; then
  groups=$v1 limit_file=memory.limit_in_bytes kills_file=memory.oom_control
elif grep -qs memory "$v2/cgroup.subtree_control" && [ -w "$v2/cgroup.procs" ]; then
  groups=$v2 limit_file=memory.max kills_file=memory.events
else
  skip "MND-X51" "a launcher with little memory" \
    "no control group of memory may be made here"
  check_match "MND-X51" "there is none" "." "none"
  finish
fi
if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-X51" "a launcher with little memory" "a sanitizer needs more"
  check_match "MND-X51" "there is none" "." "none"
  finish
fi

group=$groups/troupe-$TROUPE_MARK
mkdir "$group" || { failed "MND-X51" "making $group"; finish; }
system=${LD_LIBRARY_PATH:-}
build memory_hog

# limited MIB COMMAND...: runs it there; its words are in `said`, its status in
# `status`, and in `kills` how many processes the kernel has killed meanwhile.
limited() {
  local before after
  echo "$(($1 << 20))" >"$group/$limit_file"
  shift
  before=$(sed -n 's/^oom_kill //p' "$group/$kills_file")
  status=0
  (
    echo "$BASHPID" >"$group/cgroup.procs"
    exec timeout --kill-after=5 "$((60 * slow))" troupe run --oversubscribe "$@"
  ) >out 2>said </dev/null || status=$?
  after=$(sed -n 's/^oom_kill //p' "$group/$kills_file")
  kills=$((after - before))
  cat said
  echo "status $status, $kills killed for memory"
}

# refused COMMAND...: the server says no to all of them, and goes on.
refused() {
  limited 200 -n 4 ./memory_hog "$@"
  [ "$status" -eq 0 ] && [ "$kills" -eq 0 ] \
    && [ "$(grep -c 'OUT.OF.RESOURCE' said)" -eq 4 ]
}

# survives COMMAND...: the launcher lives; if the kernel kills, then a process
# of the job, which is named.
survives() {
  limited 200 -n 4 ./memory_hog "$@"
  if [ "$kills" -eq 0 ]; then
    [ "$status" -le 1 ]
  else
    [ "$status" -eq 137 ] && is_named
  fi
}

# is_named: the process, and why.
is_named() {
  grep -q 'rank [0-9] (./memory_hog, pid [0-9]* on .*) was killed by signal 9' said \
    && grep -q "while there was no memory left: .*$group, which may have" said
}

killed() {
  limited 100 -n 2 ./memory_hog take 1000000 1000
  [ "$status" -eq 137 ] && [ "$kills" -gt 0 ] && is_named \
    && grep -q "troupe: rank 0" said
}

for library in ours system; do
  case $library in
    ours) export LD_LIBRARY_PATH=$TROUPE_LIB${system:+:$system} ;;
    system) export LD_LIBRARY_PATH=$system ;;
  esac
  check "MND-X51" "$library: a rank that takes all memory is named with it" killed
  check "MND-X51" "$library: published values are refused in time" \
    refused publish 1000000 1000
  check "MND-X51" "$library: events do not end the launcher" \
    survives raise 500000 200
  check "MND-X51" "$library: output does not end the launcher" \
    survives write 1000000 100
done
export LD_LIBRARY_PATH=$TROUPE_LIB${system:+:$system}
check "MND-X51" "ours: posted values are refused in time" refused post 1000000 1000
check "MND-X51" "ours: many smaller ones, too" refused post 40000 100000
# Other libraries send all again with each commit, in messages that are too long
# at last.
export LD_LIBRARY_PATH=$system
check "MND-X51" "system: posted values do not end the launcher" \
  survives post 1000000 1000

# is_preferred: a process of the job goes before the launcher.
is_preferred() {
  # It has begun before we can say so.
  limited 200 -n 1 bash -c 'for _ in {1..100}; do
    read -r x </proc/$$/oom_score_adj
    [ "$x" -le "$0" ] || break
    sleep 0.05
  done; echo "$x"' "$(cat /proc/self/oom_score_adj)"
  [ "$(cat out)" -gt "$(cat /proc/self/oom_score_adj)" ]
}
check "MND-X51" "a process of the job is killed before the launcher" is_preferred
check "MND-X51" "the group is empty" eventually 5 rmdir "$group"
clean "MND-X51" "nothing is left"
finish
