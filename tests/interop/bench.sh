# The figures: that they are measured and shown. None is judged here; what they
# are on a quiet machine stands in bench/README.md.

. "$TROUPE_SOURCE/tests/interop/check.sh"

table=$(within 240 "$TROUPE_SOURCE/bench/run" --scale 0.1 --idle-seconds 1 \
  --troupe "$TROUPE_BIN/troupe" --library "$TROUPE_LIB" start-1 start-pmix-1 start-64 start-pmix-64 \
  fence-2-0 fence-16-0 local tcp event idle 2>"$TROUPE_WORK/progress") || {
  failed "F7.1" "the figures are made"
  tail -n 20 "$TROUPE_WORK/progress"
  finish
}

# row IDENTIFIERS DESCRIPTION BEGINNING: a row with figures of both launchers.
row() {
  check_match "$1" "$2" "^\\| $3.*\\| +[0-9][0-9.]* +\\|.*\\| +[0-9][0-9.]* +\\|" "$table"
}
check_match "F7.1" "both launchers are in one table" 'troupe.*mpirun' "$table"
row "F7.2" "a job of one process without PMIx" "job of 1 process, start to end, no PMIx"
row "F7.3" "a job of one process with PMIx" "job of 1 process, start to end, init"
row "F7.4" "a job of 64 processes" "job of 64 processes, start to end, no PMIx"
row "F7.4" "a job of 64 processes with PMIx" "job of 64 processes, start to end, init"
row "F7.5" "a fence of 2 processes" "fence, 2 processes"
row "F7.5" "a fence of 16 processes" "fence, 16 processes"
row "F7.6" "an event" "event to another local process"
check_match "C8.1" "three pairs of client and server" \
  'all ours median.*troupe median.*mpirun median' "$table"
row "C8.2" "a get" "get of a job-level key"
row "C8.2" "a put" "put of 64 bytes"
row "C8.2" "a put with a commit" "put and commit of 64 bytes"
check_match "C8.2" "what the machine gives without PMIx is beside them" \
  'floor median.*all ours / floor' "$table"
row "C8.2" "init" "PMIx_Init, alone"
row "C8.2" "a round trip without PMIx" "round trip over TCP"
row "C8.2" "threads of a client" "threads of a client"
row "C8.2" "memory of a client" "memory of a client"
check_match "F7.7" "the server's memory" '(RSS|resident|memory).*[0-9]' "$table"
check_match "F7.8" "medians and 99th percentiles" 'median.*p99|p50.*p99' "$table"
check_match "F7.8" "date and machine" \
  '^20[0-9]{2}-[0-9]{2}-[0-9]{2}; [0-9]+ processors' "$table"
finish
