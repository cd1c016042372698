# Other users of the machine, and connections that say nothing.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies connects
cp connects "/tmp/troupe-connects.$$" # Where everybody can read it.
chmod 755 "/tmp/troupe-connects.$$"

# -- silent connections: X1, X2, F4.4 ------------------------------------------

cat >silent.py <<'END'
"""Opens connections to a port and says nothing, or bytes one by one."""
import socket, sys, time

port, count, mode = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
connections = []
for _ in range(count):
    x = socket.socket()
    x.settimeout(5)
    try:
        x.connect(("127.0.0.1", port))
    except OSError:
        break
    connections.append(x)
print(f"{len(connections)} connections", flush=True)
while True:
    time.sleep(0.1)
    if mode == "trickle":
        for x in connections:
            try:
                x.send(b"\0")
            except OSError:
                pass
END

# With silent connections at the door, a job gets through quickly.
start_trouped
port=${trouped_uri##*:}
build spawner
disturbed() {
  local mode=$1 count=$2 start outcome=0 as=("${@:3}")
  : >silent.txt # What is waited for is what these say.
  "${as[@]}" /usr/bin/python3 - "$port" "$count" "$mode" <silent.py >silent.txt 2>&1 &
  local silent=$!
  eventually 10 grep -q connections silent.txt || return 1
  start=$SECONDS
  ./spawner "$trouped_uri" 5 4 "$PWD/dies" nobody || outcome=$?
  kill "$silent"
  wait "$silent" 2>/dev/null
  [ "$outcome" -eq 0 ] && [ $((SECONDS - start)) -lt $((10 * slow)) ]
}
check "F4.4 X1" "200 silent connections of the same user delay no job" \
  disturbed silent 200 env
check "F4.4 X2" "nor do connections that trickle" disturbed trickle 200 env
few_connections() {
  [ "$(ss -tnH state established "sport = :$port" | wc -l)" -eq 0 ]
}
check "X1 X2" "and nothing of it stays" eventually 10 few_connections

# -- secrets -------------------------------------------------------------------

# What processes hand over stays out of logs and arguments.
cat >posts.c <<'END'
#include <pmix.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  pmix_proc_t me;
  pmix_value_t value;
  pmix_info_t info;
  char secret[64];
  FILE* file = fopen(argv[argc - 1], "r");
  if (!file || !fgets(secret, sizeof(secret), file)
      || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 1;
  fclose(file);
  PMIX_VALUE_LOAD(&value, secret, PMIX_STRING);
  PMIX_INFO_LOAD(&info, "posts.published", secret, PMIX_STRING);
  if (PMIx_Put(PMIX_GLOBAL, "posts.put", &value) != PMIX_SUCCESS
      || PMIx_Commit() != PMIX_SUCCESS || PMIx_Publish(&info, 1) != PMIX_SUCCESS
      || PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS)
    return 2;
  puts("posted");
  fflush(stdout);
  pause();
  return 0;
}
END
compile_pmix posts.c posts
echo open-sesame-4711 >secret
troupe run --log-level debug -n 1 ./posts secret >posted.txt 2>posted.log </dev/null &
launcher=$!
check "F8.6" "a process hands over a secret" eventually 20 grep -q posted posted.txt
check_match "F8.6" "the log tells of the process" 'connected' "$(cat posted.log)"
check "F8.6" "no log has the secret" sh -c '! grep open-sesame posted.log'
check "F8.6" "no arguments and no environment have the secret" sh -c '
  for pid in '"$launcher"' $(pgrep -P '"$launcher"' -f posts); do
    grep -aq posts "/proc/$pid/cmdline" || exit 1
    ! grep -a open-sesame "/proc/$pid/cmdline" "/proc/$pid/environ" || exit 1
  done'
check "F8.6" "no file of the session has the secret" \
  sh -c '! grep -ra open-sesame "$TMPDIR"'
kill -TERM "$launcher"
wait "$launcher"
rm -f secret

# -- privileges ----------------------------------------------------------------

# new_privileges PID: whether what it runs may not gain any: 1 or 0.
new_privileges() { sed -n 's/^NoNewPrivs:[[:space:]]*//p' "/proc/$1/status"; }
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
troupe up --name locked --host a:1,b:1 --remote-shell "$PWD/here.sh" \
  >locked.out 2>locked.err </dev/null &
root=$!
check "MND-A14" "a DVM is up" eventually 20 grep -qx "DVM ready" locked.out
if [ "$(ulimit -l)" = unlimited ] || [ "$(ulimit -l)" -ge 1024 ]; then
  for pid in $root $(pgrep -f "^[^ ]*trouped --join" -P "$root"); do
    check_match "MND-A14" "keys of a root or daemon are locked in memory" \
      '^VmLck:[[:space:]]*[1-9][0-9]* kB' "$(cat "/proc/$pid/status")"
  done
else
  skip "MND-A14" "keys are locked in memory" "ulimit -l is $(ulimit -l)"
fi
check_equal "MND-A14" "its jobs may run ping and sudo" "0" "$(troupe run --dvm \
  locked -n 1 sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status)"
troupe events watch --dvm locked >watched.txt 2>&1 </dev/null &
watcher=$!
eventually 10 grep -q watching watched.txt
check_equal "MND-A14" "a command that runs nothing gains nothing" "1" \
  "$(new_privileges "$watcher")"
guards() { pgrep -x troupe-guard | xargs -I{} grep -lszx \
  "TROUPE_MARK=$TROUPE_MARK" /proc/{}/environ | cut -d/ -f3; }
check "MND-A14" "there is a guard" sh -c 'test -n "$1"' sh "$(guards)"
check_equal "MND-A14" "nor does a guard" "1" \
  "$(for pid in $(guards); do new_privileges "$pid"; done | sort -u)"
kill "$watcher"
wait "$watcher"
troupe down --dvm locked
wait "$root"

# -- another user --------------------------------------------------------------

if [ "$(id -u)" -ne 0 ] || ! id nobody >/dev/null 2>&1; then
  for ids in X3 X11 F4.8 F4.9; do
    skip "$ids" "another local user" "needs root"
  done
  stop_trouped >/dev/null 2>&1
  rm -f "/tmp/troupe-connects.$$"
  finish
fi
is_out() {
  echo "$1"
  ! grep -q SUCCESS <<<"$1"
}
# To be used in the background or in $(...) only: the process becomes COMMAND.
other() {
  exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
    env -u TMPDIR HOME=/ "$@"
}

text=$(cd / && other timeout 20 "/tmp/troupe-connects.$$" "$trouped_uri" 2>&1)
check_match "X11 F4.9" "another user's tool is refused" 'tool: ' "$text"
check "X11 F4.9" "it does not get in" \
  is_out "$text"
check_match "X11 F4.8" "that is logged with the user" \
  "refused.*user $(id -u nobody) may not attach" "$(cat trouped.log)"
check_equal "F4.11 X9" "another user does not read the rendezvous files" "" \
  "$(other find "$TMPDIR" -name 'pmix.*' -readable 2>/dev/null)"
check "F4.4 F4.9 X1" "900 silent connections of another user delay no job" \
  disturbed silent 900 other
check_match "X1" "what is too much is refused and logged" \
  'refused: limit of [0-9]+ connections without a handshake' \
  "$(cat trouped.log)"
check "F4.9 X2" "nor do 900 that trickle" disturbed trickle 900 other
check "X1 X2" "nothing of them stays" eventually 10 few_connections
stop_trouped >/dev/null 2>&1

# A rank of a job that runs, with the environment of that rank.
troupe run --oversubscribe -n 2 ./dies stays >there 2>there.log </dev/null &
launcher=$!
eventually 20 sh -c "grep -c 'is there' there | grep -qx 2"
victim=$(pgrep -P "$launcher" -f 'dies stays' | head -n 1)
mapfile -t stolen < <(tr '\0' '\n' <"/proc/$victim/environ" | grep '^PMIX_')
text=$(cd / && other timeout 20 env "${stolen[@]}" "/tmp/troupe-connects.$$" 2>&1)
check_match "X3 F4.8 F4.9" "another user does not become a rank" 'client: ' \
  "$text"
check "X3 F4.8 F4.9" "it does not get in" is_out "$text"
check_match "X3 F4.8" "that is logged with the user" \
  "(refused|closed).*user $(id -u nobody)" "$(cat there.log)"
check "X9" "the environment of a rank is not readable for another user" \
  sh -c "! setpriv --reuid=nobody --regid=nogroup --clear-groups \
    cat /proc/$victim/environ"
text=$(PMIX_RANK=7 env "${stolen[@]}" PMIX_RANK=7 timeout 20 \
  "/tmp/troupe-connects.$$" 2>&1)
check "F4.8" "a rank that was not registered is refused" \
  is_out "$text"
check_match "F4.8" "that is logged with the rank" ':7 is not registered' \
  "$(cat there.log)"
text=$(env "${stolen[@]}" PMIX_NAMESPACE=somebody-else timeout 20 \
  "/tmp/troupe-connects.$$" 2>&1)
check "F4.8" "a namespace that was not registered is refused" \
  is_out "$text"
check_match "F4.8" "that is logged with the namespace" \
  'somebody-else is not registered' "$(cat there.log)"
kill -TERM "$launcher"
wait "$launcher"

# Silent connections that come while a job starts.
stall() {
  local i
  for i in 1 2 3; do
    : >uri.txt # Of this job.
    troupe run --oversubscribe -n 8 sh -c \
      'echo "$PMIX_SERVER_URI4"; exec ./dies nobody' >uri.txt </dev/null &
    launcher=$!
    eventually 10 grep -q tcp uri.txt
    other /usr/bin/python3 - "$(head -n 1 uri.txt | sed 's/.*://')" \
      100 silent <silent.py >/dev/null 2>&1 &
    local silent=$! start=$SECONDS outcome=0
    wait "$launcher" || outcome=$?
    kill "$silent" 2>/dev/null
    wait "$silent" 2>/dev/null
    [ "$outcome" -eq 0 ] && [ $((SECONDS - start)) -lt $((8 * slow)) ] || return 1
  done
}
check "F4.9" "another user does not stall a job while it starts" stall

rm -f "/tmp/troupe-connects.$$"
clean "F5.20" "nothing is left"
finish
