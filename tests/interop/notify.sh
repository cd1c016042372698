# Daemons and roots as services: what a manager hears of them by sd_notify, and that
# one that hangs or dies is a node again once its manager has started it anew. The
# manager is programs/service_manager.py; no systemd runs.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID

# Seconds without a sign of life.
limit=$((4 * slow))

# manage NAME COMMAND...: runs it as the service NAME.
manage() {
  local name=$1
  shift
  rm -rf "${TROUPE_WORK:?}/$name"
  /usr/bin/python3 "$programs/service_manager.py" "$TROUPE_WORK/$name" "$limit" "$@" \
    >"$TROUPE_WORK/$name.out" 2>&1 </dev/null &
  eval "manager_$name=$!"
}

# dismiss NAME: has its manager end it, and waits.
dismiss() {
  eval "kill -TERM \$manager_$1 && wait \$manager_$1"
}

told() { cat "$TROUPE_WORK/$1/told" 2>/dev/null; }

# says NAME REGEX [SECONDS]: the service has told its manager.
says() {
  eventually "${3:-30}" grep -Eqx -- "$2" "$TROUPE_WORK/$1/told" && return
  told "$1"
  tail -n 5 "$TROUPE_WORK/$1.out"
  return 1
}

# says_last NAME REGEX [SECONDS]: it is the last thing that it has told.
says_last() {
  # shellcheck disable=SC2016
  eventually "${3:-30}" bash -c 'tail -n 1 "$1" | grep -Eqx -- "$2"' - \
    "$TROUPE_WORK/$1/told" "$2" && return
  told "$1"
  tail -n 5 "$TROUPE_WORK/$1.out"
  return 1
}

pid_of() { cat "$TROUPE_WORK/$1/pid"; }
beats() { cat "$TROUPE_WORK/$1/beats"; }

# beats_on NAME: signs of life go on coming.
beats_on() {
  local before
  before=$(beats "$1")
  # shellcheck disable=SC2016
  eventually $((2 * limit)) bash -c '[ "$(cat "$1/beats")" -gt $(($2 + 1)) ]' - \
    "$TROUPE_WORK/$1" "$before"
}

# -- a daemon of one node ------------------------------------------------------

manage alone trouped
check "SVC-1" "a daemon says that it is ready" says alone 'READY=1'
check_equal "SVC-1" "and what it does, first" \
  "STATUS=serves the processes and tools of this node" "$(told alone | head -n 1)"
check "SVC-2" "it gives signs of life" beats_on alone
check "SVC-4" "the daemon itself has what its manager says" \
  grep -qz '^NOTIFY_SOCKET=' "/proc/$(pid_of alone)/environ"
check_equal "SVC-4" "the processes of its jobs do not" "TROUPE_MARK=" \
  "$(within $((30 * slow)) troupe run --dvm "pid:$(pid_of alone)" -n 1 sh -c \
    'env | grep -Eo "^(TROUPE_MARK|NOTIFY_SOCKET|WATCHDOG_(PID|USEC))="' </dev/null)"
dismiss alone
check_equal "SVC-1" "told to end, it says so" "STOPPING=1" "$(told alone | tail -n 1)"
check_equal "SVC-1" "and ends in order" "ended 0" "$(cat alone/lives)"

# -- without a manager ---------------------------------------------------------

start_trouped
check "SVC-3" "without a manager libsystemd is not loaded" \
  bash -c "! grep -q libsystemd /proc/$trouped_pid/maps"
check "SVC-3" "and a daemon ends as ever" stop_trouped
export NOTIFY_SOCKET=$TROUPE_WORK/nobody
start_trouped
check_equal "SVC-3" "a manager that does not listen is no trouble" "" \
  "$(grep -i -e notify -e manager "$TROUPE_WORK/trouped.log")"
check "SVC-3" "to the end" stop_trouped
unset NOTIFY_SOCKET

# -- a DVM of services ---------------------------------------------------------

port=$(free_port)
root=$(hostname -I | cut -d' ' -f1)
root=${root:-127.0.0.1}
cat >nodes.conf <<END_OF_FILE
ClusterName=services
DVMControllerHost=$root
DVMNodes=$root,b,c
DVMPort=$port
AuthorityFile=$TROUPE_WORK/authority
END_OF_FILE
check "" "an authority" within $((20 * slow)) troupe authority --name services authority

manage b trouped --bootstrap nodes.conf --node b
check "SVC-1" "a daemon that looks for its root is ready" says b 'READY=1'
check_match "SVC-1" "and says what it does" \
  "^STATUS=node b of services: looks for its root $root\$" "$(told b)"

manage root troupe up --bootstrap nodes.conf --node "$root"
check "SVC-1" "a root whose nodes come later is ready" says root 'READY=1'
check "SVC-1" "it says who is there" \
  says_last root 'STATUS=root of services: 2 of 3 nodes'
manage c trouped --bootstrap nodes.conf --node c
check "SVC-1" "and who has come" says_last root 'STATUS=root of services: 3 of 3 nodes'
check "SVC-1" "a member says so" says_last b 'STATUS=node b of services: serves'

# on_all: a job on all nodes.
on_all() {
  [ "$(within $((60 * slow)) troupe run --dvm services --map-by node -n 3 \
    sh -c 'echo $PMIX_HOSTNAME' </dev/null | sort | xargs)" = "$root b c" ]
}
check "SVC-2" "jobs run" on_all

# -- it hangs, it is killed ----------------------------------------------------

kill -STOP "$(pid_of c)"
check "SVC-2" "the manager of a daemon that hangs notices" \
  eventually $((3 * limit)) grep -qx hung c/lives
# Once when it was alone with b, once more now.
was_missed() { [ "$(grep -c ': 2 of 3 nodes$' root/told)" -ge 2 ]; }
check "SVC-2" "the root says that a node is missing" eventually 60 was_missed
check "SVC-2" "and that it is back" \
  says_last root 'STATUS=root of services: 3 of 3 nodes' 90
check "SVC-2" "and jobs run there" eventually 60 on_all

first=$(pid_of b)
kill -KILL "$first"
# another_pid NAME PID: it has another process.
another_pid() { [ "$(pid_of "$1")" != "$2" ]; }
check "SVC-2" "a daemon that is killed is started anew" eventually 20 another_pid b "$first"
check_equal "SVC-2" "its manager knows why" "ended -9" "$(head -n 1 b/lives)"
check "SVC-2" "it is a node again" says_last b 'STATUS=node b of services: serves' 90
check "SVC-2" "and jobs run there, too" eventually 60 on_all

# -- the end -------------------------------------------------------------------

dismiss c
check_match "SVC-1" "a member that is told to end says why" \
  '^STATUS=node c of services: ends: ended by signal 15$' "$(told c)"
check_match "SVC-1" "and that it does" '^STOPPING=1$' "$(told c)"
dismiss b
dismiss root
check_equal "SVC-1" "the root says so, too" "STOPPING=1" "$(told root | tail -n 1)"
check_equal "SVC-1" "and ends in order" "ended 0" "$(tail -n 1 root/lives)"
clean "SVC-1" "nothing is left"
finish
