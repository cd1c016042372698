# The figures of the mesh: that they are measured and shown. None is judged here;
# what they are on a quiet machine stands in bench/README.md.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"

need_lab "P-N1"
table=$(within 280 "$TROUPE_SOURCE/bench/mesh" --scale 0.1 --idle-seconds 1 \
  --troupe "$TROUPE_BIN" 2 idle faults 2>"$TROUPE_WORK/progress") || {
  failed "P-N1" "the figures are made"
  tail -n 20 "$TROUPE_WORK/progress"
  finish
}
# row IDENTIFIERS DESCRIPTION BEGINNING
row() {
  check_match "$1" "$2" "^\\| $3.*\\| +[0-9][0-9.]*( ms)? +\\|" "$table"
}
row "O15" "a DVM for one process" "DVM of 2 nodes for 1 process"
row "O15" "a process in a DVM" "1 process in a DVM of 2"
row "O15" "fences over nodes" "fence, 16 processes on 2 nodes, 1 KiB"
row "O15" "direct modex over nodes" "direct modex from another"
row "LINK-7" "what an idle DVM sends" "idle traffic of all 8 nodes, frames"
row "LINK-7" "what an idle DVM computes" "idle CPU of all 8 daemons"
row "P-N1" "the pause when a network goes down" \
  "longest fence while one of two networks goes down"
row "P-N1" "the pause when a network falls silent" \
  "longest fence while one of two networks falls silent"
check_equal "O18" "nothing failed" "" "$(grep '^Failed' <<<"$table")"
finish
