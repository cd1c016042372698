# Monitors of named kinds, reactions to alerts, plugins: real processes that stall,
# fall silent, use too much memory; a command that hangs; and who does what about it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1

# -- a plugin, as its first lines say ------------------------------------------

mkdir plugins queue
chmod 755 plugins
check "M6" "the example of a plugin compiles" \
  "${TROUPE_CC:-cc}" -std=c99 -Wall -shared -fPIC \
  -I "$TROUPE_SOURCE/adapters/monitor_plugins" -o plugins/queue.so \
  "$TROUPE_SOURCE/examples/queue_monitor.c"
chmod 755 plugins/queue.so
cp plugins/queue.so plugins/open_to_all.so
chmod 777 plugins/open_to_all.so

# -- plugins in C++ ------------------------------------------------------------

# cxx_plugin FILE [SOURCE]: builds a plugin, from standard input without SOURCE.
cxx_plugin() {
  c++ -std=c++17 -O1 -Wall -Werror -shared -fPIC -DCAF_ENABLE_TYPE_ID_CHECKS \
    -I "$TROUPE_SOURCE" -o "plugins/$1" -x c++ "${2:--}" && chmod 755 "plugins/$1"
}
check "C11.3" "the example in C++ compiles" \
  cxx_plugin backlog.so "$TROUPE_SOURCE/examples/queue_monitor.cpp"
cxx_plugin other.so <<'END'
extern "C" { extern const struct { const char* abi; void* add; } troupe_monitor_plugin;
const decltype(troupe_monitor_plugin) troupe_monitor_plugin = {"Troupe 0.0, CAF 1", 0}; }
END
cxx_plugin throws.so <<'END'
#include <base/monitor_kind.hpp>
TROUPE_MONITOR_PLUGIN(kinds) { kinds.clear(); throw std::runtime_error{"not today"}; }
END
cxx_plugin actors.so <<'END'
#include <base/monitor_kind.hpp>
#include <caf/all.hpp>
#include <unistd.h>
using namespace troupe;
static monitor_actor::behavior_type eager(monitor_actor::pointer self) {
  return {[self](const start_monitor& what, const monitor_user_actor& to) {
            for (int i = 0; i < 100000; ++i)
              self->send(to, monitor_alert{what.number, "eager " + to_string(what.proc),
                                           {{"pid", 0, value::uint32(what.pid)}}});
            return ack{};
          },
          [self](stop_monitor) { self->quit(); }};
}
static monitor_actor::behavior_type silent(monitor_actor::pointer self) {
  return {[self](const start_monitor&, const monitor_user_actor&) {
            return self->make_response_promise<ack>();
          },
          [self](stop_monitor) { self->quit(); }};
}
static monitor_actor::behavior_type raging(monitor_actor::pointer) {
  return {[](const start_monitor&, const monitor_user_actor&) -> caf::result<ack> {
            throw std::runtime_error{"rage"};
          },
          [](stop_monitor) {}};
}
struct hanging : watcher {
  explicit hanging(const start_monitor&) {}
  std::string look() override {
    while (++looks > 1)
      usleep(1000);
    return {};
  }
  int looks = 0;
};
TROUPE_MONITOR_PLUGIN(kinds) {
  kinds["eager"] = [](caf::actor_system& sys) -> monitor_actor { return sys.spawn(eager); };
  kinds["silent"] = [](caf::actor_system& sys) -> monitor_actor { return sys.spawn(silent); };
  kinds["raging"] = [](caf::actor_system& sys) -> monitor_actor { return sys.spawn(raging); };
  kinds["hanging"] = watchers<hanging>(std::chrono::milliseconds{100});
}
END

# -- a job ---------------------------------------------------------------------

cat >roles.sh <<'END'
case $PMIX_RANK in
  0) echo $$ >stalled; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec sleep 1000 ;;
  1) echo hello; exec sleep 1000 ;;
  *) exec /usr/bin/python3 -c 'import time
x = bytearray(b"x" * (96 << 20))
time.sleep(1000)' ;;
esac
END
timeout --kill-after=5 "$((150 * slow))" troupe run --oversubscribe -n 3 \
  --monitor "plugins=$PWD/plugins" \
  --monitor 'reaction=command:echo "$TROUPE_MONITOR_REASON" >>by_site' \
  sh roles.sh >out 2>err &
job_pid=$!
eventually 10 grep -qx hello out
launcher=pid:$(pgrep -P "$job_pid" -x troupe)
nspace=$(troupe jobs --dvm "$launcher" | awk 'NR == 2 { print $1 }')

# add KIND RANK [OPTION]...: has a process watched.
add() {
  local kind=$1 rank=$2
  shift 2
  troupe monitor add "$kind" --dvm "$launcher" --proc "$nspace:$rank" "$@"
}

# A time of less than 10 s, which is how long we wait: a watch may look late.
some_seconds='(0\.[0-9]+|[1-9](\.[0-9]+)?) s'

# says FILE REGEX: an alert has come that says so.
says() { eventually 10 grep -Eq "$2" "$1" || { cat "$1" err; return 1; }; }

# in_words REGEX COMMAND...: COMMAND is refused in words that match.
in_words() {
  local regex=$1 said
  shift
  said=$("$@" 2>&1) && { echo "not refused: $said"; return 1; }
  grep -Eq -- "$regex" <<<"$said" || { echo "$said"; return 1; }
}

check "M6 M24" "silence of standard output, a command as reaction" \
  add output_silence 1 --interval 0.5 \
  --reaction 'command:echo "$TROUPE_MONITOR_RANK $TROUPE_MONITOR_REASON" >silent'
check "M6" "and the command learns of it" \
  says silent "^1 nothing on standard output for $some_seconds"
check "M6 M24" "a limit of memory, the reaction of the site" \
  add memory_limit 2 --interval 0.1 --set limit=64M
check "M24" "the site's command learns of it" \
  says by_site '^uses [0-9]+ MiB of memory, more than 64 MiB$'
check "M6" "a command that hangs, as a GPU may" \
  add command 0 --interval 0.2 --set timeout=0.2 --set 'command=sleep 1000' \
  --reaction 'command:echo "$TROUPE_MONITOR_REASON" >hung'
check "M6" "is found" says hung '^the command was not over after 0.2 s$'
check "M6 M10" "a plugin" \
  add queue 0 --interval 0.1 --id spool --set "directory=$PWD/queue" \
  --set limit=1 --reaction 'command:echo "$TROUPE_MONITOR_ID" >queued'
sleep 0.3
check "M6" "it is content" test ! -e queued
touch queue/a queue/b
check "M6" "and then it is not" says queued '^spool$'
check_match "M6" "a plugin that others may write to is not loaded" \
  'open_to_all.so: others may write to it' "$(cat err)"

# -- in C++ --------------------------------------------------------------------

check_match "C11.3" "a plugin in C++ for another version is not loaded" \
  'other.so: it is made for Troupe 0.0, CAF 1, this daemon is Troupe [0-9.]+, CAF 1706' \
  "$(cat err)"
check_match "C11.5" "nor one that throws" 'throws.so: .*not today' "$(cat err)"
for _ in 1 2 3 4; do
  add hanging 1 >>hanging 2>&1
done
add hanging 1 >/dev/null 2>&1 &
fifth_pid=$!
check_equal "C11.5" "monitors that hang from their second look on take their threads" "4" \
  "$(grep -c '^[0-9]*$' hanging)"
check "C11.5" "one that throws as it begins is refused" in_words 'PMIX_ERR' add raging 1
add silent 1 >silence 2>&1 &
silent_pid=$!
check "C11.3 C11.4" "meanwhile, one in C++ watches a directory" \
  add backlog 0 --interval 0.1 --id cxx --set "directory=$PWD/queue" \
  --set limit=1 --reaction 'command:echo "$TROUPE_MONITOR_REASON" >backlog'
check "C11.4" "and the alert says why" says backlog "^2 files wait in $PWD/queue$"
check "C11.1" "a setting that is missing is refused in the monitor's words" \
  in_words 'needs the setting directory' add backlog 0 --set limit=1
check "C11.1" "what cannot be looked at, too" in_words 'No such file' \
  add backlog 0 --set limit=1 --set directory=/nowhere
check "C11.3 C11.5" "an actor that alerts 100,000 times" \
  add eager 1 --reaction 'command:echo "$TROUPE_MONITOR_REASON" >>eager'
check "C11.5" "is heard" says eager "^eager $nspace:1$"
check "C11.5" "and not without end" bash -c '[ "$(wc -l <eager)" -lt 1000 ]'
kill "$silent_pid" "$fifth_pid" 2>/dev/null
for number in $(troupe monitor list --dvm "$launcher" \
  | awk '/hanging|backlog|eager|silent/ { print $1 }'); do
  check "C11.5" "$number is cancelled" troupe monitor cancel --dvm "$launcher" "$number"
done

# -- lists, refusals -----------------------------------------------------------

troupe monitor list --dvm "$launcher" >list
check_equal "M11" "all are listed" "4" "$(grep -c "$nspace:" list)"
number=$(awk '/spool/ { print $1 }' list)
check "M11" "one is cancelled by its number" \
  troupe monitor cancel --dvm "$launcher" "$number"
check_equal "M11" "and gone" "3" \
  "$(troupe monitor list --dvm "$launcher" | grep -c "$nspace:")"
check "M11" "once" in_words 'NOT_FOUND' \
  troupe monitor cancel --dvm "$launcher" "$number"
check "M6" "a kind that there is not" in_words 'there are: .*command' \
  add nothing 0
check "M6" "a process that there is not" in_words 'NOT_FOUND' \
  add cpu_progress 7
check "M6" "a setting that makes no sense" in_words 'limit must be' \
  add memory_limit 0 --set limit=much
check "M24" "a reaction that there is not" in_words 'a reaction is event' \
  add cpu_progress 0 --reaction hit

# -- the end -------------------------------------------------------------------

check "M6 M24" "a stalled process is found" \
  add cpu_progress 0 --interval 0.4 --reaction log --reaction stack \
  --reaction kill
ended() { ! kill -0 "$1"; }
check "M24" "and killed" eventually 20 ended "$(cat stalled)"
check_match "M24" "the log says why" \
  "monitor cpu_progress of $nspace:0: no CPU time for $some_seconds" "$(cat err)"
if command -v gdb >/dev/null || command -v eu-stack >/dev/null; then
  check_match "M24" "its stack was taken before" "^#0 " "$(cat err)"
else
  skip "M24" "its stack" "neither gdb nor eu-stack is installed"
fi

check "M24" "the others go on until they are ended" \
  troupe ctl kill --dvm "$launcher" "$nspace"
wait "$job_pid"

# What a job says: a second one, whose monitor says nothing.
timeout --kill-after=5 "$((40 * slow))" troupe run --on-alert kill -n 1 \
  sh -c 'echo again; exec sleep 1000' >out 2>err &
job_pid=$!
eventually 10 grep -qx again out
launcher=pid:$(pgrep -P "$job_pid" -x troupe)
nspace=$(troupe jobs --dvm "$launcher" | awk 'NR == 2 { print $1 }')
check "M24" "a monitor that says nothing" add output_silence 0 --interval 0.2
outcome=0
wait "$job_pid" || outcome=$?
check_equal "M24" "does what its job says" "137" "$outcome"
check "M24" "a job that says nonsense" status 2 troupe run --on-alert hit true

# -- other nodes ---------------------------------------------------------------

# Daemons of other nodes, all on this machine: the remote shell runs its command
# here, whatever the node is called.
cat >here.sh <<'END'
#!/bin/sh
shift
exec "$@"
END
chmod +x here.sh
launcher=kinds
troupe up --name kinds --remote-shell "$PWD/here.sh" --host a:1,b:1 \
  --monitor 'reaction=command:echo "$TROUPE_MONITOR_RANK" >>of_nodes' \
  >up 2>up.err </dev/null &
dvm=$!
if eventually 30 grep -qx "DVM ready" up; then
  timeout --kill-after=5 "$((60 * slow))" troupe run --dvm kinds -n 2 \
    sh -c 'echo here; exec sleep 1000' >out 2>err &
  job_pid=$!
  lines() { [ "$(wc -l <"$1")" -eq "$2" ]; }
  eventually 10 lines out 2
  nspace=$(troupe jobs --dvm kinds | awk 'NR == 2 { print $1 }')
  check "M6 M24" "a process of another node" \
    add output_silence 1 --interval 0.2 --id far
  check "M24" "the site's reaction happens there" says of_nodes '^1$'
  check "M6" "and another" add output_silence 0 --interval 600 --id near
  troupe monitor list --dvm kinds >list
  check_equal "M10 M11" "all nodes are listed" "$nspace:0 a near|$nspace:1 b far" \
    "$(awk 'NR > 1 { print $2, $3, $5 }' list | sort | paste -sd '|')"
  check "M11" "one of another node is cancelled" troupe monitor cancel \
    --dvm kinds --proc "$nspace:1" "$(awk '/ far / { print $1 }' list)"
  check_equal "M11" "and no other" "near" \
    "$(troupe monitor list --dvm kinds | awk 'NR > 1 { print $5 }')"
  check "M6" "a process that is nowhere" in_words 'NOT_FOUND' \
    add cpu_progress 9
else
  cat up.err
  failed "M6" "a DVM of three daemons"
fi
within "$((20 * slow))" troupe down --dvm kinds >/dev/null 2>&1
wait "$dvm" "$job_pid"
rm -rf plugins queue
clean "M6" "nothing is left"
finish
