# Groups of real programs on one node: all that construct, leave and destruct are
# to do, and what becomes of them when members end or never come.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/group_growth.sh"

build groups group_names group_ends
limit=20

# -- construct and destruct ----------------------------------------------------

check "G1 G3 G4 G13 G55 G60 121 123 130 131 133" \
  "sizes, orders, ranks of members, context identifiers" \
  job -n 4 ./groups basics
check "G9 G15 G57 G61 122 124 127 170" "what is wrong is refused at all" \
  job -n 3 ./groups refused
check "G14 G16 G55 126 133" "32 at once over the same processes" \
  job -n 5 ./groups together
check "G7 G8 129" "names of groups in all calls" job -n 3 ./group_names calls
check "G7" "queries about groups" job -n 3 ./group_names queries
check "G6 G26 G60 132" "what members have posted, right after construct" \
  job -n 4 ./groups data
check "G3 G16 128" "a name again, and twice at once" job -n 4 ./groups reuse
check "G1 G5 G10 G26 121 173" "a group of two jobs" job -n 1 ./groups spawned

# -- members that end ----------------------------------------------------------

# dies COMMAND...: of 26 processes only two go on.
dies() {
  rm -f board
  "$@" --rtos recoverable -n 26 ./group_ends deaths >report 2>&1
  cat report
  [ "$(grep -c ': 24 deaths, the longest took' report)" -eq 2 ]
}
check "G11 G18 G19 G23 G31 G57 G58 134 135 140 141 142" \
  "members end in all ways at all times" dies job
grep 'the longest took' report
check "G12 G18 G20 G56 138 139 140 170" "members that live and never call" \
  job -n 3 ./group_ends silent
check "G11 G25 G52 G54 167 169" "one after another leaves" job -n 3 ./group_ends leave
check "G53 168" "... while the others are in a fence" job -n 3 ./group_ends fence

# -- a daemon, and many --------------------------------------------------------

start_trouped
at="--dvm pid:$trouped_pid"
# in_daemon [OPTION]... PROGRAM...: a job of the daemon.
in_daemon() {
  # shellcheck disable=SC2086
  within $((limit * slow)) troupe run $at --oversubscribe "$@"
}

# Two jobs that use the same identifiers do not meet.
two_jobs() {
  in_daemon -n 4 ./groups reuse &
  local other=$!
  in_daemon -n 4 ./groups reuse || return 1
  wait "$other"
}
check "G3 G16 128" "a daemon: the same names in two jobs" two_jobs
check "G1 G5 173" "a daemon: a group of two jobs" in_daemon -n 1 ./groups spawned
check "G11 G19 G31 G57 G58 134 135 141 142" \
  "a daemon: members end in all ways at all times" dies in_daemon

check "G3 G13 174" "1,000 in turn take no more time or memory at last" \
  grows_not 1000 in_daemon
cat many
stop_trouped >/dev/null 2>&1
clean "G3" "nothing is left"
finish
