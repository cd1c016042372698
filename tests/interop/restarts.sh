# Processes that are started again in their place, and the directives of
# PMIx_Spawn that are done or refused.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build restarts

# lines COUNT REGEX: so many lines of the output match.
lines() { [ "$(grep -Ecx -- "$2" "$TROUPE_WORK/job.out")" -eq "$1" ]; }

# gives STATUS OPTION... PROGRAM...: a job that ends with it. Its output stays.
gives() {
  local expected=$1 outcome=0
  shift
  job "$@" >"$TROUPE_WORK/job.out" 2>"$TROUPE_WORK/job.err" </dev/null || outcome=$?
  cat "$TROUPE_WORK/job.out" "$TROUPE_WORK/job.err"
  [ "$outcome" -eq "$expected" ]
}

# -- a process that fails ----------------------------------------------------

comes_back() {
  gives 0 -n 3 --max-restarts 2 ./restarts dies 2 && lines 1 'rank 1 lives 0' \
    && lines 1 'rank 1 lives 1' && lines 1 'rank 1 lives 2' \
    && lines 3 'rank [012] sees life 2'
}
check "RST-1" "who is killed twice comes back, and its output goes on" comes_back
check_equal "RST-1" "the user is told each time" "2" \
  "$(grep -c 'rank 1 was killed by signal 9.*; it is started again' "$TROUPE_WORK/job.err")"
check "RST-1" "its third failure ends the job" \
  gives 137 -n 3 --max-restarts 2 ./restarts dies 3
check_equal "RST-1" "after three lives" "3" \
  "$(grep -c 'rank 1 lives' "$TROUPE_WORK/job.out")"
check "RST-1" "without the option its first does" \
  gives 137 -n 3 ./restarts dies 1
check "RST-1" "a fence waits for who comes back, though it had joined" \
  gives 0 -n 3 --max-restarts 1 ./restarts in_fence
check "RST-1" "all are done, one of them in its second life" \
  lines 1 'rank 1 is done 1'

cat >counts.sh <<'END'
#!/bin/sh
# Fails in its first two lives, and leaves somebody who holds its output.
sleep 60 &
echo "life ${TROUPE_RESTARTS:-0} of $PMIX_RANK"
[ "${TROUPE_RESTARTS:-0}" -ge 2 ] || exit 7
END
chmod +x counts.sh
counts() {
  gives 0 -n 2 --max-restarts 2 ./counts.sh && lines 2 'life 0 of [01]' \
    && lines 2 'life 1 of [01]' && lines 2 'life 2 of [01]'
}
check "RST-1" "programs without PMIx are started again, too" counts
check "RST-1" "a program that exits well is not" \
  gives 0 -n 1 --max-restarts 5 sh -c 'echo once'
check "RST-1" "and says its line once" lines 1 once
check "RST-1" "a job that is timed out while one waits for its next life ends" \
  gives 124 -n 1 --max-restarts 4000000000 --timeout 2 sh -c 'exit 1'
clean "RST-1" "nothing is left of any life"

# -- on request ----------------------------------------------------------------

troupe run --max-restarts 0 -n 3 --oversubscribe ./restarts stays \
  >stays.out 2>stays.err </dev/null &
job=$!
said() { grep -qx -- "$1" stays.out; }
all_say() { said "rank 0 lives $1" && said "rank 1 lives $1" && said "rank 2 lives $1"; }
check "RST-2" "a job whose processes may be restarted" eventually 20 all_say 0
job_name() {
  within $((20 * slow)) troupe jobs --json --dvm "pid:$job" \
    | grep -o '"nspace": *"[^"]*"' | head -n 1 | sed 's/.*"\([^"]*\)"$/\1/'
}
ctl() { within $((20 * slow)) troupe ctl "$@" --dvm "pid:$job"; }
name=$(job_name)
check "RST-2" "a rank is restarted in its place" ctl restart - "$name:1" --in-place
check "RST-2" "it lives again under its name" eventually 20 said 'rank 1 lives 1'
check "RST-2" "and the others as before" \
  test "$(grep -c '^rank [02]' stays.out)" -eq 2
check "RST-2" "and again with all the others" ctl restart - "$name" --in-place
check "RST-2" "each counts its own lives" eventually 20 said 'rank 1 lives 2'
others_live() { said 'rank 0 lives 1' && said 'rank 2 lives 1'; }
check "RST-2" "and the others theirs" eventually 20 others_live
check "RST-2" "a checkpoint that is none is refused" status 1 \
  ctl restart nothing "$name" --in-place
check_match "RST-2" "and named" 'no checkpoint "nothing"' \
  "$(cat "$TROUPE_WORK/output")"
check "RST-2" "a request without targets is a mistake" status 2 \
  ctl restart - --in-place
kill -9 "$(pgrep -P "$job" -f 'restarts stays' | head -n 1)"
wait "$job"
check_equal "RST-2" "a failure of its own still ends the job" 137 $?
clean "RST-2" "nothing is left of it"

troupe run -n 1 ./restarts stays >fixed.out 2>&1 </dev/null &
job=$!
check "" "a job that did not ask for it" \
  eventually 20 grep -qx 'rank 0 lives 0' fixed.out
name=$(job_name)
check "RST-2" "its processes stay as they are" status 1 \
  ctl restart - "$name" --in-place
check_match "RST-2" "with the remedy" 'start it with --max-restarts' \
  "$(cat "$TROUPE_WORK/output")"
touch stop
wait "$job"
check_equal "RST-2" "and end well" 0 $?

# -- directives of PMIx_Spawn ----------------------------------------------------

check "SPW-1 SPW-2" "directives are done, or refused before anything starts" \
  gives 0 -n 1 ./restarts directives
check_equal "SPW-1" "nothing was started for those that were refused" "" \
  "$(ls started.* 2>/dev/null)"
check_equal "SPW-1" "the map is shown of the job that wants it" 1 \
  "$(grep -c ': 1 process on' "$TROUPE_WORK/job.err")"
for word in slot:PE=x slot:SPIN ppr:2:node:PE core:overload-allowed; do
  check "SPW-2" "--map-by $word is a mistake" status 2 \
    troupe run --map-by "$word" -n 1 touch never
done
check "SPW-2" "--bind-to with a modifier that is none, too" status 2 \
  troupe run --bind-to core:allow-overload -n 1 touch never
check "SPW-2" "and --rank-by with any" status 2 \
  troupe run --rank-by slot:PE=2 -n 1 touch never
check "SPW-2" "nothing was started" test ! -e never
finish
