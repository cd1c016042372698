# Memory while a reader sleeps: what is written waits for it, or is dropped and
# counted. TROUPE_IO_MIB sets the size of the largest stream.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"

largest=${TROUPE_IO_MIB:-100}
make_bytes large "$largest"
digest_of_large=$(digest <large)
mkfifo pipe

sleeps() {
  rm -f writer
  peak memory troupe run -n 1 sh -c "$as_writer" sh cat large >pipe 2>sleeps.err &
  local runner=$! got
  got=$({ stuck; digest; } <pipe)
  wait "$runner" || return 1
  echo "$largest MiB: $(tail -n 1 memory) KiB resident"
  [ "$got" = "$digest_of_large" ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ]
}
check "I18" "193: $largest MiB into a reader that sleeps" sleeps
cat "$TROUPE_WORK/output"
# sums FILE: the bytes that are said to be missing there.
sums() {
  sed -n 's/^troupe: \([0-9]*\) bytes\{0,1\} of stdout.* missing.*/\1/p' "$1" \
    | awk '{sum += $1} END {printf "%.0f", sum}'
}
# The reader begins when all is written.
drops() {
  peak memory troupe run -n 1 --output drop-oldest \
    sh -c 'cat large; : >written' >pipe 2>drops.err &
  local runner=$! got
  got=$({ eventually 30 test -e written; wc -c; } <pipe)
  wait "$runner" || return 1
  local missing
  missing=$(sums drops.err)
  echo "$got bytes shown, $missing missing, $(tail -n 1 memory) KiB"
  [ "$((got + ${missing:-0}))" = "$((largest << 20))" ] \
    && [ "${missing:-0}" -gt 0 ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ]
}
check "I18 P-I1" "drop-oldest: what is shown and what is said to be missing add up" \
  drops
cat "$TROUPE_WORK/output"
# The processes have long ended when the reader begins.
late() {
  local got missing
  within 30 troupe run -n 1 --output drop-oldest head -c 4194304 /dev/zero \
    >pipe 2>late.err &
  local runner=$!
  got=$({ sleep 3; wc -c; } <pipe)
  wait "$runner" || return 1
  missing=$(sums late.err)
  echo "$got bytes shown, $missing missing"
  [ "$((got + ${missing:-0}))" = 4194304 ] && [ "${missing:-0}" -gt 0 ]
}
check "I18 P-I1" "drop-oldest: all is accounted for when the job is long over" late
cat "$TROUPE_WORK/output"
# many OPTIONS: two hundred processes that write 512 KiB each, into a reader
# that sleeps first.
many() {
  local runner got missing all=$((200 << 19))
  begin_writers
  peak memory troupe run --oversubscribe -n 200 "$@" \
    sh -c "$as_writers" sh head -c $((1 << 19)) /dev/zero >pipe 2>many.err &
  runner=$!
  got=$({ all_stuck 200; wc -c; } <pipe)
  wait "$runner" || return 1
  missing=$(sums many.err)
  echo "$got of $all bytes shown, $missing missing, $(tail -n 1 memory) KiB"
  [ "$((got + missing))" = "$all" ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ]
}
check "I18 IO-2 LIM14" "200 streams into a reader that sleeps" many
cat "$TROUPE_WORK/output"
check "I18 IO-1 IO-2 LIM14" "200 streams with drop-oldest into one that sleeps" \
  many --output drop-oldest
cat "$TROUPE_WORK/output"

clean "I17" "nothing is left"
finish
