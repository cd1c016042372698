# What `--json` prints of every command, compared with docs/json.md.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cd "$TROUPE_WORK" || exit 1
build group_stays fence_waits
doc=$TROUPE_SOURCE/docs/json.md
cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh

# as_told SECTION FILE [TYPE]: FILE is as the page says; see json_schema.py.
as_told() {
  echo "$1" >>told
  /usr/bin/python3 "$programs/json_schema.py" "$doc" "$@" || { cat "$2"; return 1; }
}

# tool COMMAND...: a command that has to answer soon.
tool() { within "$((20 * slow))" troupe "$@" --dvm json </dev/null; }

# answers SECTION COMMAND...: what the command prints is one object of that kind.
answers() {
  local section=$1
  shift
  tool "$@" --json >answer || return 1
  as_told "$section" answer
}

# -- a job on this node --------------------------------------------------------

check "DIR-8" "run: a job on this node" \
  status 3 job -n 2 --json --timestamp --display map,bind,summary sh -c \
  'echo text; printf "\377\n"; exit 3'
cp output lines
for kind in job_mapped proc_changed job_ended summary; do
  check "DIR-8" "run: $kind" as_told "run $kind" lines "$kind"
done
check "DIR-8" "run: output" as_told output lines output
check "DIR-8" "run: each line has a type that the page has" \
  /usr/bin/python3 -c '
import json, sys
page = open(sys.argv[1], encoding="utf-8").read()
types = {json.loads(line)["type"] for line in open("lines", encoding="utf-8")}
assert len(types) == 5, types
assert all("| `type` | string | always | `%s` |" % x in page for x in types), types
' "$doc"
mkdir odd
: >"odd/troupe-$(id -u)"
TMPDIR=$PWD/odd troupe run --json true >quiet 2>log </dev/null
check "DIR-8" "run: a line of the log" as_told log log log
rm -rf odd

# -- a DVM ---------------------------------------------------------------------

troupe up --json --name json --host a:4,b:4 --remote-shell "$PWD/here.sh" >up.out \
  2>up.err </dev/null &
dvm_pid=$!
eventually 30 grep -q '"ready"' up.out || { failed "" "a DVM"; cat up.err; finish; }
check "MAN-5" "up: it is ready" as_told "up ready" up.out ready
within $((120 * slow)) troupe run --dvm json -n 4 ./group_stays stays >groups.out 2>&1 \
  </dev/null &
first=$!
within $((120 * slow)) troupe run --dvm json -n 2 --json --display map \
  --output "dir=$PWD/files,file-only,tail=64K" sh -c '
    i=0
    while [ $i -lt 30000 ]; do printf "%099d\n" $i; i=$((i + 1)); done
    : >"written.$PMIX_RANK"
    until [ -e end ]; do sleep 0.05; done' >second.out 2>&1 </dev/null &
second=$!
within $((120 * slow)) troupe run --dvm json -n 2 ./fence_waits 1 "$PWD/end" >third.out 2>&1 \
  </dev/null &
third=$!
eventually 60 test -e written.0 -a -e written.1
eventually 20 sh -c "troupe group list --dvm json | grep -q '^app.shown  *complete'"
nspace=$(troupe ps --dvm json | awk '$NF == "sh" { print $1; exit }')

for command in nodes jobs ps net top; do
  check "DIR-8" "$command" answers "$command" "$command"
done
eventually 20 sh -c "troupe jobs --waits --dvm json | grep -q ' fence '"
check "PAGE-10" "jobs --waits" answers "jobs --waits" jobs --waits
check "MAN-5" "monitor add" answers "monitor add" monitor add cpu_progress \
  --proc "$nspace:0" --interval 30
check "DIR-8" "monitor list" answers "monitor list" monitor list
number=$(/usr/bin/python3 -c '
import json
print(json.load(open("answer"))["monitors"][0]["troupe.monitor.number"])')
check "MAN-5" "monitor cancel" tool monitor cancel "$number"
check_equal "MAN-5" "which has no --json, prints nothing" "" "$(cat "$TROUPE_WORK/output")"
check "DIR-8" "io list" answers "io list" io list "$nspace"
check "DIR-8" "io offsets" answers "io list" io offsets "$nspace"
check "DIR-8" "group list" answers "group list" group list
check "DIR-8" "group show" answers "group list" group show app.shown
check "DIR-8" "ctl" answers ctl ctl signal CONT "$nspace" --id again
check "DIR-8" "ctl status" answers "ctl status" ctl status
check "DIR-8" "log show" answers "log show" log show
check "DIR-8" "log set" answers "log show" log set io=info
troupe page --dvm json --json >page.out 2>page.log </dev/null &
page=$!
eventually 20 test -s page.out
check "MAN-5" "page: where it is" as_told "page ready" page.out ready
kill -TERM "$page"
wait "$page"
shows_settings() { troupe config show --json >answer </dev/null && as_told "config show" answer; }
check "DIR-8" "config show" shows_settings
printf 'events.histroy = true\n' >settings.toml
finds_fault() {
  troupe config check settings.toml --json >answer </dev/null
  [ $? = 1 ] && as_told "config check" answer
}
check "MAN-5" "config check" finds_fault
for command in version "help errors"; do
  # shellcheck disable=SC2086
  troupe $command --json >answer </dev/null
  check "MAN-5" "$command" as_told "$command" answer
done
# A node that does not answer has findings, whatever is right elsewhere.
shows_findings() {
  within "$((60 * slow))" troupe doctor --json --host a,b --remote-shell /no/such/shell \
    >answer </dev/null
  [ $? = 1 ] && as_told doctor answer
}
check "DIR-8" "doctor" shows_findings
refused() {
  tool ctl kill no-such-job --json >answer
  [ $? = 1 ] && as_told ctl answer
}
check "DIR-8" "ctl, refused" refused

# Of an offset whose bytes are gone.
troupe attach --dvm json "$nspace:0" --offset 0 --json >gone 2>gone.log </dev/null &
reader=$!
# Up to the last line that is kept: no line is half written then.
eventually 20 grep -q '29999.*}$' gone
check "DIR-8" "attach: what is gone" as_told gap gone gap
check "DIR-8" "attach: output" as_told output gone output

troupe events watch --dvm json --json --count 1 -3055 >events 2>events.log \
  </dev/null &
watcher=$!
eventually 20 grep -q watching events
tool events send -3055 --message told --info my.key:int=5 --non-default \
  --affected "$nspace:0" >sent 2>&1
check_equal "MAN-5" "events send, which has no --json, prints nothing" "" "$(cat sent)"
ends_soon() { eventually 20 ended "$1"; }
check "DIR-8" "events watch ends" ends_soon "$watcher"
check "DIR-8" "events: the first line" as_told "events watching" events watching
check "DIR-8" "events: an event" as_told "events event" events event
check "DIR-8" "trace: the latest" answers "trace list" trace
latest=$(tool trace | awk '/^event:/ { print $1; exit }')
check "DIR-8" "trace" answers trace trace "$latest"
tool events list --json >events
check "DIR-8" "events: those that are kept" as_told "events event" events event

troupe group watch --dvm json --json --every 0.1 >changes 2>changes.log </dev/null &
watcher=$!
eventually 20 grep -q app.shown changes
touch call leave
eventually 20 sh -c '[ $(wc -l <changes) -gt 2 ]'
check "DIR-8" "group watch" as_told "group watch" changes any
kill -TERM "$watcher"

touch end go
check "DIR-8" "run --dvm: the job ends" ends_soon "$second"
check "DIR-8" "run --dvm: where it runs" as_told "run job_mapped" second.out job_mapped
check "DIR-8" "run --dvm: its end" as_told "run job_ended" second.out job_ended
ends_soon "$first"
ends_soon "$third"
wait "$reader" "$watcher" "$first" "$second" "$third"
for command in jobs ps; do
  check_equal "DIR-8" "$command: none" "[]" \
    "$(tool "$command" --json | /usr/bin/python3 -c '
import json, sys
x = json.load(sys.stdin)
assert x.pop("schema") == 1
print(*x.values())')"
done
check "DIR-8" "down" tool down
check_equal "MAN-5" "down, which has no --json, prints nothing" "" "$(cat "$TROUPE_WORK/output")"
wait "$dvm_pid"
check_equal "MAN-5" "nor does authority" "" "$(troupe authority --name json authority 2>&1)"

check_equal "DIR-8" "each section of the page was compared" \
  "$(/usr/bin/python3 "$programs/json_schema.py" "$doc" sections | sort)" \
  "$(sort -u told)"

rm -rf files
clean "DIR-8" "nothing is left"
finish
