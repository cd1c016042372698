# What attributes do: those that programs use most, and of which contract.sh shows
# only that they are not refused.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build effects
whose=theirs
[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || whose=ours

limit=240 check "F4.42 SPW-1 F5.5 F5.6" "directives of PMIx_Spawn have their effects" \
  job -n 1 ./effects spawns $whose
check_equal "F4.42 SPW-1" "nothing was started for those that cannot be done" "" \
  "$(ls started.* 2>/dev/null)"
outlives() {
  job -n 1 ./effects ends
  [ -e all.ended ]
}
limit=180 check "F4.42 F5.7 F5.14" "PMIx_Spawn says how long a job runs, and what ends it" \
  outlives
streams() { limit=120 job -n 1 ./effects streams >streams.out; }
check "F4.42 I16" "streams of a job go where PMIx_Spawn says" streams
check_match "F4.42 I16" "and are shown with those of who spawned it" \
  '^also shown$' "$(cat streams.out)"
if [ $whose = ours ]; then
  limit=120 check "F4.42 C3.16" "data of sessions, and what has changed" \
    job -n 2 ./effects data
fi

clean "F4.42" "nothing is left"
finish
