# Streams of processes on one node: what is written arrives, whole and once,
# whatever the reader does. TROUPE_IO_MIB sets the size of the largest stream.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"

make_bytes large "${TROUPE_IO_MIB:-100}"
head -c 20971520 large >input
digest_of_input=$(digest <input)

# -- every byte ----------------------------------------------------------------

whole() {
  head -c "$1" large >part
  [ "$(job -n 1 cat part | digest)" = "$(digest <part)" ]
}
for size in 0 1 65535 65536 65537 1048576; do
  check "P-I1 I18" "a stream of $size bytes" whole "$size"
done
errors_whole() {
  job -n 1 sh -c 'cat part >&2' 2>errors
  cmp part errors
}
check "P-I1" "standard error, 1 MiB" errors_whole
check_equal "P-I1" "198: what is written before SIGKILL arrives" \
  "$(digest <part)" \
  "$(job -n 1 sh -c 'cat part; kill -9 $$' 2>/dev/null | digest)"
check_equal "P-I1" "198: the exit status of a job is not before its output" \
  "$(digest <part) 7" \
  "$(job -n 1 sh -c 'cat part; exit 7' >got; status=$?
     echo "$(digest <got) $status")"
ranks() {
  job -n 4 sh -c 'i=0; while [ $i -lt 2000 ]; do
    echo "$PMIX_RANK $i"; i=$((i + 1)); done' >lines || return 1
  local rank
  for rank in 0 1 2 3; do
    cmp <(sed -n "s/^$rank //p" lines) <(seq 0 1999) || return 1
  done
}
check "P-I1" "206: lines of four processes, each stream in order" ranks
labelled() {
  job -n 4 -l sh -c 'i=0; while [ $i -lt 500 ]; do
    printf "%s" "begin $i "; echo end; i=$((i + 1)); done' >lines || return 1
  ! grep -Evq '^[0-3]: begin [0-9]+ end$' lines && [ "$(wc -l <lines)" = 2000 ]
}
check "I6" "206: labelled lines are never mixed" labelled
check_equal "P-I1" "a last line without a newline" "0: a|0: b|" \
  "$(job -n 1 -l printf 'a\nb' | tr '\n' '|')"
check_equal "P-I1" "what a child writes to the streams that its parent left" \
  "first late" "$(job -n 2 sh -c '
    if [ $PMIX_RANK = 1 ]; then until [ -e late ]; do sleep 0.02; done; exit; fi
    (while kill -0 $$ 2>/dev/null; do sleep 0.02; done; echo late; : >late) &
    echo first' | xargs)"

# cost FILE COMMAND...: runs it; its CPU time, in seconds, is in FILE.
cost() {
  local to=$1
  shift
  within "$((60 * slow))" /usr/bin/time -o "$to" -f '%U + %S' "$@"
}
long_line() {
  head -c 10485760 /dev/zero | tr '\0' x >line
  fold -w 80 line >lines
  cost one troupe run -n 1 -l cat line >shown || return 1
  [ "$(tr -dc x <shown | wc -c)" = 10485760 ] || return 1
  cost many troupe run -n 1 -l cat lines >/dev/null || return 1
  echo "10 MB in one line $(cat one) s of CPU, in lines $(cat many) s"
  awk "BEGIN { exit !($(cat one) < 2 * ($(cat many)) + 0.5) }"
}
check "I18" "a line of 10 MB costs what lines of 10 MB cost" long_line
cat "$TROUPE_WORK/output"

# -- readers that are slow, stop, or go ----------------------------------------

mkfifo pipe
has_read() { [ "$(sed -n 's/^rchar: //p' "/proc/$1/io")" -ge "$2" ]; }
stops() {
  rm -f go writer
  within 60 troupe run -n 1 sh -c 'head -c 1048576 input
    until [ -e go ]; do sleep 0.02; done
    '"$as_writer" sh tail -c +1048577 input >pipe &
  local runner=$!
  sha256sum <pipe >got &
  local reader=$!
  eventually 20 has_read "$reader" 1048576 || return 1
  kill -STOP "$reader"
  touch go
  stuck || return 1
  kill -CONT "$reader"
  wait "$runner" && wait "$reader" && grep -q "^$digest_of_input " got
}
check "I18" "a reader that is stopped and goes on" stops
closed() {
  job -n 1 sh -c 'cat large; exit 5' | head -c 1000 >/dev/null
  [ "${PIPESTATUS[0]}" = 141 ]
}
check "I18 SIG-6" "a pipe that is closed: the job ends as if by SIGPIPE" closed
check "I18" "/dev/full: the job goes on" \
  status 6 sh -c 'troupe run -n 1 sh -c "cat input; exit 6" >/dev/full'
interrupted() {
  rm -f writer
  troupe run -n 1 sh -c "$as_writer" sh cat /dev/zero >pipe &
  local runner=$! outcome
  exec 7<pipe
  stuck && interrupts "$runner"
  outcome=$?
  exec 7<&-
  return "$outcome"
}
# The shell starts jobs in the background with SIGINT ignored.
set -m
check "I18" "a launcher whose reader has stopped can be interrupted" interrupted
set +m

. "$TROUPE_SOURCE/tests/interop/lines.sh"
check "MND-TORN" "lines of two processes stay whole" whole job -n 2

full_disk() {
  mkdir -p small && mount -t tmpfs -o size=64k none small || return 1
  job -n 1 --output dir=small/out sh -c 'cat input; exit 4' >got 2>full.err
  local outcome=$?
  umount small
  [ $outcome = 4 ] && [ "$(digest <got)" = "$digest_of_input" ] \
    && [ "$(grep -ci 'space' full.err)" = 1 ]
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  export -f full_disk job within digest
  export slow digest_of_input
  check "I16" "a full disk: one warning, and the job goes on" \
    unshare -m bash -c full_disk
else
  skip "I16" "a full disk" "only root mounts a small one"
fi

clean "I17" "nothing is left"
finish
