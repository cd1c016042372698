# Events of real programs: all, once, in order, and to nobody else; what others
# hear of the dead; the command line.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build event_flow event_deaths events
python=/usr/bin/python3

# flows PROCESSES EVENTS: a flood, and what memory it took.
flows() {
  limit=${flood_limit:-60} job -n "$1" ./event_flow flood "$2" 2>&1 | tee flow
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && [ "$(grep -c 'all, once, in order' flow)" -eq $(($1 - 1)) ]
}

# within_memory KIB: the server of the last flood has grown by no more.
within_memory() {
  awk -v most="$1" '/^memory of the server/ {
      found = 1; exit !($9 - $5 <= most) } END { if (!found) exit 1 }' flow
}

# -- all, once, in order -------------------------------------------------------

for n in 1000 10000; do
  check "P-J1 P-J2 P-J3 E8 E11 E12 E49" \
    "$n events before a registration and during it" flows 4 "$n"
  grep '^memory\|^raised' flow
  check "E12" "in bounded memory" within_memory $((32768 * slow))
done

check "E47 E11" "those who have not started get them, too" \
  job -n 3 ./event_flow late 2000

agree() {
  rm -f heard.*
  job -n 4 ./event_flow order 500 \
    && "$python" "$programs/same_order.py" 500 heard.[0-3]
}
check "P-J3 P-J2" "four sources, and one order for all who hear them" agree

# -- to whom -------------------------------------------------------------------

check "E1 E13 E46" "a range reaches whom it names, and nobody of another job" \
  job -n 3 ./event_flow ranges
check "E35" "a default handler is the first registration" \
  job -n 3 ./event_flow first

# -- the dead ------------------------------------------------------------------

dead() { status 137 job --rtos recoverable "$@" 2>&1; }
check "E3 E46" "each end is told of once, with its code, in time" \
  dead -n 9 ./event_deaths deaths
aborted() {
  local outcome=0
  job -n 3 ./event_deaths aborts >report 2>&1 || outcome=$?
  cat report
  [ "$outcome" -eq 3 ] && grep -qx 'heard of the abort' report
}
check "E3" "an abort is told of before the job ends" aborted

# gone MILLISECONDS: what a process heard when its server was killed.
gone() {
  rm -f orphan
  job -n 1 ./event_deaths orphan >/dev/null 2>&1
  eventually 10 test -f orphan || { echo "nothing is written"; return 1; }
  cat orphan
  grep -Eq '^lost 1 time' orphan && awk -v most="$1" '{ exit !($5 <= most) }' orphan
}
# Theirs waits for a second to gather what else is lost.
patience=$((2000 * slow))
[ -z "${TROUPE_LIBRARY_IDENTIFIER:-}" ] || patience=$((1000 * slow))
check "E55 E53" "a server that vanishes is told of once" gone "$patience"
rm -rf "$TMPDIR"/troupe-*/*

# -- the command line ----------------------------------------------------------

start_trouped
at="--dvm pid:$trouped_pid"

# watch OPTION...: begins to watch; what comes is in `watched`.
watch() {
  : >watched # What is waited for is what this one says.
  # shellcheck disable=SC2086
  timeout --kill-after=5 $((40 * slow)) \
    troupe events watch $at --json "$@" >watched 2>watch_error </dev/null &
  watch_pid=$!
  eventually 10 grep -q '"watching"' watched && return
  cat watched watch_error
  return 1
}

# watched FILTER: passes once the filter, in Python, is true of `events`, the list
# of what was watched.
watched() {
  "$python" - "$1" <<'END'
import json, sys
with open("watched", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file if line.endswith("\n")]
events = [x for x in lines if x["type"] == "event"]
sys.exit(0 if eval(f"({sys.argv[1]})") else 1)
END
}

# comes FILTER: the same within some seconds; shows what there is if not.
comes() { eventually 10 watched "$1" || { cat watched watch_error; return 1; }; }

end_watch() {
  kill -TERM "$watch_pid" 2>/dev/null
  wait "$watch_pid"
}

# in_daemon [OPTION]... PROGRAM...: a job of the daemon.
in_daemon() {
  # shellcheck disable=SC2086
  within $((30 * slow)) troupe run $at --oversubscribe "$@"
}

sent() {
  # shellcheck disable=SC2086
  within $((15 * slow)) troupe events send $at "$@"
}

check "E57" "watching" watch
check "E57" "an event is sent" sent -3050 --message hello --info my.key:int=5
check "E57" "and watched, with all that it holds" comes \
  'any(x["code"] == -3050 and x["infos"].get("my.key") == 5
       and x["infos"].get("pmix.evtext") == "hello"
       and x["range"] == "session" for x in events)'
if command -v pevent >/dev/null; then
  # It needs the insides of OpenPMIx's library, so it keeps its own.
  check "F6.9 E57" "pevent sends one" within $((15 * slow)) \
    env -u LD_LIBRARY_PATH pevent --pid "$trouped_pid" --event -3051 --range session
  check "F6.9 E57" "which is watched" comes \
    'any(x["code"] == -3051 for x in events)'
else
  skip "F6.9" "pevent" "libpmix-bin is not installed"
fi
check "E3" "a job whose process is killed" status 137 \
  in_daemon --rtos recoverable -n 3 ./events killed
check "E3 E13" "who watches hears of the process, once" comes \
  'sum(x["name"] == "PMIX_ERR_PROC_ABORTED_BY_SIG" for x in events) == 1'
check "E3" "of the start of the job before, and of its end behind" comes \
  '[x["name"] for x in events if x["name"] in
    ("PMIX_EVENT_JOB_START", "PMIX_ERR_JOB_TERMINATED",
     "PMIX_ERR_PROC_ABORTED_BY_SIG")]
   == ["PMIX_EVENT_JOB_START", "PMIX_ERR_PROC_ABORTED_BY_SIG",
       "PMIX_ERR_JOB_TERMINATED"]'
check "E28" "from the resource manager" comes \
  'any(x["source"] is None for x in events
       if x["name"] == "PMIX_ERR_PROC_ABORTED_BY_SIG")'
check "E57" "a watch that is interrupted ends well" status 0 end_watch

# reaches PROGRAM's events: a program of theirs hears what the command sends.
to_program() {
  in_daemon -n 2 ./events from_tool >there 2>&1 </dev/null &
  local job_pid=$!
  eventually 20 sh -c "grep -c 'is ready' there | grep -qx 2" \
    && sent -3001 || { cat there; return 1; }
  wait "$job_pid"
}
check "E57" "programs hear what is sent" to_program

counted() {
  watch --count 2 -3052 || return 1
  sent -3053 && sent -3052 && sent -3052 && wait "$watch_pid" \
    && watched '[x["code"] for x in events] == [-3052, -3052]'
}
check "E57" "a watch of one code ends after so many events" counted
check "E57" "and without them after a time" status 124 \
  within $((15 * slow)) troupe events watch $at --count 1 --timeout 0.5 -3099
affected() {
  watch --count 1 --affected some.job:3 || return 1
  sent -3054 --affected some.job:4 && sent -3054 --affected some.job:3 \
    && wait "$watch_pid" && watched 'events[0]["affected"] == [
      {"nspace": "some.job", "rank": 3}]'
}
check "E59" "a watch of one process" affected

# An event is kept for the processes of a job that are there and may register.
in_daemon -n 2 ./event_deaths steady 12 >steady 2>&1 </dev/null &
keeper=$!
eventually 20 sh -c "grep -c 'is ready' steady | grep -qx 2"
sent -3055 --message kept --info my.key:int=5 --non-default
listed() {
  # shellcheck disable=SC2086
  within $((15 * slow)) troupe events list $at --json >list || return 1
  cat list
  "$python" - <<'END'
import json, sys
with open("list", encoding="utf-8") as file:
    events = [json.loads(line) for line in file]
# A log for each namespace: the job's, and those of tools.
found = [x for x in events if x["code"] == -3055 and "@" in x["nspace"]]
sys.exit(0 if len(found) == 1 and found[0]["number"] > 0 else 1)
END
}
check "E8" "what the server keeps is listed" listed
since() {
  # shellcheck disable=SC2086
  within $((15 * slow)) troupe events watch $at --json --since 0 --count 1 -3055 \
    >watched || return 1
  watched 'len(events) == 1 and events[0]["infos"]["my.key"] == 5'
}
check "E8 E49" "a watch shows what is kept, if it is asked to" since
fresh() {
  watch -3055 && sent -3055 --message new --non-default \
    && comes 'len(events) == 1' \
    && watched 'events[0]["infos"]["pmix.evtext"] == "new"'
  local outcome=$?
  end_watch
  return $outcome
}
check "E8" "and only what is new, if not" fresh
check "211" "which the default handlers of the job do not see" wait "$keeper"

refused() {
  local outcome=0
  within 10 troupe events "$@" >refused 2>&1 </dev/null || outcome=$?
  cat refused
  [ "$outcome" -eq 2 ] && [ "$(wc -l <refused)" -eq 1 ]
}
check "E57" "an unknown name is refused in a line" refused send no-such-event
check "E57" "so is a range" refused send -3001 --range everywhere
check "E57" "so is a process" refused watch --affected :7
check "E57" "a DVM that is not there is named" status 1 \
  within 10 troupe events send -3001 --dvm nobody

# -- other people's default handlers -------------------------------------------

quiet() {
  : >steady # What is waited for is what this one says.
  in_daemon -n 2 ./event_deaths steady 4 >steady 2>&1 </dev/null &
  local job_pid=$!
  eventually 20 sh -c "grep -c 'is ready' steady | grep -qx 2" || {
    cat steady
    return 1
  }
  in_daemon --rtos recoverable -n 3 ./events killed >/dev/null 2>&1
  in_daemon -n 2 ./event_deaths aborts >/dev/null 2>&1
  in_daemon -n 2 false >/dev/null 2>&1
  wait "$job_pid" || { cat steady; return 1; }
}
check "211 E2 E13" "what happens to other jobs reaches no default handler" quiet
if command -v mpicc >/dev/null; then
  compile_mpi "$TROUPE_SOURCE/tests/netlab/programs/mpi_steady.c" mpi_steady
  mpi_quiet() {
    in_daemon -n 2 ./mpi_steady 4 >steady 2>&1 </dev/null &
    local job_pid=$!
    eventually 10 pgrep -x mpi_steady
    in_daemon --rtos recoverable -n 3 ./events killed >/dev/null 2>&1
    in_daemon -n 2 ./event_deaths aborts >/dev/null 2>&1
    in_daemon -n 2 false >/dev/null 2>&1
    wait "$job_pid" || { cat steady; return 1; }
  }
  check "211" "nor does it end an Open MPI job" mpi_quiet
else
  skip "211" "Open MPI and events of other jobs" "there is no mpicc"
fi

stop_trouped >/dev/null 2>&1
clean "E57" "nothing is left"
finish
