# Jobs that stop for a debugger: in PMIx_Init, and where their program has a place
# for it. Clients and debuggers have our library or Debian's.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

compile_with_ours() {
  "${TROUPE_CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -pthread \
    -I"$TROUPE_SOURCE/c_api/include" -o ours "$programs/debugger.c" \
    -L"$TROUPE_LIB" -lpmix -Wl,-rpath,"$TROUPE_LIB" \
    ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
}
check "SPW-3" "the program builds with our headers" compile_with_ours
check "SPW-3" "the program builds with Debian's headers" \
  compile_pmix "$programs/debugger.c" theirs

# stops DEBUGGER PROCESSES PROGRAM PLACES [RANK]
stops() {
  local debugger=$1
  shift
  rm -f passed.*
  within $((90 * slow)) "$debugger" "$trouped_uri" "$@"
}

# none_passed: no process has come out of PMIx_Init.
none_passed() { ! ls passed.* 2>/dev/null; }

# -- a debugger has it started ---------------------------------------------------

start_trouped
for debugger in ./ours ./theirs; do
  for program in ./ours ./theirs; do
    check "SPW-3" "all stop in PMIx_Init, $program under $debugger" \
      stops $debugger 3 $program init
    check "SPW-3" "all stop where they like, $program under $debugger" \
      stops $debugger 3 $program app
    check "SPW-3" "one after the other, $program under $debugger" \
      stops $debugger 2 $program init,app
  done
done
for program in ./ours ./theirs; do
  check "SPW-4" "daemons beside the processes release them, $program" \
    stops ./ours 3 $program init,beside
done
check "SPW-3" "one rank stops in PMIx_Init, the others pass" \
  stops ./ours 3 ./ours init 1
check "SPW-3" "and where it likes" stops ./ours 3 ./theirs app 2
stop_trouped

# -- a launcher has it started ---------------------------------------------------

# processes PROGRAM [ARGUMENT]: what troupe ps says of the launcher's, for Python.
processes() {
  within 20 troupe ps --dvm "pid:$launcher" --json \
    | /usr/bin/python3 -c 'import json, sys
found = json.load(sys.stdin)["processes"]
'"$1" "${@:2}"
}

# all_wait COUNT: all are in PMIx_Init, where they are connected.
all_wait() {
  processes 'sys.exit(len(found) != int(sys.argv[1])
         or not all(x["connected"] for x in found))' "$1"
}

the_job() { processes 'print(found[0]["nspace"])'; }

for program in ./ours ./theirs; do
  rm -f passed.*
  troupe run --stop-in-init --oversubscribe -n 2 $program waits \
    >run.out 2>&1 </dev/null &
  launcher=$!
  check "SPW-3" "processes of troupe run come into PMIx_Init, $program" \
    eventually 20 all_wait 2
  check "SPW-3" "and do not pass it" none_passed
  check "SPW-3" "until troupe events send releases them" \
    within 20 troupe events send DEBUGGER_RELEASE --to "$(the_job)" \
    --non-default --dvm "pid:$launcher"
  check "SPW-3" "then they end" wait $launcher
  check_equal "SPW-3" "and have done their work" "passed.0 passed.1" \
    "$(ls passed.* | xargs)"
done
rm -f passed.*
check "SPW-3" "--rtos says it, too; who does not call PMIx_Init is not held up" \
  job --rtos stop-in-init,recoverable -n 2 true
check_match "SPW-3" "who waits is not started again" "PMIX_MAX_RESTARTS" \
  "$(job --stop-in-init --max-restarts 1 -n 1 true 2>&1)"
check_match "SPW-3" "stopping on exec is refused with what helps" "stop-in-init" \
  "$(job --stop-on-exec -n 1 true 2>&1)"
check "SPW-3" "--stop-in-app leaves programs alone that have no place for it" \
  job --stop-in-app -n 2 true
clean "SPW-3" "nothing is left"
finish
