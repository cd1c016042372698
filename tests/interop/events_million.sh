# A million events, most of them before those who want them are there.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build event_flow

million() {
  limit=500 job -n 3 ./event_flow flood 1000000 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c 'all, once, in order' flow)" -eq 2 ]
}
check "P-J1 P-J2 P-J3 P-J5 E11 E12" \
  "1,000,000 events before a registration and during it" million
grep '^memory\|^raised' flow
bounded() {
  awk '/^memory of the server/ { found = 1; exit !($9 - $5 <= 131072) }
    END { if (!found) exit 1 }' flow
}
check "P-J5 E12" "in bounded memory" bounded
clean "E12" "nothing is left, on disk neither"
finish
