# Groups by invitation, between real processes on our libpmix.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
build groups_invite group_sessions

# invited CASE...: four processes.
invited() { job -n 4 ./groups_invite "$@"; }

# over_nodes [OPTION]... PROGRAM...: on two daemons of this machine.
over_nodes() {
  printf '#!/bin/sh\nshift\nexec "$@"\n' >here.sh
  chmod +x here.sh
  within "$((60 * slow))" troupe run --remote-shell "$PWD/here.sh" \
    --host a:2,b:2 --map-by node "$@"
}

# bereft CASE...: four processes, one of which kills itself; nobody else fails.
bereft() {
  local outcome=0
  invited_rtos "$@" >report 2>&1 || outcome=$?
  cat report
  [ "$outcome" -eq 137 ] && [ "$(grep -c outlived report)" -eq 3 ]
}
invited_rtos() { job --rtos recoverable -n 4 ./groups_invite "$@"; }

check "G33 G35 G36 G37 G38 G41 G43 G44 G47 G48 G49 G50" "all join and nothing hides it" \
  invited all
check "G34 G48" "without waiting; wrong leaders and strangers" invited nb
check "G36 G39 G46" "who declines ends it for all, or makes it smaller" \
  invited declined
check "G26 G41" "what members have put is found by the context identifier" \
  invited exchanged
check "G26 G41" "the same by messages" \
  job --no-shared-memory -n 4 ./groups_invite exchanged
check "G26 G41" "the same over nodes" over_nodes -n 4 ./groups_invite exchanged
check "G22 G39 N11" "a handler names a replacement" invited replaced
check "G23 G39 G46 N11" "a handler goes on with fewer, or aborts" \
  invited decided
check "G34 G36" "one process, two invitations, two answers" invited overlapping
check "G34 G49" "two leaders, one name" invited same_name
check "G12 G42 G45 G51" "silence ends in time; no use before the end" \
  invited silent
check "G15 G61" "calls that make no sense" invited refused
check "G40 G43" "an invitee is killed" bereft dead_invitee
check "G27 G28 G29" "an inviter is killed; another one leads" \
  bereft dead_inviter
check "G27 G30" "nobody leads" bereft leaderless
check "G27 G31" "somebody aborts" bereft leaderless abort

check "G5 G6 G13 G16 G60" "context ids and local ones as Open MPI 5 asks" \
  job -n 4 ./group_sessions sessions
check "G60" "leaders bring their own processes" \
  job -n 4 ./group_sessions bootstrap

clean "G38" "nothing is left"
finish
