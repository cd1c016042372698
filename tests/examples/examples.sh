# Everything in examples/, built as its first lines say and run.
. "$TROUPE_SOURCE/tests/interop/check.sh"

# run N PROGRAM: runs it under our launcher, output in $output.
run() {
  local outcome=0
  output=$(within 60 "$TROUPE_BIN/troupe" run -n "$1" --oversubscribe "$2" \
    2>&1) || outcome=$?
  printf '%s\n' "$output"
  return "$outcome"
}

check "F1.16" "mpi_hello compiles" \
  compile_mpi "$TROUPE_SOURCE/examples/mpi_hello.c" mpi_hello
for n in 1 2 4 16; do
  check "F1.16 F6.1 F6.2 F6.6" "mpi_hello runs on $n processes" run "$n" ./mpi_hello
  check_equal "F6.6" "mpi_hello on $n: every process reports itself" "$n" \
    "$(grep -c "^mpi rank [0-9]* of $n: .* of $n on this node\$" <<<"$output")"
  check_match "F6.1 F6.2" "mpi_hello on $n: ring and sum are right" \
    "^mpi ring and allreduce over $n processes: right\$" "$output"
done

check "F1.16" "pmix_hello compiles" \
  compile_pmix "$TROUPE_SOURCE/examples/pmix_hello.c" pmix_hello
for n in 1 4 16; do
  check "F1.16 F4.15 F4.16 F4.37" "pmix_hello runs on $n processes" \
    run "$n" ./pmix_hello
  check_equal "F4.14" "pmix_hello on $n: every process reports itself" "$n" \
    "$(grep -c "^pmix rank [0-9]* of $n: local rank" <<<"$output")"
  check_match "F4.16 F4.37" "pmix_hello on $n: all values and the event came" \
    "^pmix fence brought $n of $n values, event received\$" "$output"
done

finish
