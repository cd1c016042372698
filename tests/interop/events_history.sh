# Events within what history holds, and beyond it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/flood.sh"

floods within 150000 "150,000 events before a registration and during it"
floods beyond 250000 "250,000 events, of which the last gets the newest"
clean "E12" "nothing is left, on disk neither"
finish
