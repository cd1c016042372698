# What `troupe run` does with the streams of a job: forms, files, terminals,
# windows, and what it refuses.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"

head -c 1048576 /dev/urandom >part

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
  "troupe run: --stdin 4: the job has no such process, its ranks are 0 to 1; name one of them" \
  "$(job -n 2 --stdin 4 true 2>&1)"

clean "I17" "nothing is left"
finish
