# Invitations, joins, and who leads, over three nodes: processes of one group are
# never on one node alone.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "G21 G27 G33 G44"
compile groups_invite group_leaders
limit=20
lab 3 2
need_dvm n1:16,n2:16,n3:16

# with_ours OPTION... PROGRAM: a job on our library; without it is on Debian's.
with_ours() { mesh_job -x "LD_LIBRARY_PATH=$TROUPE_LIB" "$@"; }

# -- by invitation -------------------------------------------------------------

invited() { with_ours -n 4 ./groups_invite "$@"; }

check "G10 G33 G35 G36 G37 G38 G41 G43 G44 G47 G48 G49 G50 G59 153 154 165" \
  "3 nodes: all join and nothing hides it" invited all
check "G14 G34 G48 155 162" "3 nodes: without waiting; wrong leaders and strangers" \
  invited nb
check "G36 G39 G46 G59 156" "3 nodes: who declines ends it for all, or makes it smaller" \
  invited declined
check "G22 G39 149" "3 nodes: a handler names a replacement" invited replaced
check "G23 G39 G46 150" "3 nodes: a handler goes on with fewer, or aborts" \
  invited decided
check "G34 G36 160" "3 nodes: one process, two invitations, two answers" \
  invited overlapping
check "G34 G49 161" "3 nodes: two leaders, one name" invited same_name
check "G12 G42 G45 G51 157 163 164 166" \
  "3 nodes: silence ends in time; no use before the end" invited silent

# bereft PROGRAM N CASE...: of N processes all live on but the one that kills itself.
bereft() {
  local program=$1 n=$2 outcome=0
  shift 2
  "${launch:-with_ours}" --rtos recoverable -n "$n" "./$program" "$@" \
    >report 2>&1 || outcome=$?
  cat report
  [ "$outcome" -eq 137 ] && [ "$(grep -c outlived report)" -eq $((n - 1)) ]
}

check "G40 G43 G59 158" "3 nodes: an invitee is killed" \
  bereft groups_invite 4 dead_invitee
check "G27 G28 G29 G59 145 163" "3 nodes: an inviter is killed; another one leads" \
  bereft groups_invite 4 dead_inviter
check "G27 G30 163" "3 nodes: an inviter is killed; nobody leads" \
  bereft groups_invite 4 leaderless
check "G27 G31 148" "3 nodes: an inviter is killed; somebody aborts" \
  bereft groups_invite 4 leaderless abort

# -- by construction -----------------------------------------------------------

check "G3 G17 G21 143" "3 nodes: a leader alone hears who failed before its call" \
  bereft group_leaders 6 told
check "G21 144" "3 nodes: without a leader all hear of it" \
  bereft group_leaders 6 untold
check "G17 G23 G24 G59 150 151" "3 nodes: the leader goes on with fewer, members are told" \
  bereft group_leaders 6 fewer
check "G22 G24 149 151" "3 nodes: the leader names a replacement, which joins" \
  bereft group_leaders 6 replaced
check "G24 G27 G28 G29 143 145 146" \
  "3 nodes: a leader is killed; of two that would lead all hear of the same" \
  bereft group_leaders 6 elected
check "G27 G30 146" "3 nodes: a leader is killed; nobody would lead" \
  bereft group_leaders 6 leaderless
check "G27 G31 146 148" \
  "3 nodes: a leader is killed; one abort ends the call that waits and the other" \
  bereft group_leaders 6 aborted

# -- Debian's client -----------------------------------------------------------

# Its constructions are its server's; its invitations are its own, by events.
launch=mesh_job
check "G17 G21 143" "3 nodes, Debian's client: a leader alone hears who failed" \
  bereft group_leaders 6 told
check "G21 144" "3 nodes, Debian's client: without a leader all hear of it" \
  bereft group_leaders 6 untold
unset launch

# The packaged example: rank 0 invites two of three, who join in their handlers.
example=/usr/share/doc/libpmix-dev/examples/asyncgroup.c
# shellcheck disable=SC2046
if [ -f "$example" ] && "${TROUPE_CC:-cc}" -std=gnu11 -D_GNU_SOURCE -w \
  -I "$programs/packaged" -o asyncgroup "$example" $(pkg-config --cflags --libs pmix)
then
  joined() {
    mesh_job -n 4 ./asyncgroup >report 2>&1 || { cat report; return 1; }
    cat report
    ! grep -Eiq 'failed|error|wrong' report \
      && [ "$(grep -ci 'execut.* fence across group' report)" -eq 3 ]
  }
  check "G33 G35 G44 G49" "3 nodes, Debian's client: invited, they meet by the group's name" \
    joined
else
  skip "G33" "3 nodes, Debian's client: an invitation" "$example does not build"
fi

dvm_down >/dev/null 2>&1
check "G38" "nothing is left" nothing_after 10 n1 n2 n3
finish
