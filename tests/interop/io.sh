# Streams of processes on one node: what is written arrives, whole and once,
# whatever the reader does. TROUPE_IO_MIB sets the size of the largest stream.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

largest=${TROUPE_IO_MIB:-100}
most_kib=65536
head -c "$((largest << 20))" /dev/urandom >large
head -c 20971520 large >input

digest() {
  sha256sum | cut -d ' ' -f 1
}
digest_of_large=$(digest <large)
digest_of_input=$(digest <input)
digest_of_nothing=$(digest </dev/null)

# peak FILE COMMAND...: runs it; the largest resident memory of any of its
# processes, in KiB, is in FILE.
peak() {
  local to=$1
  shift
  within "$((60 * slow))" /usr/bin/time -o "$to" -f %M "$@"
}

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
    if [ $PMIX_RANK = 1 ]; then sleep 0.5; exit; fi
    (sleep 0.2; echo late) & echo first' | xargs)"

long_line() {
  head -c 10485760 /dev/zero | tr '\0' x >line
  local begin=$EPOCHREALTIME
  [ "$(job -n 1 -l cat line | tr -dc x | wc -c)" = 10485760 ] || return 1
  local middle=$EPOCHREALTIME
  fold -w 80 line >lines
  begin_lines=$EPOCHREALTIME
  job -n 1 -l cat lines >/dev/null
  local end=$EPOCHREALTIME
  awk -v a="$begin" -v b="$middle" -v c="$begin_lines" -v d="$end" 'BEGIN {
    printf "10 MB in one line %.2f s, in lines %.2f s\n", b - a, d - c
    exit !(b - a < 2 * (d - c) + 1) }'
}
check "I18" "a line of 10 MB costs what lines of 10 MB cost" long_line
cat "$TROUPE_WORK/output"

# -- readers that are slow, stop, or go ----------------------------------------

mkfifo pipe
# sleeps OPTIONS: into a reader that sleeps first.
sleeps() {
  peak memory troupe run -n 1 "$@" cat large >pipe 2>sleeps.err &
  local runner=$! got
  got=$({ sleep 1; digest; } <pipe)
  wait "$runner" || return 1
  echo "$largest MiB: $(tail -n 1 memory) KiB resident"
  [ "$got" = "$digest_of_large" ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ]
}
check "I18" "193: $largest MiB into a reader that sleeps" sleeps
cat "$TROUPE_WORK/output"
stops() {
  within 60 troupe run -n 1 cat input >pipe &
  local runner=$!
  digest <pipe >got &
  local reader=$!
  sleep 0.05
  kill -STOP "$reader"
  sleep 0.5
  kill -CONT "$reader"
  wait "$runner" && wait "$reader" && [ "$(cat got)" = "$digest_of_input" ]
}
check "I18" "a reader that is stopped and goes on" stops
drops() {
  peak memory troupe run -n 1 --output drop-oldest cat large >pipe 2>drops.err &
  local runner=$! got
  got=$({ sleep 1; wc -c; } <pipe)
  wait "$runner" || return 1
  local missing
  missing=$(sed -n 's/^troupe: \([0-9]*\) bytes\{0,1\} of stdout.* missing.*/\1/p' \
    drops.err | awk '{sum += $1} END {printf "%.0f", sum}')
  echo "$got bytes shown, $missing missing, $(tail -n 1 memory) KiB"
  [ "$((got + ${missing:-0}))" = "$((largest << 20))" ] \
    && [ "${missing:-0}" -gt 0 ] && [ "$(tail -n 1 memory)" -lt "$most_kib" ]
}
check "I18 P-I1" "drop-oldest: what is shown and what is said to be missing add up" \
  drops
cat "$TROUPE_WORK/output"
closed() {
  job -n 1 sh -c 'cat large; exit 5' | head -c 1000 >/dev/null
  [ "${PIPESTATUS[0]}" = 5 ]
}
check "I18" "a pipe that is closed: the job goes on" closed
check "I18" "/dev/full: the job goes on" \
  status 6 sh -c 'troupe run -n 1 sh -c "cat input; exit 6" >/dev/full'
interrupted() {
  troupe run -n 1 cat /dev/zero >pipe &
  local runner=$!
  exec 7<pipe
  sleep 0.4
  kill -INT "$runner"
  sleep 0.3
  kill -INT "$runner"
  sleep 0.3
  kill -INT "$runner" 2>/dev/null
  eventually 3 sh -c "! kill -0 $runner"
  local outcome=$?
  exec 7<&-
  wait "$runner"
  [ $? = 130 ] && [ $outcome = 0 ]
}
# The shell starts jobs in the background with SIGINT ignored.
set -m
check "I18" "a launcher whose reader has stopped can be interrupted" interrupted
set +m

# -- standard input ------------------------------------------------------------

reads='sha256sum | cut -d " " -f 1 >"in.$PMIX_RANK"'
inputs() {
  cat in.*
  rm -f in.*
}
job -n 3 sh -c "$reads" <input
check_equal "I6" "196, 197: 20 MB for rank 0" \
  "$digest_of_input $digest_of_nothing $digest_of_nothing" "$(inputs | xargs)"
cat input | job -n 3 --stdin 2 sh -c "$reads"
check_equal "I6" "196: 20 MB for rank 2, from a pipe" \
  "$digest_of_nothing $digest_of_nothing $digest_of_input" "$(inputs | xargs)"
job -n 3 --stdin all sh -c "$reads" <input
check_equal "I6" "196, 197: 20 MB for three processes" \
  "$digest_of_input $digest_of_input $digest_of_input" "$(inputs | xargs)"
job -n 4 --stdin all sh -c '
  case $PMIX_RANK in
    1) sleep 0.7 ;;
    2) exit 0 ;;
    3) head -c 100 >/dev/null; exec sleep 0.2 <&- ;;
  esac
  '"$reads" <input
check_equal "I6" \
  "196: 20 MB for all, one slow, one dead, one that stops to read" \
  "$digest_of_input $digest_of_input" "$(inputs | head -n 2 | xargs)"
check_equal "I6" "197: the end comes once, after all bytes" "3 0" \
  "$({ printf a; sleep 0.1; printf bc; } \
     | job -n 1 sh -c 'echo "$(wc -c) $(wc -c)"')"
check "I6" "a job that does not read ends before its input does" \
  sh -c 'sleep 20 | timeout 10 troupe run -n 1 true; kill $! 2>/dev/null; :'
flow() {
  { head -c 20000000 /dev/zero; date +%s%N >written; } \
    | job -n 1 sh -c 'sleep 0.7; date +%s%N >began; exec cat >/dev/null'
  [ "$(cat written)" -gt "$(cat began)" ]
}
check "I18" "196: a process that does not read holds up who writes to it" flow

# -- wiring --------------------------------------------------------------------

check_equal "I16" "merge: errors go with output" "a b c" \
  "$(job -n 1 --output merge sh -c 'echo a; echo b >&2; echo c' 2>/dev/null | xargs)"
check_match "I16" "tag" '^\[[^]]*,0\]<stdout>: x$' \
  "$(job -n 1 --output tag echo x)"
check_match "I16" "rank" '^\[0\].*x$' "$(job -n 1 --output rank echo x)"
check_match "I16" "xml" '<stdout.*>x' "$(job -n 1 --output xml echo x)"
python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 2)' >all_bytes
# parses OPTION...: two processes write every byte; a reader of XML gets all.
parses() {
  job -n 2 --output "xml$1" sh -c 'cat all_bytes; cat all_bytes >&2' >all.xml || return 1
  head -c 300 all.xml
  python3 - <<'END'
import collections, xml.etree.ElementTree as tree
root = tree.parse("all.xml").getroot()
assert root.tag == "troupe", root.tag
found = collections.defaultdict(str)
for x in root:
    found[x.tag, x.get("rank")] += x.text
def byte(x):
    # Control characters that XML has not are their pictures.
    return ord(x) - 0x2400 if 0x2400 <= ord(x) < 0x2420 else ord(x)
assert sorted(found) == [(x, y) for x in ("stderr", "stdout") for y in "01"], found
for x in found.values():
    assert bytes(map(byte, x)) == bytes(range(256)) * 2, x
END
}
for marks in "" ,tag-detailed ,tag-fullname,timestamp; do
  check "I16 X31" "xml$marks is one document whatever is written" parses "$marks"
done
empty_document() {
  job -n 1 --output xml true >none.xml
  [ "$(xargs <none.xml)" = "<troupe> </troupe>" ]
}
check "I16" "xml without output is a document" empty_document
check_equal "I16" "raw" "x" "$(job -n 1 --output raw printf x)"
check_match "I16" "json, only the output" '^{.*"data":"x\\n".*}$' \
  "$(job -n 1 --output json echo x)"
directory() {
  job -n 2 --output dir=out sh -c 'cat part; echo "$PMIX_RANK" >&2' \
    >/dev/null 2>&1 || return 1
  local rank
  for rank in 0 1; do
    cmp part out/*/rank.$rank/stdout || return 1
    [ "$(cat out/*/rank.$rank/stderr)" = "$rank" ] || return 1
  done
}
check "I16" "dir: a file for each stream" directory
only_files() {
  [ -z "$(job -n 2 --output file=only,file-only sh -c 'cat part' 2>&1)" ] \
    && cmp part only.*.0.out && cmp part only.*.1.out
}
check "I16" "file, and nothing on the terminal" only_files
pattern() {
  job -n 2 --output file=pattern-%r,pattern echo x >/dev/null \
    && [ "$(cat pattern-0.out pattern-1.out)" = "$(printf 'x\nx')" ]
}
check "I16" "a pattern for the names of files" pattern
check_equal "I16" "--pty: a terminal of its own" "tty tty tty" \
  "$(job -n 1 --pty sh -c 'for i in 0 1 2; do test -t $i && printf "tty "; done' \
     | tr -d '\r' | xargs)"
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

# -- windows -------------------------------------------------------------------

cat >in_window.sh <<'END'
#!/bin/sh
# in_window.sh RANK PROGRAM...: a window whose user types the rank.
rank=$1
shift
echo "typed $rank" | "$@" >"window.$rank"
END
chmod +x in_window.sh
windows() {
  job -n 3 --screen './in_window.sh %r' sh -c 'read -r x; echo "got $x"' \
    >screen.out || return 1
  local rank
  for rank in 0 1 2; do
    eventually 3 grep -qx "got typed $rank" window.$rank || return 1
  done
  [ ! -s screen.out ]
}
check "I16" "--screen: a window for each process" windows
no_windows() {
  job -n 2 --screen false echo x >screen.out 2>screen.err || return 1
  [ "$(cat screen.out)" = "$(printf 'x\nx')" ] && [ "$(grep -c 'no window for rank' screen.err)" = 2 ]
}
check "I16" "--screen: without windows output is shown all the same" no_windows

# -- wrong options -------------------------------------------------------------

# refused OPTION...: one line that names the option, status 2.
refused() {
  troupe run "$@" -n 1 true >refused.out 2>&1
  [ $? = 2 ] && [ "$(wc -l <refused.out)" = 1 ] && grep -q -- "$1" refused.out
}
check "I16" "--output: an unknown word" refused --output tags
check "I16" "--output: two places" refused --output dir=a,file=b
check "I16" "--output: a wrong size" refused --output tail=much
check "I16" "--stdin: no rank" refused --stdin first
check "I16" "--screen with --stdin" refused --screen xterm --stdin 0
check_equal "I16" "--stdin: a rank that is not there" \
  "troupe run: --stdin 4: the job has no such process, its ranks are 0 to 1" \
  "$(job -n 2 --stdin 4 true 2>&1)"

clean "I17" "nothing is left"
finish
