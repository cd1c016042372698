# Kills on other nodes than the root's: who is blamed, and that every call of the
# others ends, in spawns, groups and connections, too.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "MND-A11 MND-X61"
compile dies turmoil
limit=40
lab 3 2
need_dvm n1:8,n2:8,n3:8

# -- who is blamed -------------------------------------------------------------

is_blamed() {
  [ "$1" -eq 137 ] && grep -q 'rank 1 .* was killed by signal 9' report && return
  echo "status $1"
  cat report
  return 1
}

# amid N: rank 1 is on the second node; the others exit with 3 as soon as a fence
# fails.
amid() {
  local i outcome
  for ((i = 1; i <= $1; ++i)); do
    outcome=0
    mesh_job -n 6 ./dies amid_fences >report 2>&1 || outcome=$?
    is_blamed "$outcome" || { echo "in round $i of $1"; return 1; }
  done
}
check "MND-A11" "3 nodes: who is killed amid fences is the cause, 10 of 10 times" \
  amid 10

# The others see the death at once, the daemon of its node later.
cat >follows.sh <<'END_OF_FILE'
if [ "$PMIX_RANK" = 1 ]; then
  echo $$ >victim.new
  mv victim.new victim
  exec sleep 60
fi
until [ -s victim ]; do sleep 0.02; done
victim=$(cat victim)
while [ -d "/proc/$victim" ] && ! grep -qs '^State:.*Z' "/proc/$victim/status"; do
  sleep 0.02
done
exit 3
END_OF_FILE
followers_are_gone() { [ -z "$(processes n1 sh)$(processes n3 sh)" ]; }
follows() {
  local stopped outcome=0
  rm -f victim
  mesh_job -n 3 sh ./follows.sh >report 2>&1 &
  local job_pid=$!
  eventually 20 test -s victim || { cat report; return 1; }
  stopped=$(daemon n2)
  kill -STOP "$stopped"
  kill -9 "$(cat victim)"
  eventually 10 followers_are_gone
  kill -CONT "$stopped"
  wait "$job_pid" || outcome=$?
  is_blamed "$outcome"
}
check "MND-A11" "3 nodes: ... though its daemon is the last to know" follows

# -- amid other calls ----------------------------------------------------------

all_ready() { [ "$(grep -c '^ready' report)" -eq 6 ]; }
no_turmoil() { [ -z "$(processes n1 turmoil)$(processes n2 turmoil)$(processes n3 turmoil)" ]; }
has_argument() { grep -qsxz -- "$2" "/proc/$1/cmdline"; }

# victim WHOM: prints a process to kill.
victim() {
  local pid node
  case $1 in
    rank) processes n2 turmoil | head -n 1 ;;
    daemon) daemon n3 ;;
    launcher)
      for pid in $(processes n1 troupe); do
        ! has_argument "$pid" run || echo "$pid"
      done
      ;;
    child)
      for node in n3 n2; do
        for pid in $(processes $node turmoil); do
          ! has_argument "$pid" child || { echo "$pid"; return; }
        done
      done
      ;;
  esac
}
has_victim() { [ -n "$(victim "$1")" ]; }

# amid_calls KIND WHOM: a job of such calls, in the middle of which somebody is
# killed.
amid_calls() {
  local job_pid
  : >report
  mesh_job -n 6 --rtos recoverable \
    env LD_LIBRARY_PATH="$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    ./turmoil "$1" 40 >report 2>&1 &
  job_pid=$!
  eventually 20 all_ready || { cat report; return 1; }
  sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
  # A short job may be over by now.
  eventually 5 has_victim "$2" && kill -9 $(victim "$2") 2>/dev/null
  eventually 40 ended "$job_pid" || { echo "it goes on"; cat report; return 1; }
  ! grep '^late' report || return 1
  eventually 10 no_turmoil || { no_process_on n1 n2 n3; return 1; }
  mesh_job -n 2 true
}
for whom in rank launcher; do
  for kind in group connect spawn; do
    check "MND-X61" "3 nodes: a $whom is killed amid calls: $kind" \
      amid_calls $kind $whom
  done
done
check "MND-X61" "3 nodes: nobody waits for a job that is just over" \
  mesh_job -n 1 ./turmoil late 10
check "MND-X61" "3 nodes: a process is killed that another job spawned" \
  amid_calls spawn child
check "MND-X61" "3 nodes: a daemon is killed amid calls of groups" \
  amid_calls group daemon

dvm_down >/dev/null 2>&1
check "MND-X61" "nothing is left" nothing_after 10 n1 n2
finish
