# One process sends lists of a million; two others go on fencing.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build fence_stream
cat >one_of.sh <<'SH'
if [ "$PMIX_RANK" = 2 ]; then
  exec /usr/bin/python3 "$programs/large_messages.py" "$@"
fi
exec ./fence_stream
SH
export programs

beside() {
  rm -f stop over fences
  limit=150 job -n 3 sh one_of.sh "$1" >"$1.txt" 2>"$1.log"
  cat "$1.txt"
  [ "$(grep -c ': status' "$1.txt")" -eq "$2" ]
}

check "MND-A4 X14 LIM4" "a process sends lists that nobody needs" beside flood 57
cat flood.txt
refused() { [ "$(grep -c ': status -29,' flood.txt)" -eq 57 ]; }
check "MND-A4" "each is refused with a status, and the connection stays" refused
check_match "MND-A4" "the log names the list, its count and the limit" \
  'a message has [0-9]+ event codes, the limit is 1024' "$(cat flood.log)"
# At most twice as long as when nobody floods, or as beside as many bytes that are
# no lists, in one of three times at least: others may be using the machine. What
# is below 4 ms says nothing there.
undisturbed() {
  awk -F: '{ names[$1] = 1
             n = split($0, words, " ")
             count = 0
             for (i = 1; i < n; ++i)
               if (words[i] == "p99") p99[++count] = words[i + 1]
             if (p99[1] <= 2 * p99[2] || p99[1] <= 2 * p99[3] \
                 || p99[1] <= 4 * slow) good[$1] = 1 }
       END { for (x in names) if (!(x in good)) { print x; bad = 1 }
             exit bad || length(names) != 19 }' slow="$slow" flood.txt
}
check "MND-A4" "the fences of others take at most twice as long" undisturbed

check "MND-A4" "a process sends as much as it may" beside legal 19
cat legal.txt
cheap() {
  awk '{ for (i = 1; i < NF; ++i)
           if ($i == "processor" && $(i + 1) > 30 * slow) { print; bad = 1 } }
       END { exit bad || NR != 19 }' slow="$slow" legal.txt
}
check "MND-A4" "and none takes the server more than 30 ms of its processor" cheap
finish
