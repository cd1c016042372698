# Output of jobs in files: their names, every byte, and a disk that is full.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

head -c 1048577 /dev/urandom >bytes

# all FOLDER: the files below it, with their namespaces as NS.
all() {
  (cd "$1" && find . -type f) | sed -E 's#[^/.]*@[0-9]+|troupe-[^/.]*#NS#' \
    | sort | xargs
}

check_equal "I16" "a folder for each rank" \
  "./NS/rank.0/stderr ./NS/rank.0/stdout ./NS/rank.1/stdout" \
  "$(job -n 2 --output dir=results sh -c \
    'echo out; [ "$PMIX_RANK" = 1 ] || echo err >&2' >shown 2>&1
     all results)"
check_equal "I16" "what goes to files is shown, too" "err out out" \
  "$(sort shown | xargs)"
check_equal "I16" "files are named with namespace, rank and stream" \
  "./run.NS.00.err ./run.NS.00.out" \
  "$(job -n 10 --output file=named/run,nocopy sh -c \
    '[ "$PMIX_RANK" != 0 ] || { echo out; echo err >&2; }' >shown 2>&1
     all named)"
check_equal "I16" "file-only shows nothing" "" "$(cat shown)"
check_equal "I16" "a pattern names the rank where it likes" \
  "./a-0/x.out ./a-1/x.out" \
  "$(job -n 2 --output file=patterns/a-%r/x,pattern echo x >/dev/null
     all patterns)"
check_equal "I16" "merge has one file" "./NS/rank.0/stdout err out" \
  "$(job -n 1 --output dir=merged,merge,nocopy sh -c 'echo out; echo err >&2'
     echo $(all merged) $(sort merged/*/rank.0/stdout))"
check_equal "I16" "marks in files" "[NS,0]<stdout>: x [NS,1]<stdout>: x" \
  "$(job -n 2 --output file=marked/%r,pattern,tag-fullname echo x >/dev/null
     cat marked/0.out marked/1.out | sed 's/\[[^,]*,/[NS,/' | xargs)"
check_equal "I16" "and host and process number" "yes" \
  "$(job -n 1 --output file=detailed,pattern,tag-detailed sh -c 'echo $$' \
       >/dev/null
     awk -v host="$(hostname)" '{
       print (index($0, "[" host ":" $2 "]<stdout>: " $2) > 0 ? "yes" : $0)
     }' detailed.out)"

exact() {
  job -n 1 --output file=exact,pattern cat bytes >shown || return 1
  cmp exact.out bytes && cmp shown bytes
}
check "I16 I18" "every byte, in the file and shown" exact
one_file() {
  job -n 4 --output file=one,pattern,nocopy sh -c 'i=0
    while [ $i -lt 500 ]; do printf "begin $i "; echo end; i=$((i + 1)); done'
  ! grep -Evq '^begin [0-9]+ end$' one.out && [ "$(wc -l <one.out)" = 2000 ]
}
check "I16" "206: lines of one file for all are whole" one_file

# -- what must not be written ------------------------------------------------

echo precious >precious
linked() {
  ln -s precious linked.out
  job -n 1 --output file=linked,pattern sh -c 'echo x; exit 3' >shown 2>told
  [ $? = 3 ] && [ "$(cat precious shown | xargs)" = "precious x" ] \
    && grep -q 'linked.out: .*symbolic links.*another name' told
}
check "I16" "a link in the place of a file: the job goes on" linked

# -- a full disk ---------------------------------------------------------------

# The file and what it says is missing add up to what was written.
full() {
  mkdir -p disk
  unshare -m sh -c '
    mount -t tmpfs -o size=128k none disk || exit 99
    timeout 20 troupe run -n 1 --output file=disk/run,pattern,nocopy \
      sh -c "cat bytes; exit 4" 2>told
    echo $? >status
    cp disk/run.out kept
    rm -f disk/run.out' || return 1
  cat told
  [ "$(cat status)" = 4 ] || return 1
  grep -q 'disk/run.out: No space left on device.*make room' told || return 1
  local missing
  missing=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) bytes of output of .* missing.*/\1/p' told)
  echo "$(wc -c <kept) kept, $missing missing"
  [ "$(($(wc -c <kept) + missing))" = 1048577 ] \
    && [ "$(grep -c 'No space left' told)" = 1 ]
}
room_again() {
  unshare -m sh -c '
    mount -t tmpfs -o size=64k none disk || exit 99
    head -c 40960 /dev/zero >disk/other
    timeout 20 troupe run -n 1 --output file=disk/run,pattern,nocopy sh -c "
      head -c 60000 /dev/zero; until [ -s disk/run.out ]; do sleep 0.02; done
      sleep 0.3; rm disk/other; sleep 0.1; echo later"
    cp disk/run.out kept' || return 1
  local missing
  missing=$(tr -d '\0' <kept | sed -n 's/.*troupe: \([0-9]*\) bytes.*/\1/p')
  [ -n "$missing" ] && [ "$(tail -n 1 kept)" = later ] \
    && [ "$(($(tr -dc '\0' <kept | wc -c) + missing))" = 60000 ]
}
# unwritten WHERE: a job that gave 0 ends with 74 if a file lacks
# something, and with 0 if none does.
unwritten() {
  unshare -m sh -c '
    mount -t tmpfs -o size=64k none disk || exit 99
    timeout 20 troupe run -n 1 --output "$1" cat bytes 2>told
    echo $? >status
    rm -r disk/*
    timeout 20 troupe run -n 1 --output "$1" echo x 2>>told
    echo $? >>status' sh "$1" >/dev/null || return 1
  cat told
  echo status $(cat status)
  [ "$(xargs <status)" = "74 0" ]
}
if unshare -m mount -t tmpfs none "$TROUPE_WORK" 2>/dev/null; then
  check "I18" "a full disk: the job goes on and one warning names the file" full
  cat "$TROUPE_WORK/output"
  check "MND-S4" "a file that lacks something makes 0 a 74" \
    unwritten file=disk/run,nocopy
  check "MND-S4" "so do the files of a directory" unwritten dir=disk/all,nocopy
  check "MND-S4" "and copies of what is shown, too" unwritten file=disk/shown
  check "I18" "when there is room again the file says what is missing" room_again
else
  skip "I18" "a full disk" "a file system cannot be mounted here: be root"
fi

finish
