# Signals that reach launchers and daemons, and what is left of a job when its
# launcher is killed, stopped, or has nobody to write for.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export SLOW=$slow
shell_job=$programs/shell_job.py

# A remote shell that runs its command here, whatever the node is called.
cat >here.sh <<'END'
#!/bin/sh
shift
exec "$@"
END
# Says which signals it gets.
cat >listener.sh <<'END'
#!/bin/sh
for x in USR1 USR2 ALRM ABRT WINCH CONT HUP URG; do
  trap "echo got $x" $x
done
echo ready
while :; do sleep 0.05; done
END
# Uses its processor, and has children in and outside of its process group.
cat >family.sh <<'END'
#!/bin/sh
sleep 995 &
setsid sleep 996 &
[ "${1:-}" != bare ] \
  || env -i "$(command -v setsid)" "$(command -v sleep)" 997 &
sh -c 'sleep 998 & wait' &
trap '' TERM HUP INT
echo "ready $$"
while :; do :; done
END
chmod +x here.sh listener.sh family.sh
hosts="--host a:1,b:1 --remote-shell $PWD/here.sh"

# begin NAME COMMAND...: starts a launcher in the background; its output is in
# NAME, its number in `launcher`.
begin() {
  local name=$1
  shift
  # Nobody is to read what the last one of that name said.
  : >"$TROUPE_WORK/$name"
  "$@" >"$TROUPE_WORK/$name" 2>"$TROUPE_WORK/$name.err" </dev/null &
  launcher=$!
}

# says NAME COUNT LINE: whether COUNT lines of the output of NAME are this.
says() { [ "$(grep -cx -- "$3" "$TROUPE_WORK/$1")" -eq "$2" ]; }

# leaves STATUS: passes if the launcher ends with it.
leaves() {
  eventually 30 ended "$launcher" || return 1
  wait "$launcher"
  local outcome=$?
  [ "$outcome" -eq "$1" ] || { echo "status $outcome, not $1"; return 1; }
}

# passes_on NAME SIGNAL...: whether each signal to the launcher reaches both
# processes of its job.
passes_on() {
  local name=$1 signal
  shift
  eventually 30 says "$name" 2 ready || return 1
  for signal; do
    kill -s "$signal" "$launcher"
    eventually 20 says "$name" 2 "got $signal" || {
      echo "$signal did not reach both"
      cat "$TROUPE_WORK/$name" "$TROUPE_WORK/$name.err"
      return 1
    }
  done
}

all_signals() {
  local name=$1
  shift
  begin "$name" "$@" -n 2 ./listener.sh
  passes_on "$name" USR1 USR2 ALRM ABRT WINCH CONT || return 1
  kill -s TERM "$launcher"
  leaves 143
}

asked_signals() {
  begin asked troupe run --oversubscribe --forward-signals SIGHUP,23 -n 2 \
    ./listener.sh
  passes_on asked HUP URG USR1 || return 1
  kill -s TERM "$launcher"
  leaves 143
}

no_signals() {
  begin none troupe run --oversubscribe --forward-signals none -n 2 ./listener.sh
  eventually 30 says none 2 ready || return 1
  kill -s USR1 "$launcher"
  kill -s USR2 "$launcher"
  kill -s ALRM "$launcher"
  # Both come behind what would have been passed on.
  kill -s TERM "$launcher"
  leaves 143 && ! grep got "$TROUPE_WORK/none"
}

start_dvm() {
  # shellcheck disable=SC2086
  begin dvm troupe up --name signals $hosts
  dvm_pid=$launcher
  eventually 30 grep -qx "DVM ready" "$TROUPE_WORK/dvm"
}

check "SIG-1" "own node: signals reach all processes" \
  all_signals own troupe run --oversubscribe
# shellcheck disable=SC2086
check "SIG-1" "two nodes: signals reach all processes" \
  all_signals nodes troupe run $hosts --map-by node
check "SIG-1" "a DVM of two nodes starts" start_dvm
check "SIG-1" "in a DVM: signals reach all processes" \
  all_signals in_dvm troupe run --dvm signals --map-by node
check "SIG-2" "signals that were asked for reach all processes, too" asked_signals
check "SIG-2" "none: no signal is passed on, and none ends the launcher" no_signals
for word in KILL TERM nonsense HUP,none; do
  check_match "SIG-2" "--forward-signals $word is refused" \
    "^troupe run: --forward-signals $word: " \
    "$(troupe run --forward-signals $word true 2>&1)"
  check "SIG-2" "--forward-signals $word gives 2" \
    status 2 troupe run --forward-signals "$word" true
done

# -- daemons -------------------------------------------------------------------

# outlives PID: whether a daemon gets over the signals of users.
outlives() {
  local signal
  for signal in USR1 USR2 ALRM; do
    kill -s "$signal" "$1" || return 1
  done
  within 20 troupe run --dvm signals -n 2 true && kill -0 "$1"
}
check "SIG-3" "troupe up outlives signals of users" outlives "$dvm_pid"
for daemon in $(marked_processes); do
  [ "$(cat "/proc/$daemon/comm" 2>/dev/null)" = trouped ] || continue
  check "SIG-3" "a daemon of the DVM outlives them" outlives "$daemon"
done
lone_daemon() {
  start_trouped
  kill -s USR1 "$trouped_pid"
  kill -s USR2 "$trouped_pid"
  kill -s ALRM "$trouped_pid"
  within 20 troupe ps --dvm "$trouped_uri" && stop_trouped
}
check "SIG-3" "trouped outlives them" lone_daemon

# -- stopping ------------------------------------------------------------------

check "SIG-4" "Ctrl-Z stops job and launcher, fg goes on" within $((100 * slow)) \
  "$shell_job" stop troupe run --oversubscribe -n 2 ./family.sh
check "SIG-4" "the same in a DVM" within $((100 * slow)) \
  "$shell_job" stop troupe run --dvm signals -n 2 ./family.sh
check "SIG-8" "terminals of processes follow the size of ours" \
  within $((100 * slow)) "$shell_job" winch troupe run --pty -n 1 \
  sh -c 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done'
# A root that stands still would be lost to the other nodes: it stays.
stopped_nodes() {
  local pids pid before
  # shellcheck disable=SC2086
  begin stopped troupe run $hosts --map-by node -n 2 ./family.sh
  eventually 30 two_ready stopped || return 1
  kill -s TSTP "$launcher"
  eventually 20 grep -q "the job is stopped" "$TROUPE_WORK/stopped.err" \
    || return 1
  pids=$(sed -n 's/^ready //p' "$TROUPE_WORK/stopped")
  before=$(for pid in $pids; do cpu_ticks "$pid"; done)
  sleep 0.5
  [ "$before" = "$(for pid in $pids; do cpu_ticks "$pid"; done)" ] || return 1
  kill -s CONT "$launcher"
  eventually 20 uses_processor "${pids%%[[:space:]]*}" "${before%%[[:space:]]*}" \
    || return 1
  kill -s TERM "$launcher"
  leaves 143
}
two_ready() { [ "$(grep -c '^ready' "$TROUPE_WORK/$1")" -eq 2 ]; }
uses_processor() { [ "$(cpu_ticks "$1")" -gt "$2" ]; }
check "SIG-4" "two nodes: SIGTSTP stops the job, SIGCONT goes on" stopped_nodes

# -- killing -------------------------------------------------------------------

# no_family: whether nothing is there that came of a job of family.sh.
no_family() {
  local pid
  for pid in $(marked_processes); do
    case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in
      sleep\ 99?* | /bin/sh\ ./family.sh*) return 1 ;;
    esac
  done
  return 0
}
# Those without an environment have no mark.
bare() { pgrep -f '^[^ ]*sleep 997$' | sort | xargs; }
others=$(bare)
nobody_left() { no_family && [ "$(bare)" = "$others" ]; }
killed() {
  local seconds=$1 begin
  shift
  begin killed "$@"
  eventually 30 two_ready killed || { cat "$TROUPE_WORK/killed.err"; return 1; }
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null
  begin=$(date +%s%N)
  eventually "$seconds" nobody_left || { ps -ef | grep 'sleep 99'; return 1; }
  echo "gone after $((($(date +%s%N) - begin) / 1000000)) ms"
}
# Daemons without a root end their processes after 30 s at most, with a grace of
# 5 s. Source: guarantees, `T_fence`.
fence=45
check "SIG-5" "own node: a killed launcher leaves nothing within 2 s" \
  killed 2 troupe run --oversubscribe -n 2 ./family.sh bare
cat "$TROUPE_WORK/output"
# shellcheck disable=SC2086
check "SIG-5" "two nodes: a killed launcher leaves nothing" \
  killed "$fence" troupe run $hosts --map-by node -n 2 ./family.sh
cat "$TROUPE_WORK/output"
check "SIG-5" "in a DVM: a killed launcher leaves nothing" \
  killed 10 troupe run --dvm signals --map-by node -n 2 ./family.sh
cat "$TROUPE_WORK/output"

# paused NAME DVM: pauses the job of NAME and all that it has started.
paused() {
  local nspace pid before
  nspace=$(within 20 troupe jobs --dvm "$2" --json \
    | sed -n 's/.*"nspace": "\([^"]*\)".*/\1/p' | tail -n 1)
  within 20 troupe ctl pause "$nspace" --dvm "$2" || return 1
  for pid in $(sed -n 's/^ready //p' "$TROUPE_WORK/$1"); do
    before=$(cpu_ticks "$pid")
    sleep 0.1
    [ "$before" = "$(cpu_ticks "$pid")" ] || { echo "$pid works"; return 1; }
  done
}
# A process that is stopped or frozen cannot end by itself.
killed_paused() {
  begin killed troupe run --oversubscribe -n 2 ./family.sh
  eventually 30 two_ready killed || return 1
  paused killed "pid:$launcher" || return 1
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null
  eventually 2 nobody_left || { ps -ef | grep 'sleep 99'; return 1; }
}
check "SIG-5 J6" "a killed launcher leaves no paused process" killed_paused
ended_paused() {
  begin killed troupe run --oversubscribe -n 2 ./family.sh
  eventually 30 two_ready killed || return 1
  paused killed "pid:$launcher" || return 1
  kill -TERM "$launcher"
  leaves 143 && eventually 2 nobody_left
}
check "SIG-5 J6" "a launcher that is told to end leaves none either" ended_paused

killed_daemon() {
  local daemon
  begin killed troupe run --dvm signals --map-by node -n 2 ./family.sh
  eventually 30 two_ready killed || return 1
  for daemon in $(marked_processes); do
    [ "$(cat "/proc/$daemon/comm" 2>/dev/null)" != trouped ] \
      || kill -KILL "$daemon"
  done
  eventually 10 nobody_left && eventually 30 ended "$launcher"
}
check "SIG-5" "a killed daemon leaves nothing" killed_daemon
killed_root() {
  kill -KILL "$dvm_pid"
  wait "$dvm_pid" 2>/dev/null
  eventually "$fence" nobody_left && eventually 60 no_daemon
}
no_daemon() {
  local pid
  for pid in $(marked_processes); do
    case $(cat "/proc/$pid/comm" 2>/dev/null) in trouped | troupe*) return 1 ;; esac
  done
}
check "SIG-5" "a killed troupe up leaves nothing" killed_root

# Whenever it is killed, from its first instruction on.
killed_early() {
  local i
  for i in $(seq 20); do
    begin "early$i" troupe run --oversubscribe -n 4 ./family.sh
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -KILL "$launcher"
    wait "$launcher" 2>/dev/null
  done
  eventually 5 nobody_left && eventually 10 no_guard
}
no_guard() {
  local pid
  for pid in $(pgrep -x troupe-guard); do
    ! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" \
      | grep -qx "TROUPE_MARK=$TROUPE_MARK" || return 1
  done
}
check "SIG-5" "launchers killed at 20 moments of their start leave nothing" \
  killed_early
normal_end() {
  within 20 troupe run --oversubscribe -n 2 true && no_guard
}
check "SIG-5" "a normal end leaves no guard, either" normal_end

# -- output --------------------------------------------------------------------

# unread COMMAND...: whether it ends with 141, in silence, once `head` has.
unread() {
  within $((30 * slow)) "$@" 2>"$TROUPE_WORK/unread.err" | head -n 2
  [ "${PIPESTATUS[*]}" = "141 0" ] && [ ! -s "$TROUPE_WORK/unread.err" ] \
    && return 0
  cat "$TROUPE_WORK/unread.err"
  return 1
}
check "SIG-6" "own node: a job that nobody reads ends with 141" \
  unread troupe run --oversubscribe -n 2 yes
# shellcheck disable=SC2086
check "SIG-6" "two nodes: the same" unread troupe run $hosts -n 2 yes
read_by_file() {
  within 30 troupe run --output "file=$PWD/kept" sh -c \
    'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i + 1)); done; echo end' \
    2>/dev/null | head -n 1
  [ "${PIPESTATUS[0]}" -eq 74 ] && tail -qn 1 kept* | grep -qx end
}
check "SIG-6" "what a file has is written to its end" read_by_file
unwritten() {
  local outcome=0
  "$@" >/dev/full 2>"$TROUPE_WORK/full.err" || outcome=$?
  [ "$outcome" -eq 74 ] && [ "$(wc -l <"$TROUPE_WORK/full.err")" -eq 1 ] \
    && grep -q 'No space left' "$TROUPE_WORK/full.err" && return
  echo "status $outcome"
  cat "$TROUPE_WORK/full.err"
  return 1
}
check "SIG-7" "own node: output on a full disk gives 74 and one line" \
  unwritten within 30 troupe run echo x
# shellcheck disable=SC2086
check "SIG-7" "two nodes: the same" unwritten within 30 troupe run $hosts echo x
full_and_failed() { within 30 troupe run sh -c 'echo x; exit 3' >/dev/full; }
check "SIG-7" "the status of a job that failed stays" status 3 full_and_failed
check "SIG-1" "another DVM starts" start_dvm
check "SIG-6" "in a DVM: the same" unread troupe run --dvm signals -n 2 yes
check "SIG-7" "in a DVM: the same" \
  unwritten within 30 troupe run --dvm signals echo x

within 30 troupe down --dvm signals >/dev/null 2>&1
clean "SIG-5" "nothing is left"
finish
