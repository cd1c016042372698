# A million events in memory that is bounded: one process registers before the
# most of them, the last one behind all of them, and gets a million, too.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build event_flow
events=1000000
[ -z "${TROUPE_SANITIZER:-}" ] || events=100000

# flood: what the processes say is in the file `flow`.
flood() {
  limit=500 job -n 3 env "LD_LIBRARY_PATH=$TROUPE_LIB" ./event_flow flood "$events" 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ]
}

# gets RANK: it got all of them.
gets() { grep "^rank $1: $events events, all, once, in order" flow; }

# bounded: the server took 128 MiB more than before, at most: 64 for the places of
# a million events whose contents are on disk.
bounded() {
  awk '/^memory of the server/ { found = 1; exit !($9 - $5 <= 131072) }
    END { if (!found) exit 1 }' flow
}

# Processes on our library take less time.
check "P-J1 P-J3 E12" "a million events" flood
grep '^memory\|^raised\|^rank' flow
check "P-J1 P-J2 P-J3 E12" "who registers meanwhile gets a million" gets 1
check "P-J1 P-J2 P-J3 E11 E47" "who registers last gets a million" gets 2
if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "P-J5 E12" "in bounded memory" "a sanitizer keeps what is freed"
else
  check "P-J5 E12" "in bounded memory" bounded
fi
clean "E12" "nothing is left, on disk neither"
finish
