# Processes that speak PMI-1 to their launcher, and not as they should: it goes
# on, others are served, its memory is bounded.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

hostile=$programs/pmi1_attacks.py

start_trouped
in_dvm() {
  within "$((${limit:-60} * slow))" troupe run --dvm "pid:$trouped_pid" --oversubscribe "$@"
}

limit=600 in_dvm -n 2 /usr/bin/python3 "$hostile" honest over >honest 2>&1 </dev/null &
honest=$!
before=$(rss "$trouped_pid")

# attack NAME [SEED]: how it ends is the attacker's business; how long it takes
# is not, nor that the daemon lives.
attack() {
  local outcome=0
  in_dvm -n 1 /usr/bin/python3 "$hostile" "$@" 2>&1 | cat -v
  outcome=${PIPESTATUS[0]}
  [ "$outcome" -ne 124 ] && kill -0 "$trouped_pid" && kill -0 "$honest"
}

count=0
for name in $(/usr/bin/python3 "$hostile" list); do
  case $name in
    random_*)
      for seed in 1 ${TROUPE_SEEDS:-}; do
        check "MND-X52" "lines of PMI: $name, seed $seed" attack "$name" "$seed"
      done
      ;;
    *) check "MND-X52" "lines of PMI: $name" attack "$name" ;;
  esac
  # No control character of theirs reaches a terminal.
  if grep -q '\^\[' "$TROUPE_WORK/output"; then
    failed "MND-X52 MND-A7" "what $name says is escaped"
    cat "$TROUPE_WORK/output"
  fi
  count=$((count + 1))
done
check_equal "MND-X52" "that were all" 22 "$count"

check "MND-X52" "another job finds what it puts as ever" \
  in_dvm -n 2 bash "$programs/pmi1.sh" data
touch over
wait "$honest"
check_equal "MND-X52" "the job beside them has got all its answers" 0 $?
cat honest
check "MND-X52" "each within 2 s" \
  awk "/rounds/ {++n; if (\$(NF - 1) > 2000 * $slow) ++bad} END {exit n != 2 || bad}" \
  honest
after=$(rss "$trouped_pid")
echo "resident before $before KiB, after $after KiB"
[ -n "${TROUPE_SANITIZER:-}" ] || check "MND-X52" "memory is bounded" \
  test $((after - before)) -lt $((256 << 10))
check "MND-X52" "the daemon ends in order" stop_trouped
clean "MND-X52" "nothing is left"
finish
