# A DVM of many more daemons than the machine has processors: jobs, fences, the
# death of some, and the end. None is taken for lost that lives, and nothing is
# left.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"

need_lab "O18 L8"
within 900 "$TROUPE_SOURCE/bench/many" lab --nodes 48 --kill 5 --prrte "" \
  --troupe "$TROUPE_BIN" >"$TROUPE_WORK/table" 2>"$TROUPE_WORK/progress" \
  || tail -n 20 "$TROUPE_WORK/progress"
table=$(cat "$TROUPE_WORK/table")
check_match "O18" "a DVM of 48 nodes is ready" "DVM of 48 nodes, until it is ready +\\| [0-9]" \
  "$table"
check_match "O18" "fences of 96 processes" "fence of 96 processes on 48 nodes" "$table"
check_match "L8" "five deaths are noticed" "5 daemons are killed: until the root knows" \
  "$table"
check_match "L8" "the others go on" "fence of 86 processes on 43 nodes, our library" \
  "$table"
check_equal "O18" "nothing failed" "" "$(grep '^Failed' <<<"$table")"
finish
