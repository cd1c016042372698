# Settings of a site: from files of the node and of the user, the environment and the
# command line; what is wrong is named with its place; and what is set is done, by
# daemons that somebody starts here and by those that a root starts.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build stalls quota bounds
limit=60
probe="/usr/bin/python3 $programs/raw_limits.py"
export XDG_CONFIG_HOME=$TROUPE_WORK/config HOME=$TROUPE_WORK/home
mkdir -p "$XDG_CONFIG_HOME/troupe" "$HOME/.config/troupe"
own=$XDG_CONFIG_HOME/troupe/troupe.toml

# shown NAME [OPTION]...: value and origin of a setting.
shown() {
  local name=$1
  shift
  troupe config show --json "$@" | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin)["settings"]:
    if x["name"] == sys.argv[1]:
        print(x["text"], x["from"])' "$name"
}

# -- where they come from --------------------------------------------------------

check_equal "LIM19" "nobody has set it" "16 default" "$(shown tools.per_user)"
check_match "LIM19" "a table for people" \
  '^tools\.per_user +16 +number +1 to 4096 +default$' "$(troupe config show)"

# as_site COMMAND...: where the node has a file of settings of its own.
as_site() {
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount --bind "$TROUPE_WORK/etc" /etc && exec "$@"' sh "$@"
}
if [ "$(id -u)" = 0 ] && cp -a /etc "$TROUPE_WORK/etc" \
  && mkdir -p "$TROUPE_WORK/etc/troupe" && as_site true; then
  printf '[tools]\nper_user = 3\n[events]\nstall = "3s"\n' \
    >"$TROUPE_WORK/etc/troupe/troupe.toml"
  site_shows() { as_site bash -c "$(declare -f shown); shown $*"; }
  check_equal "LIM19" "the node's file" "3 /etc/troupe/troupe.toml:2" \
    "$(site_shows tools.per_user)"
  printf '\n[tools]\nper_user = 4\n' >"$own"
  check_equal "LIM19" "the user's is above it" "4 $own:3" \
    "$(site_shows tools.per_user)"
  check_equal "LIM12" "what it does not set stays" "3s /etc/troupe/troupe.toml:4" \
    "$(site_shows events.stall)"
  printf '[tools]\nper_user = 0\n' >"$TROUPE_WORK/etc/troupe/troupe.toml"
  check_match "LIM19" "no daemon starts with a wrong file of the node" \
    '^trouped: /etc/troupe/troupe.toml:2: .*write 1 to 4096$' \
    "$(as_site timeout 20 trouped 2>&1)"
else
  skip "LIM19" "the node's file" "it takes root and a file system to mount"
  printf '\n[tools]\nper_user = 4\n' >"$own"
fi
check_equal "LIM19" "the environment is above both" "5 TROUPE_TOOLS_PER_USER" \
  "$(TROUPE_TOOLS_PER_USER=5 shown tools.per_user)"
check_equal "LIM19" "the command line above all" "6 --set" \
  "$(TROUPE_TOOLS_PER_USER=5 shown tools.per_user --set tools.per_user=6)"
rm -f "$own"
printf 'tools.per_user = 7\n' >"$HOME/.config/troupe/troupe.toml"
check_equal "LIM19" "without XDG_CONFIG_HOME it is in ~/.config" \
  "7 $HOME/.config/troupe/troupe.toml:1" \
  "$(unset XDG_CONFIG_HOME && shown tools.per_user)"

# -- what is wrong ---------------------------------------------------------------

printf '[events]\nhistroy = true\nmemory = "4 MB"\n[tool]\n[tools]\nper_user = "9"\n' \
  >"$own"
wrong=$(troupe config check "$own" 2>&1)
check_equal "LIM9" "check counts all faults" "4" "$(grep -c "$own:" <<<"$wrong")"
check_match "LIM9" "an unknown key, with its line" \
  ":2: there is no setting \"events\.histroy\"; " "$wrong"
check_match "LIM9" "a value that is none" ":3: events\.memory is \"4 MB\"" "$wrong"
check_match "LIM9" "an unknown section" ":4: there is no section \"tool\"" "$wrong"
check_match "LIM19" "a value of another type" ":6: tools\.per_user is a string" "$wrong"
check "LIM9" "check fails then" status 1 troupe config check "$own"
check "LIM9" "and for a file that is not there" status 1 troupe config check none
# What they say becomes one line: nothing, such as "started", comes behind the fault.
for command in "trouped" "troupe up" "troupe run -n 1 echo started"; do
  # shellcheck disable=SC2086
  check_match "LIM9" "$command does not start with it" \
    "troupe[a-z ]*: $own:[0-9]+: .*3 more: troupe config check $own\)\$" \
    "$(within 20 $command 2>&1 | xargs -d '\n')"
  # shellcheck disable=SC2086
  check "LIM9" "$command ends with 2 then" status 2 within 20 $command
done
check "LIM9" "so does config show" status 2 troupe config show
printf '[events\n' >"$own"
check_match "LIM9" "no TOML at all" "$own:1: " "$(troupe config check "$own" 2>&1)"
head -c 300000 /dev/urandom >"$own"
check "LIM9" "nor a file of noise" status 1 troupe config check "$own"
rm "$own"
if [ "$(id -u)" = 0 ]; then
  printf '[tools]\nper_user = 2\n' >"$own"
  check_equal "LIM19" "root takes a file of its own" "2 $own:2" "$(shown tools.per_user)"
  chown 65534 "$own"
  check_match "LIM19" "root takes no file of somebody else" \
    "$own: root takes no settings that others may write" "$(troupe config show 2>&1)"
  check "LIM19" "which may be looked at" troupe config check "$own"
  rm "$own"
else
  skip "LIM19" "root takes no file of somebody else" "it takes root"
fi
mkfifo "$own"
check_match "LIM9" "a pipe does not hold it up" "it is no file" \
  "$(within 10 troupe config show 2>&1)"
rm "$own"
printf '[tools]\nper_user = 2\n' >"$own"
check "LIM19" "a right one passes" troupe config check "$own"
rm "$own"
check_match "LIM9" "a misspelt variable" "^trouped: TROUPE_EVENTS_HISTROY " \
  "$(TROUPE_EVENTS_HISTROY=1 within 20 trouped 2>&1)"
check_match "LIM9" "a misspelt option" "^trouped: --set: there is no setting" \
  "$(within 20 trouped --set events.histroy=1 2>&1)"
for command in "trouped" "troupe up" "troupe config show"; do
  # shellcheck disable=SC2086
  check "LIM9" "$command with a wrong --set ends with 2" \
    status 2 within 20 $command --set events.histroy=1
done
check_match "LIM9" "a job of a DVM that is up sets nothing" "give it to troupe up" \
  "$(troupe run --dvm none --set tools.per_user=2 -n 1 true 2>&1)"

# -- the page --------------------------------------------------------------------

check_equal "LIM9" "docs/settings.md lists all settings as they are" \
  "$(troupe config show --json | /usr/bin/python3 -c '
import json, sys
for x in json.load(sys.stdin)["settings"]:
    print("| `%s` | %s | %s | %s |" % (x["name"], x["default"], x["bounds"], x["description"]))')" \
  "$(grep '^| `' "$TROUPE_SOURCE/docs/settings.md")"

# -- what daemons do: connections ------------------------------------------------

# local_port: where trouped listens.
local_port() { sed -n '1s/.*:\([0-9]*\).*/\1/p' "$TROUPE_WORK/uri"; }
on_trouped() { # WHAT [ARGUMENT]...
  local what=$1
  shift
  $probe "$what" 127.0.0.1 "$(local_port)" "$@"
}
tools_of() { within 20 troupe jobs --dvm "pid:$trouped_pid"; }
# refusals TEST...: passes if so many lines of the log tell of noise.
refusals() { test "$(grep -c 'is over the limit' "$TROUPE_WORK/trouped.log")" "$@"; }

start_trouped
check_equal "LIM1" "half-open connections by default" 16 "$(on_trouped open 24)"
check_equal "LIM2" "time to greet by default" stays "$(on_trouped patience)"
on_trouped noise 20
check "LIM25" "lines of the log by default" eventually 10 refusals -ge 20
within 60 troupe events watch --dvm "pid:$trouped_pid" >watching 2>&1 &
watch_pid=$!
check "LIM19" "a tool is attached" eventually 20 grep -q watching watching
check "LIM19" "and another one finds room" tools_of
kill "$watch_pid"
stop_trouped
start_trouped --set connections.half_open=3 --set connections.greeting_time=1200ms \
  --set connections.log_lines=5 --set tools.per_user=1
on_trouped noise 20
some_refusals() { eventually 10 refusals -ge 1 && refusals -le 15; }
check "LIM25" "lines of the log as set" some_refusals
check_equal "LIM1" "half-open connections as set" 3 "$(on_trouped open 24)"
check_match "LIM2" "time to greet as set" '^[0-9]+$' "$(on_trouped patience 1900)"
within 60 troupe events watch --dvm "pid:$trouped_pid" >watching 2>&1 &
watch_pid=$!
check "LIM19" "the only tool is attached" eventually 20 grep -q watching watching
check "LIM19" "another one finds no room" status 1 tools_of
kill "$watch_pid"
stop_trouped

start_trouped --set connections.greeting_time=20s
check_equal "LIM2" "more time to greet is more for who says nothing" stays \
  "$(on_trouped patience 3500)"
stop_trouped

# -- posted data and messages ----------------------------------------------------

check "LIM15" "what a process may post, as set" env \
  LD_LIBRARY_PATH="$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  timeout "$((60 * slow))" troupe run --oversubscribe --set posted.bytes=4M -n 3 \
  ./quota refused 12000000
printf '[posted]\nbytes = "4M"\n' >"$own"
check "LIM15" "the same by a file" env \
  LD_LIBRARY_PATH="$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  timeout "$((60 * slow))" troupe run --oversubscribe -n 3 ./quota refused 12000000
rm "$own"
check "LIM3" "a message of 4 MB by default" \
  job --no-shared-memory -n 2 ./quota fits 4000000
cut_off() { ! job --no-shared-memory --set connections.message_bytes=1M -n 2 \
  ./quota fits 4000000; }
check "LIM3" "and with a bound of 1 MiB" cut_off

# -- events ----------------------------------------------------------------------

# stalled SECONDS [OPTION]...: a job in which one takes no events any more.
stalled() {
  local seconds=$1
  shift
  job --timeout "$seconds" -n 2 --set events.disk=0 --set events.memory=1M "$@" \
    ./stalls >stalled 2>&1
  cat stalled
}
check "LIM9" "events on disk hold nobody up" bash -c \
  'timeout 60 troupe run --oversubscribe --timeout 30 -n 2 ./stalls 2>&1 | grep -qx "raised all"'
nobody_goes_on() {
  stalled "$((10 * slow))" --set events.stall=200ms
  ! grep -qx "raised all" stalled && grep -q "takes no events, and others wait" stalled
}
check "LIM9 LIM12" "without a disk the source waits, and the stalled is named" \
  nobody_goes_on
nobody_is_named() {
  stalled 3
  ! grep -qx "raised all" stalled && ! grep -q "takes no events" stalled
}
check "LIM12" "not before its time by default" nobody_is_named
others_go_on() {
  stalled 30 --set events.stall=200ms --set events.disconnect_stalled=true
  grep -qx "raised all" stalled && grep -q "takes no events, and others wait" stalled
}
check "LIM12" "with disconnect_stalled the others go on" others_go_on

# -- what processes may have at a time ---------------------------------------------

# ours OPTION... PROGRAM...: the same with our library.
ours() {
  LD_LIBRARY_PATH="$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" job "$@"
}
check_equal "LIM6" "codes of events by default" 40 "$(ours -n 1 ./bounds codes 40)"
# The library may register some of its own.
few_codes() {
  local count
  count=$(ours --set events.codes=20 -n 1 ./bounds codes 40)
  echo "$count"
  [ "$count" -ge 10 ] && [ "$count" -le 20 ]
}
check "LIM6" "codes of events as set" few_codes
check_equal "LIM7" "monitors by default" 8 "$(ours -n 1 ./bounds monitors 8)"
check_equal "LIM7" "monitors of a process as set" 3 \
  "$(ours --set monitors.per_process=3 -n 1 ./bounds monitors 8)"
check_equal "LIM7" "monitors of a node as set" 2 \
  "$(ours --set monitors.node=2 -n 1 ./bounds monitors 8)"
check_equal "LIM7" "updates on resources by default" 8 \
  "$(ours -n 1 ./bounds updates 8)"
check_equal "LIM7" "updates of a process as set" 3 \
  "$(ours --set monitors.updates_per_process=3 -n 1 ./bounds updates 8)"
check_equal "LIM7" "updates of a node as set" 2 \
  "$(ours --set monitors.updates=2 -n 1 ./bounds updates 8)"
check_equal "LIM17" "groups by default" 8 "$(ours -n 1 ./bounds groups 8)"
check_equal "LIM17" "groups as set" 3 \
  "$(ours --set groups.per_namespace=3 -n 1 ./bounds groups 8)"
check "LIM18" "collective operations by default" \
  ours --no-shared-memory -n 3 ./bounds operations fits
check "LIM18" "collective operations as set" \
  ours --no-shared-memory --set collectives.in_flight=1 -n 3 ./bounds operations refused
check "LIM16" "requests without an answer by default" \
  ours -n 2 ./bounds requests answered "$PWD/answered"
check "LIM16" "requests without an answer as set" \
  ours --set connections.requests=16 -n 2 ./bounds requests held "$PWD/held"

# -- streams -----------------------------------------------------------------------

# bound NAME: the bound of a gauge of trouped.
bound() {
  within 20 troupe net --json --dvm "pid:$trouped_pid" \
    | /usr/bin/python3 -c 'import json, sys
for x in json.load(sys.stdin)["nodes"][0]["gauges"]:
    if x["name"] == sys.argv[1]:
        print(x["bound"])' "$1"
}
start_trouped --set streams.kept=2M --set streams.waiting=4M
check_equal "LIM14" "what is kept of streams, as set" 2097152 "$(bound streams.kept)"
check_equal "LIM14" "what waits of streams, as set" 1048576 "$(bound streams.waiting)"
stop_trouped

# -- daemons that a root starts --------------------------------------------------

cat >here.sh <<'SHELL'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS... Each node has a user's file
# of its own.
export XDG_CONFIG_HOME=$TROUPE_WORK/config.$1
shift
exec "$@"
SHELL
chmod +x here.sh
hosts=a,b
# up_with [OPTION]...: a DVM of these nodes; sets root_pid and daemon_pid, that of b.
up_with() {
  : >up
  troupe up --name settings --remote-shell "$PWD/here.sh" --host "$hosts" "$@" >up \
    2>up.err </dev/null &
  root_pid=$!
  eventually 30 grep -qx "DVM ready" up || { cat up.err && return 1; }
  daemon_pid=$(marked_processes | while read -r pid; do
    ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q 'trouped --join' \
      || ! grep -qz "XDG_CONFIG_HOME=$TROUPE_WORK/config.b" "/proc/$pid/environ" \
      || echo "$pid"
  done)
  [ -n "$daemon_pid" ]
}
down() { within 30 troupe down --dvm settings && wait "$root_pid"; }
# threads PID: the fewest that it has in 7 s: those of its pool come with work, and
# end when there has been none for 5.
threads() {
  local least=1000 count end=$((EPOCHSECONDS + 7))
  while [ "$EPOCHSECONDS" -lt "$end" ]; do
    count=$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)
    [ "$count" -ge "$least" ] || least=$count
    sleep 0.1
  done
  echo "$least"
}
# count_threads: sets root_threads and daemon_threads.
count_threads() {
  threads "$root_pid" >root.threads &
  local other=$!
  daemon_threads=$(threads "$daemon_pid")
  wait "$other"
  root_threads=$(<root.threads)
}
# lane_place PID: an address and a port at which it takes lanes.
lane_place() {
  local uri
  uri=$(sed -n '1s/.*:\([0-9]*\).*/\1/p' up)
  ss -tlnpH | grep "pid=$1," | awk '{ print $4 }' | grep -v ":$uri\$" \
    | grep -v '^\[' | head -n 1 | sed 's/:\([0-9]*\)$/ \1/'
}

check "O8" "a DVM whose networks have no progress of their own" up_with --report-uri
count_threads
plain_root=$root_threads plain_daemon=$daemon_threads
# shellcheck disable=SC2046
check_equal "LIM1" "strangers on a lane's port, by default" 8 \
  "$($probe open $(lane_place "$root_pid") 8)"
# shellcheck disable=SC2046
check_equal "LIM2" "time for a handshake by default" stays \
  "$($probe patience $(lane_place "$root_pid"))"
check "" "it ends" down
check "O8" "and one whose networks have, by --set at the root" up_with --report-uri \
  --set networks.own_progress=true --set networks.half_open=3 \
  --set networks.handshake_time=2s
count_threads
check "O8" "the root has more threads than before" test "$root_threads" -gt "$plain_root"
check "O8" "so has the daemon that it has started" \
  test "$daemon_threads" -gt "$plain_daemon"
check_equal "O8" "and jobs run there" "a b" \
  "$(within 60 troupe run --dvm settings -n 2 --map-by node \
    sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
# shellcheck disable=SC2046
check_equal "LIM1" "strangers on a lane's port, as set" 3 \
  "$($probe open $(lane_place "$root_pid") 8)"
# It is 4 s by default.
# shellcheck disable=SC2046
check_match "LIM2" "time for a handshake as set" '^[0-9]+$' \
  "$($probe patience $(lane_place "$root_pid") 3000)"
check "" "it ends, too" down

# way_to_c: how node b speaks to node c after some data of a process there.
way_to_c() {
  within 60 troupe run --dvm settings --host b,c -n 2 --map-by node \
    ./quota fits 100000 && within 20 troupe net --json --dvm settings \
    | /usr/bin/python3 -c 'import json, sys
nodes = {x["name"]: x for x in json.load(sys.stdin)["nodes"]}
for y in nodes["b"].get("peers", []):
    if y["rank"] == nodes["c"]["rank"]:
        print("directly" if any("kind" in z for z in y["lanes"]) else "by others")'
}
# room_to_b: what may wait at the root for node b, beyond the queue of 64 MiB.
room_to_b() {
  within 20 troupe net --json --dvm settings | /usr/bin/python3 -c 'import json, sys
for x in json.load(sys.stdin)["nodes"][0]["gauges"]:
    if x["name"] == "mesh.to.b":
        print(x["bound"] - (64 << 20))'
}
hosts=a,b,c
check "LIM24" "a DVM of three nodes" up_with
room=$(room_to_b)
check_match "LIM23" "windows by default" '^[0-9]+$' "$room"
check_equal "LIM24" "two that are no neighbours connect" directly "$(way_to_c)"
check "" "it ends with three nodes" down
check "LIM24" "one without connections beyond the tree" up_with \
  --set networks.direct_peers=0 --set networks.window=12M
check_equal "LIM23" "windows as set" "$((3 * room))" "$(room_to_b)"
check_equal "LIM24" "there they speak by others" "by others" "$(way_to_c)"
check "" "it ends with those" down
hosts=a,b

mkdir -p "$TROUPE_WORK/config.b/troupe"
printf '[networks]\nown_progress = true\n' >"$TROUPE_WORK/config.b/troupe/troupe.toml"
check "O8" "a node that has it by its own file" up_with --report-uri
count_threads
check "O8" "has more threads" test "$daemon_threads" -gt "$plain_daemon"
check "O8" "and the root has not" test "$root_threads" -eq "$plain_root"
check "" "it ends as well" down
printf '[networks]\nown_progres = true\n' >"$TROUPE_WORK/config.b/troupe/troupe.toml"
check_match "O8" "a wrong file of a node is told at the root" \
  "b: $TROUPE_WORK/config\.b/troupe/troupe\.toml:2: there is no setting" \
  "$(within 60 troupe up --name settings --remote-shell "$PWD/here.sh" --host a,b 2>&1)"

# -- servers of others -----------------------------------------------------------

check "C12.9" "a daemon in C that has settings builds" "$TROUPE_CC" -std=gnu11 -Wall \
  -I"$TROUPE_SOURCE/c_api/include" -o settings_host "$programs/settings_host.c" \
  -L"$TROUPE_LIB" -lpmix -Wl,-rpath,"$TROUPE_LIB"
# half_open_of [INFO]...: what a server with these infos lets stay.
half_open_of() {
  rm -f host
  mkfifo input
  ./settings_host "$@" <input >host 2>host.err &
  exec 9>input
  eventually 10 test -s host
  $probe open 127.0.0.1 "$(sed -n '1s/.*:\([0-9]*\).*/\1/p' host)" 24
  exec 9>&-
  wait $!
  rm input
}
check_equal "C12.9 LIM1" "by default" 16 "$(half_open_of)"
check_equal "C12.9 LIM1" "by an info, a number" 4 \
  "$(half_open_of troupe.connections.half_open:4)"
check_equal "C12.9 LIM1" "by an info, text, above the environment" 5 \
  "$(TROUPE_CONNECTIONS_HALF_OPEN=6 half_open_of troupe.connections.half_open=5)"
check_equal "C12.9 LIM1" "by the environment" 6 \
  "$(TROUPE_CONNECTIONS_HALF_OPEN=6 half_open_of)"
refusal=$(./settings_host troupe.connections.half_open:0 </dev/null 2>&1)
check_match "C12.9 LIM1" "a value out of bounds is refused" 'BAD[-_]PARAM' "$refusal"
check_match "C12.9 LIM1" "with the remedy" 'write 1 to 65536' "$refusal"

clean "LIM9" "nothing is left"
finish
