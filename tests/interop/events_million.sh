# As many events as the budget of history holds (64 MiB on disk), for one who
# registers before and one who registers behind all of them.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build event_flow

million() {
  limit=500 job -n 3 ./event_flow flood 150000 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c 'all, once, in order' flow)" -eq 2 ]
}
check "P-J1 P-J2 P-J3 P-J5 E11 E12" \
  "150,000 events before a registration and during it" million
grep '^memory\|^raised' flow
bounded() {
  awk '/^memory of the server/ { found = 1; exit !($9 - $5 <= 131072) }
    END { if (!found) exit 1 }' flow
}
check "P-J5 E12" "in bounded memory" bounded
clean "E12" "nothing is left, on disk neither"
finish
