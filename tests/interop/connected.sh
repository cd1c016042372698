# Jobs that are connected, and process sets.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build connected process_sets

# -- G2: failures of connected processes ---------------------------------------

# The dead one gives the launcher its status; the others check and end well.
with_dead() {
  status 137 job "$@" || return 1
  ! grep -qF 'connected.c' "$TROUPE_WORK/output"
}
check "G2 74" "all that are connected hear of a death once, and go on" \
  with_dead -n 2 --rtos recoverable ./connected survives
check "G2" "a death ends the jobs that are connected" \
  status 137 job -n 2 ./connected ends
check_match "G2" "and the launcher names the cause" \
  'connected, failed: rank 2 \([^ ]+, pid [0-9]+ on [^ ]+\) was killed by signal 9' \
  "$(cat "$TROUPE_WORK/output")"
check "G2" "a death after they have disconnected ends no other job" \
  with_dead -n 2 ./connected parts
check "G2" "who finalizes without disconnecting is reported, and ends nothing" \
  job -n 2 ./connected finalizes
check "G2 72" "strangers do not disconnect; a connect ends with its time-out" \
  job -n 2 ./connected strangers

# -- process sets --------------------------------------------------------------

check "F4.27" "programs name their process sets" \
  job -n 2 --pset ocean ./process_sets sets ocean \
  : -n 3 --pset ice ./process_sets sets ice
check "F4.27" "no program names one" job -n 2 ./process_sets none
check "F4.27" "a name that cannot be is refused" \
  status 2 job -n 1 --pset a,b true

clean "F5.15" "nothing is left"
finish
