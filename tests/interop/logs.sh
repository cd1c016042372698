# Logs of daemons: lines of JSON, entries of the journal, and levels by subject that
# are set while they run.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build fences
python=/usr/bin/python3

# tool COMMAND...: a command that has to answer soon.
tool() { within "$((20 * slow))" troupe "$@" --dvm "pid:$trouped_pid" </dev/null; }

# lines EXPRESSION: how many lines of JSON of the daemon's log are so.
lines() {
  "$python" - "$TROUPE_WORK/trouped.log" "$1" <<'END'
import json, sys
found = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert all(x["type"] == "log" and x["schema"] == 1 and x["subject"] and x["time"]
           for x in found), found
print(sum(1 for x in found if eval(sys.argv[2])))
END
}
has() { [ "$(lines "$1")" -gt 0 ]; }

# -- levels --------------------------------------------------------------------

start_trouped --log-format json
check_match "LOG-2" "the levels that it starts with" '^server +warning$' \
  "$(tool log show)"
check "LOG-2" "one is set" tool log set server=debug
check_match "LOG-2" "and shown" '^server +debug$' "$(tool log show)"
check_match "LOG-2" "the others are not" '^events +warning$' "$(tool log show)"
check "LOG-1 LOG-2" "a tool that connects is a line about the server" has \
  'x["subject"] == "server" and x["level"] == "debug" and "connected" in x["message"]'
check_equal "LOG-2" "and of other subjects there is no such line" 0 \
  "$(lines 'x["level"] == "debug" and x["subject"] != "server"')"

run() { within "$((30 * slow))" troupe run --dvm "pid:$trouped_pid" "$@" </dev/null; }
check "LOG-2" "several are set" tool log set error collectives=debug,events=info
check "" "a job with fences" run -n 2 ./fences plain
check "LOG-1 TRC-1" "each step of a fence is a line that names it" has \
  'x["subject"] == "collectives" and x.get("trace", "").startswith("fence:")'
fence=$("$python" -c '
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    x = json.loads(line)
    if x.get("trace", "").startswith("fence:"):
        last = x["trace"]
print(last)' "$TROUPE_WORK/trouped.log")
check_match "TRC-1" "by which its way is found" 'has called it' "$(tool trace "$fence")"
check "LOG-2" "and set back" tool log set collectives=error
before=$(lines 'x["subject"] == "collectives"')
check "" "another job" run -n 2 ./fences plain
check_equal "LOG-2" "then there are no more lines" "$before" \
  "$(lines 'x["subject"] == "collectives"')"

check "LOG-2" "what is no level" status 2 tool log set events=loud
check "LOG-2" "what is no subject" status 2 tool log set event=debug
check_match "LOG-2" "is told in words" 'there are daemon, server' \
  "$(tool log set event=debug 2>&1)"
check "" "the daemon ends" stop_trouped
check "LOG-1" "a format that there is not" bash -c '! trouped --log-format xml'

# -- the journal ---------------------------------------------------------------

cat >listen.py <<'END'
# Stands for the journal: writes what comes to the file "entries".
import os, socket
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.bind("/run/systemd/journal/socket")
with open("entries", "wb", buffering=0) as entries:
    os.close(os.open("listening", os.O_CREAT | os.O_WRONLY, 0o600))
    while True:
        entries.write(journal.recv(65536) + b"\n")
END
cat >with_journal.sh <<'END'
# usage: with_journal.sh COMMAND...: where the node has a journal.
mount -t tmpfs none /run && mkdir -p /run/systemd/journal || exit 1
/usr/bin/python3 listen.py &
listener=$!
until [ -e listening ]; do sleep 0.02; done
"$@" &
daemon=$!
until troupe net --dvm "pid:$daemon" >/dev/null 2>&1; do sleep 0.1; done
until grep -q connected entries; do sleep 0.1; done
kill "$daemon"
wait "$daemon"
kill "$listener"
END
# entries COMMAND...: a daemon writes to the journal, and not to standard error.
entries() {
  rm -f entries listening
  within "$((30 * slow))" unshare -m bash with_journal.sh "$@" >out 2>err || {
    cat out err
    return 1
  }
  cat err
  [ ! -s err ]
}
# A daemon whose standard error is the journal, as in a unit.
cat >as_unit.sh <<'END'
exec 2>err
JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)
export JOURNAL_STREAM
exec trouped -v
END
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /run 2>/dev/null; then
  check "LOG-1" "a daemon writes to the journal" entries trouped -v \
    --log-format journald
  check_match "LOG-1" "with its name, and what a line is about" \
    'SYSLOG_IDENTIFIER=troupe.*TROUPE_SUBJECT=server' "$(tr '\n' ' ' <entries)"
  check "LOG-1" "and by itself where standard error leads there" \
    entries bash as_unit.sh
else
  skip "LOG-1" "a daemon writes to the journal" "it takes root and a file system to mount"
fi
if [ ! -e /run/systemd/journal/socket ]; then
  start_trouped --log-format journald
  check_match "LOG-1" "without a journal it says so" \
    'warning: there is no journal at /' "$(cat "$TROUPE_WORK/trouped.log")"
  check "" "this daemon ends, too" stop_trouped
else
  skip "LOG-1" "without a journal it says so" "there is one"
fi
clean "" "nothing is left"
finish
