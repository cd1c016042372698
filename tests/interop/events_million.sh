# A million events, many times what history holds.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/flood.sh"

floods beyond 1000000 "a million events, of which the last gets the newest"
clean "E12" "nothing is left, on disk neither"
finish
