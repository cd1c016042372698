# The tools that Debian packages with libpmix, against a daemon and a launcher.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

if ! command -v pps >/dev/null; then
  skip "F6.8 F6.9 F6.10" "pps, pevent, pattrs" "libpmix-bin is not installed"
  finish
fi
build dies connects events
host=$(hostname)

# tool COMMAND...: what it prints, in bounded time.
tool() {
  timeout --kill-after=2 "$((15 * slow))" "$@" 2>&1 </dev/null
}

# -- F4.10, F4.11: rendezvous files of a daemon --------------------------------

start_trouped --system-server
server=${trouped_uri%%.*}
session=$(find "$TMPDIR" -name "pmix.$host.tool" -printf '%h')

kinds=(
  "$TMPDIR/pmix.sys.$host"
  "$session/pmix.$host.tool"
  "$session/pmix.$host.tool.$trouped_pid"
  "$session/pmix.$host.tool.$server"
)
for file in "${kinds[@]}"; do
  name=${file##*/}
  name=${name//$host/HOST}
  name=${name//$trouped_pid/PID}
  check_equal "F4.10" "rendezvous file ${name%%troupe-*}: the URI" \
    "$trouped_uri" "$(head -n 1 "$file")"
  check_equal "F4.11" "rendezvous file ${name%%troupe-*}: mode and owner" \
    "600 $(id -u)" "$(stat -c '%a %u' "$file")"
done
check_equal "F4.11" "the directory of the session is private" \
  "700 $(id -u)" "$(stat -c '%a %u' "$session")"
check_equal "F4.10" "the third line is the number of the process" \
  "$trouped_pid" "$(sed -n 3p "${kinds[0]}")"

# -- F6.8: pps -----------------------------------------------------------------

active='Active nspaces:'
check_match "F6.8 F4.10" "pps without arguments" "$active" "$(tool pps)"
check_match "F6.8 F4.10" "pps by process" "$active" \
  "$(tool pps --pid "$trouped_pid")"
check_match "F6.8 F4.10" "pps by namespace" "$active" \
  "$(tool pps --namespace "$server")"
check_match "F6.8 F4.10" "pps by URI" "$active" \
  "$(tool pps --uri "$trouped_uri")"
check_match "F6.8 F4.10" "pps by file" "$active" \
  "$(tool pps --uri "file:${kinds[0]}")"
check_match "F6.8 F4.10" "pps of the system server" "$active" \
  "$(tool pps --system-server)"

# -- F6.9: pevent --------------------------------------------------------------

check "F6.9" "pevent sends an event" \
  tool pevent --pid "$trouped_pid" --event -500 --range session

# -- F6.10: pattrs -------------------------------------------------------------

check_match "F6.10" "pattrs: attributes of a function of the host" \
  'PMIX_JOB_TIMEOUT' "$(tool pattrs --pid "$trouped_pid" --host PMIx_Spawn)"
check_match "F6.10" "pattrs: all of the host" 'PMIX_COLLECT_DATA' \
  "$(tool pattrs --pid "$trouped_pid" --host all)"

# -- tools that do not work with any server ------------------------------------

skip "F6.8" "pquery" \
  "Debian's binary divides by zero before it connects to anybody"
skip "F4.25" "plookup" \
  "Debian's binary reads address 0 after it has connected to anybody"

# -- F4.12, F4.13: the end of a daemon -----------------------------------------

check "F4.12" "a daemon told to end does" status 0 stop_trouped
clean "F4.12 F5.20" "its files are gone"

start_trouped --system-server
old=$trouped_pid
kill -KILL "$trouped_pid"
wait "$trouped_pid" 2>/dev/null
check "F4.13" "a daemon that is killed leaves its file" \
  test -f "$TMPDIR/pmix.sys.$host"
start_trouped --system-server
check_equal "F4.13" "which the next one takes for what it is" \
  "$trouped_uri" "$(head -n 1 "$TMPDIR/pmix.sys.$host")"
check_equal "F4.13" "so that tools find one server only" "" \
  "$(find "$TMPDIR" -name "*.$old")"
check_match "F4.13 F4.10" "pps finds it" "$active" "$(tool pps)"
check "F4.13" "a second system server is refused while one runs" \
  status 125 trouped --system-server

# -- tools and jobs of a daemon ------------------------------------------------

check_match "F4.10" "a tool connects and is told its name" 'tool: SUCCESS' \
  "$(tool ./connects "$trouped_uri")"
check "F4.10" "a singleton finds the system server" tool ./connects
check "F4.12" "an interrupted daemon ends well" status 0 stop_trouped INT
clean "F4.12 F5.20" "and leaves nothing"

# -- a launcher ----------------------------------------------------------------

troupe run --oversubscribe -n 3 ./dies stays >there 2>&1 </dev/null &
launcher=$!
check "F6.8" "a job runs" \
  eventually 20 sh -c "grep -c 'is there' there | grep -qx 3"
text=$(tool pps --pid "$launcher")
check_match "F6.8 F4.10" "pps shows the job of a launcher" \
  "$active .*troupe-.*-$launcher@1" "$text"

check_match "F6.10" "pattrs asks a launcher" 'PMIX_TIMEOUT' \
  "$(tool pattrs --pid "$launcher" --host PMIx_Fence)"
kill -TERM "$launcher"
wait "$launcher"

pevent_reaches() {
  local outcome
  troupe run --oversubscribe -n 2 ./events from_tool >there 2>&1 </dev/null &
  launcher=$!
  eventually 20 sh -c "grep -c 'is ready' there | grep -qx 2" \
    && tool pevent --pid "$launcher" --event -3001 --range session
  wait "$launcher"
  outcome=$?
  cat there
  return "$outcome"
}
check "F6.9 F4.37" "an event of pevent reaches the processes of a job" \
  pevent_reaches

clean "F5.20 F4.12" "nothing is left"
finish
