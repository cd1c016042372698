# Processes and files that are monitored: who is silent is found, in time and never
# early, whoever else is late.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH TROUPE_SLOW=$slow
cd "$TROUPE_WORK" || exit 1
build monitors rfc0015

check "M1 M2 M3 M8 M10 M13 M14 M15 M16 M25 M26 MON-3 P-H1 A20 104 105 107 108" \
  "three monitors of one process alert within 50 ms after they are due" \
  job -n 3 ./monitors beats
grep 'rank .: alert' "$TROUPE_WORK/output"
check "M2 M3 109" "an alert has the range and the code that were asked for" \
  job -n 3 ./monitors range
check "M11 110 A21" "a process cancels its own monitors" \
  job -n 2 ./monitors cancels
check "M6 113" "a process that is stopped is found" job -n 2 ./monitors stopped
grep 'found' "$TROUPE_WORK/output"

# Of our library only: on others the last of them come when they have been read.
if [ -n "${TROUPE_LIBRARY_IDENTIFIER:-}" ]; then
  check "MON-5" "beats in memory have no message, and silence after them is noticed" \
    job -n 1 ./monitors memory
  grep 'in a second' "$TROUPE_WORK/output"
  check "MON-5" "beats by messages: no memory is shared" \
    job --no-shared-memory -n 3 ./monitors beats
fi

mkdir files
check "M9 M17 M18 M20 M21 M22 M23 M26 114 115" \
  "files that are not written any more, or vanish" \
  job -n 2 ./monitors files "$PWD/files"
check "M4 LIM7 115" "what cannot be monitored is refused" \
  job -n 1 ./monitors refused "$PWD/files"

check "M15 M21" "beats and files by the second" \
  job -n 1 ./monitors seconds "$PWD/files"
grep ' after ' "$TROUPE_WORK/output"
said=$(job -n 1 ./monitors access "$PWD/files" 2>&1)
case $said in
  "no access times"*) skip "M17 M19" "access as a sign of life" "$said" ;;
  *) check_equal "M17 M19" "access is a sign of life, by both keys, and writing none" \
    "access is a sign of life" "$said" ;;
esac
spared() {
  status 137 job --on-alert kill -n 1 ./monitors app_control >spared 2>&1 || {
    cat spared
    return 1
  }
  grep -qx spared spared
}
check "M12 M24" "the system reacts, but not where the program does" spared
touch files/there
said=$(job -n 1 ./monitors answers "$PWD/files/there" 2>&1)
check_match "M4" "one request is granted" '^0 ' "$said"
check_match "M4" "one is denied" '^-27 ' "$said"
[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || check_match "M4" \
  "and the callback says why" '^-27 .*"relative".*absolute' "$said"

# paused_daemon: stops our own launcher for two seconds while its job beats.
paused_daemon() {
  timeout --kill-after=5 $((30 * slow)) \
    troupe run --oversubscribe -n 2 ./monitors steady 3 >out 2>&1 &
  local pid=$! launcher outcome=0
  eventually 10 grep -qx ready out || { cat out; return 1; }
  launcher=$(pgrep -P "$pid" -x troupe)
  kill -STOP "$launcher"
  sleep 2
  kill -CONT "$launcher"
  wait "$pid" || outcome=$?
  cat out
  return "$outcome"
}
check "P-H1 MON-1 MON-2 113" "a server that stood still accuses nobody" \
  paused_daemon

check "J34 M25 J1 J2" "the program of the RFC, corrected" job -n 2 ./rfc0015 1 1
grep 'due' "$TROUPE_WORK/output"

rm -rf files spared
clean "M1" "nothing is left"
finish
