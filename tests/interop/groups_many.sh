# Twenty thousand groups in turn: neither slower nor larger at last.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/group_growth.sh"

build groups
limit=300
check "G3 G13 174" "20,000 in turn take no more time or memory at last" \
  grows_not 20000 job
cat many
finish
