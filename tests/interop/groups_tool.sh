# `troupe group`: which groups there are, who is in them, and what becomes of them.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export PATH=$TROUPE_BIN:$PATH
cd "$TROUPE_WORK" || exit 1
build group_stays

timeout --kill-after=5 "$((60 * slow))" troupe run --oversubscribe -n 4 \
  ./group_stays stays >out 2>err &
job_pid=$!
eventually 10 pgrep -P "$job_pid" -x troupe
launcher=pid:$(pgrep -P "$job_pid" -x troupe)

# group COMMAND...: of the launcher's groups.
group() { troupe group "$@" --dvm "$launcher"; }

# shows REGEX COMMAND...: what COMMAND prints has a line that matches, soon.
shows() {
  local regex=$1
  shift
  eventually 10 sh -c '"$@" 2>/dev/null | grep -Eq -- "$0"' "$regex" "$@" \
    || { "$@"; return 1; }
}
list() { shows "$1" troupe group list --dvm "$launcher"; }
show() { shows "$2" troupe group show "$1" --dvm "$launcher"; }

# watched REGEX: the watch has printed a line that matches, soon.
watched() { eventually 10 grep -Eq -- "$1" watch || { cat watch; return 1; }; }

check "G3 G17" "a group is listed with its context and leader" \
  list '^app\.shown +complete +3 +[1-9][0-9]* +[^ ]+:1 +-$'
nspace=$(troupe jobs --dvm "$launcher" | awk 'NR == 2 { print $1 }')
troupe group watch app.shown --every 0.1 --dvm "$launcher" >watch 2>&1 &
watch_pid=$!
troupe group watch --json --every 0.1 --dvm "$launcher" >watch.json 2>&1 &
all_pid=$!
check "G4 130" "members are shown by their ranks" eval '
  show app.shown "^ +0 +$nspace:3 +- +yes$" &&
  show app.shown "^ +1 +$nspace:1 +yes +yes$" &&
  show app.shown "^ +2 +$nspace:0 +- +yes$"'
check "G12" "whom a construction waits for" \
  list "^app\.late +constructing +2 +- +- +$nspace:2$"
check "G3" "JSON has it, too" eval '
  group show app.late --json >late.json && /usr/bin/python3 -c "
import json, sys
groups = json.load(open(\"late.json\"))[\"groups\"]
assert len(groups) == 1 and groups[0][\"id\"] == \"app.late\", groups
assert groups[0][\"missing\"] == [sys.argv[1] + \":2\"], groups
assert groups[0][\"phase\"] == \"constructing\", groups" "$nspace"'
eventually 10 grep -q app.late watch.json # Before it is over.
touch call
check "G3 G55" "a group that has ended is listed no more" eval '
  eventually 10 sh -c "! troupe group show app.late --dvm $launcher"'
check "G52 167" "a watch tells who leaves" eval '
  watched "app.shown: complete, 3 members, context" && touch leave &&
  watched "gone: $nspace:1, 2 members"'
check "G4" "those behind it close ranks" show app.shown "^ +1 +$nspace:0 "
touch end
check "G55" "a watch tells that a group is over" watched 'app.shown: over$'
eventually 10 sh -c "! kill -0 $watch_pid"
wait "$watch_pid"
check_equal "G55" "... and ends with it" "$?" 0
touch go
wait "$job_pid"
check_equal "G3" "the job has not noticed" "$?" 0
eventually 10 sh -c "! kill -0 $all_pid"
wait "$all_pid"
check_equal "G3" "a watch of all ends with its launcher" "$?" 1
check "G3" "each line of its JSON is an object" /usr/bin/python3 -c '
import json
seen = [json.loads(x) for x in open("watch.json") if x.startswith("{")]
assert {x["id"] for x in seen} >= {"app.shown", "app.late"}, seen
assert all(x["time"] > 1e9 and x["change"] for x in seen), seen'

# -- words ---------------------------------------------------------------------

start_trouped
# in_words STATUS REGEX ARGUMENT...: refused with STATUS and words that match.
in_words() {
  local wanted=$1 regex=$2 said actual=0
  shift 2
  said=$(troupe group "$@" 2>&1) || actual=$?
  [ "$actual" -eq "$wanted" ] && grep -Eq -- "$regex" <<<"$said" \
    || { echo "$actual: $said"; return 1; }
}
check_equal "G3" "no groups are an empty table" \
  "$(troupe group list --dvm "pid:$trouped_pid")" \
  "GROUP  PHASE  MEMBERS  CONTEXT  LEADERS  WAITS FOR"
check_equal "G3" "... and an empty array" \
  "$(troupe group list --json --dvm "pid:$trouped_pid" | tr -d ' \n')" \
  '{"groups":[],"schema":1}'
check "G3" "a group that there is not" \
  in_words 1 'no group app.nobody' show app.nobody --dvm "pid:$trouped_pid"
check "G3" "a mistake in the command line" in_words 2 'every' watch --every 0
check "G3" "help" in_words 0 'list' --help
stop_trouped >/dev/null 2>&1
clean "G3" "nothing is left"
finish
