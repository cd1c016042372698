# Streams over three nodes that nobody takes for a while: memory under a reader
# that sleeps; input for all, at the pace of who reads it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "I6 I9 I18 IO-2 LIM14"
compile io_bytes
limit=${TROUPE_IO_LIMIT:-120}
lab 3 2
need_dvm n1:4,n2:4,n3:4

# -- a reader that sleeps ------------------------------------------------------

# most_memory: the most that any process of ours had, in KiB.
most_memory() {
  local node pid most=0 peak
  for node in n1 n2 n3; do
    for pid in $(processes $node); do
      case $(cat "/proc/$pid/comm" 2>/dev/null) in
        troupe | trouped) ;;
        *) continue ;;
      esac
      peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null)
      [ "${peak:-0}" -le "$most" ] || most=$peak
    done
  done
  echo "$most"
}

asleep() {
  local bytes=314572800 outcome
  rm -f writer
  mesh_job -n 3 sh -c '[ "$PMIX_RANK" = 2 ] || exit 0
    '"$as_writer" sh ./io_bytes write $bytes 2>"$TROUPE_WORK/err" \
    | { stuck; most_memory >"$TROUPE_WORK/memory"
        ./io_bytes check $bytes; most_memory >>"$TROUPE_WORK/memory"; }
  outcome=${PIPESTATUS[*]}
  cat "$TROUPE_WORK/err"
  [ "$outcome" = "0 0" ]
}
check "I18 IO-2 193" "300 MB into a reader that sleeps: every byte" asleep
memory=$(sort -n "$TROUPE_WORK/memory" | tail -n 1)
echo "     most memory of a process of ours: $memory KiB"
check "I18 IO-2 LIM14 193" "in less than 64 MB" test "$memory" -lt 65536

# many: 64 processes on each node that write 1 MiB each, into a reader that
# sleeps until all of them wait.
many() {
  local outcome all=$((192 << 20))
  begin_writers
  mesh_job -n 192 --oversubscribe \
    sh -c "$as_writers" sh head -c $((1 << 20)) /dev/zero 2>"$TROUPE_WORK/err" \
    | { all_stuck 192; most_memory >"$TROUPE_WORK/memory"; wc -c >"$TROUPE_WORK/got"
        most_memory >>"$TROUPE_WORK/memory"; }
  outcome=${PIPESTATUS[*]}
  cat "$TROUPE_WORK/err"
  [ "$outcome" = "0 0" ] && [ "$(cat "$TROUPE_WORK/got")" -eq "$all" ]
}
check "I18 IO-2 193" "192 streams of three nodes into a reader that sleeps" many
memory=$(sort -n "$TROUPE_WORK/memory" | tail -n 1)
echo "     most memory of a process of ours: $memory KiB"
check "I18 IO-2 LIM14 193" "all of them in less than 64 MB" \
  test "$memory" -lt 65536

# -- input ---------------------------------------------------------------------

fed() {
  ./io_bytes write 20000000 \
    | mesh_job -n 6 --stdin all ./io_bytes check 20000000 >report 2>&1 \
    || { cat report; return 1; }
  [ "$(grep -c '^20000000 bytes of 20000000, exact$' report)" -eq 6 ]
}
check "I6 I9 196 197" "20 MB of input for six processes on three nodes" fed

one_fed() {
  ./io_bytes write 20000000 \
    | mesh_job -n 3 --stdin 2 sh -c '[ "$PMIX_RANK" != 2 ] \
      || exec ./io_bytes check 20000000' >report 2>&1 \
    || { cat report; return 1; }
  grep -qx '20000000 bytes of 20000000, exact' report
}
check "I6 196" "20 MB of input for one process on another node" one_fed

# early: a reader that exits early holds up neither the others nor the source.
early() {
  ./io_bytes write 20000000 \
    | mesh_job -n 3 --stdin all sh -c '[ "$PMIX_RANK" = 1 ] && exit
      exec ./io_bytes check 20000000' >report 2>&1 || { cat report; return 1; }
  [ "$(grep -c '^20000000 bytes of 20000000, exact$' report)" -eq 2 ]
}
check "I6 I9 196" "one of three exits at once" early

dvm_down >/dev/null 2>&1
finish
