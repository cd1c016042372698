# The command line of `troupe run`, what it prints, and its exit status.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

build dies
rank_env='echo "$PMIX_RANK"'

# count REGEX TEXT: lines that match.
count() {
  grep -Ec -- "$1" <<<"$2"
}

# -- F5.1, F5.2: programs and processes ----------------------------------------

check_equal "F5.2" "-n starts so many processes" "0 1 2" \
  "$(job -n 3 sh -c "$rank_env" | sort | tr '\n' ' ' | sed 's/ $//')"
check_equal "F5.2" "--np is the same" "4" \
  "$(job --np 4 sh -c "$rank_env" | wc -l)"
check_equal "F5.2" "without a number there is one per slot" "$(nproc)" \
  "$(within 20 troupe run sh -c "$rank_env" | wc -l)"
check_equal "F5.1" "segments are one job with ranks in their order" \
  "0:a 1:a 2:b " \
  "$(job -n 2 sh -c 'echo "$PMIX_RANK:a"' : -n 1 sh -c 'echo "$PMIX_RANK:b"' \
    | sort | tr '\n' ' ')"
check_equal "F5.1" "a segment has its own directory and variables" \
  "/ one|/usr two|" \
  "$(job -n 1 --wdir / -x V=one sh -c 'echo "$PWD $V"' \
    : -n 1 --wdir /usr -x V=two sh -c 'echo "$PWD $V"' | sort | tr '\n' '|')"
check_equal "F5.1" "the program's own options are left alone" "-n -x --json : " \
  "$(job -n 1 sh -c 'printf "%s " "$@"' sh -n -x --json '\:' | sed 's/\\//')"
check "F5.2" "no program is an error" status 2 troupe run -n 2
check "F5.2" "an unknown option is an error" status 2 troupe run --nonsense true
check "F5.2" "no processes are an error" status 2 troupe run -n 0 true
check "F5.2" "a number that is none is an error" status 2 troupe run -n two true

# -- F5.5, F5.6: environment and directory -------------------------------------

check_equal "F5.5" "-x sets a variable" "a b=c" \
  "$(job -n 1 -x 'V=a b=c' printenv V)"
check_equal "F5.5" "-x hands a variable on" "mine" \
  "$(V=mine job -n 1 -x V printenv V)"
check_equal "F5.5" "-x may be repeated" "1 2" \
  "$(job -n 1 -x V=1 -x W=2 sh -c 'echo $V $W')"
check "F5.5" "-x of a variable that does not exist is an error" \
  status 2 troupe run -x THERE_IS_NO_SUCH_VARIABLE true
check_equal "F5.6" "--wdir is where the program starts" "/usr/bin" \
  "$(job -n 1 --wdir /usr/bin pwd)"
check_equal "F5.6" "without it that is the launcher's directory" "$PWD" \
  "$(job -n 1 pwd)"
check "F5.6" "a directory that is not there is an error" \
  sh -c '! troupe run -n 1 --wdir /no/such/directory true'

# -- F5.7: time-out ------------------------------------------------------------

start=$SECONDS
check "F5.7" "--timeout ends the job with status 124" \
  status 124 job -n 2 --timeout 1 sleep 60
check "F5.7" "in time" test $((SECONDS - start)) -lt $((5 * slow))
check "F5.7" "also when the processes do not listen" \
  status 124 job -n 2 --timeout 1 sh -c 'trap "" TERM; while :; do sleep 60; done'
check "F5.7" "a job that is faster is not touched" \
  status 0 job -n 1 --timeout 20 true
check_match "F5.7" "the reason is told" 'troupe: .*time' \
  "$(job -n 1 --timeout 1 sleep 60 2>&1)"

# -- F5.8, F5.9: labels and time stamps ----------------------------------------

check_equal "F5.8" "--label puts the rank in front" "0: a|0: b|1: a|1: b|" \
  "$(job -n 2 --label sh -c 'echo a; echo b' | sort | tr '\n' '|')"
check_equal "F5.8" "-l too, also on standard error and without a newline" \
  "0: x" "$(job -n 1 -l sh -c 'printf x >&2' 2>&1)"
check_match "F5.9" "--timestamp puts the time in front" \
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+[+-][0-9:]+ x$' \
  "$(job -n 1 --timestamp echo x)"
check_match "F5.8 F5.9" "both at once" '^[0-9]{4}-[^ ]* 0: x$' \
  "$(job -n 1 --timestamp --label echo x)"
check_equal "F5.8" "streams stay apart" "out" \
  "$(job -n 1 sh -c 'echo out; echo err >&2' 2>/dev/null)"

# -- F5.10: standard input -----------------------------------------------------

stdin_of() {
  job -n 3 "$@" --label sh -c 'echo "$(wc -c)"' | sort | tr '\n' '|'
}
head -c 100000 /dev/zero >input
check_equal "F5.10" "rank 0 gets a pipe by default" "0: 100000|1: 0|2: 0|" \
  "$(cat input | stdin_of)"
check_equal "F5.10" "--stdin names a rank" "0: 0|1: 0|2: 100000|" \
  "$(cat input | stdin_of --stdin 2)"
check_equal "F5.10" "--stdin all gives it to everybody" \
  "0: 100000|1: 100000|2: 100000|" "$(cat input | stdin_of --stdin all)"
check_equal "F5.10" "--stdin none to nobody" "0: 0|1: 0|2: 0|" \
  "$(cat input | stdin_of --stdin none)"
check_equal "F5.10" "a file" "0: 100000|1: 0|2: 0|" "$(stdin_of <input)"
check_equal "F5.10" "a file for everybody" "0: 100000|1: 100000|2: 100000|" \
  "$(stdin_of --stdin all <input)"
check_equal "F5.10" "/dev/null" "0: 0|1: 0|2: 0|" "$(stdin_of </dev/null)"
check_equal "F5.10" "a closed descriptor" "0: 0|1: 0|2: 0|" "$(stdin_of <&-)"
check "F5.10" "a rank that does not exist is an error" \
  sh -c '! troupe run --oversubscribe -n 2 --stdin 2 true'
check "F5.10" "a job that does not read its input ends" \
  sh -c 'head -c 5000000 /dev/zero | timeout 20 troupe run -n 1 true'
check_equal "F5.10" "input arrives while its writer goes on" "first" \
  "$({ echo first; sleep 20; } | job -n 1 sh -c 'read -r x; echo "$x"' \
    | { read -r x; echo "$x"; })"

# -- F5.11, F5.12: slots, maps and bindings ------------------------------------

many=$(($(nproc) + 1))
check "F5.11" "more processes than slots are refused" \
  sh -c "! troupe run -n $many true"
check_match "F5.11" "with the way out" 'oversubscribe' \
  "$(troupe run -n "$many" true 2>&1)"
check "F5.11" "unless --oversubscribe is given" \
  status 0 within 20 troupe run --oversubscribe -n "$many" true

display=$(job -n 2 --map-by core --bind-to core --display map,bind true 2>&1)
check_match "F5.12 F5.3 F5.4" "--display names policies" \
  'mapped by core, bound to core' "$display"
check_equal "F5.12" "--display has a line per rank" "2" \
  "$(count 'rank [01]:' "$display")"
check_match "F5.12" "--display bind shows processors" 'rank 0: .*cpus [0-9]' \
  "$display"
check "F5.12" "an unknown display is an error" \
  status 2 troupe run --display nonsense true

allowed() {
  job -n 1 "$@" sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
}
everything=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
check_equal "F5.4" "--bind-to none" "$everything" "$(allowed --bind-to none)"
for place in hwthread core numa package; do
  check_match "F5.3 F5.4" "--map-by and --bind-to $place" '^[0-9]+([,-][0-9]+)*$' \
    "$(allowed --map-by "$place" --bind-to "$place")"
done
check_match "F5.4" "a thread is one processor" '^[0-9]+$' \
  "$(allowed --bind-to hwthread)"
check "F5.3" "an unknown policy is an error" \
  sh -c '! troupe run --map-by nonsense true'
check "F5.4" "an unknown binding is an error" \
  sh -c '! troupe run --bind-to nonsense true'

# -- F5.13: JSON ---------------------------------------------------------------

cat >check_json.py <<'END'
import base64, json, sys

lines = [json.loads(x) for x in sys.stdin]
kinds = [x["type"] for x in lines]
assert kinds[0] == "job_mapped" and len(lines[0]["procs"]) == 2, kinds
assert kinds.count("job_ended") == 1, kinds
output = {0: b"", 1: b""}
for x in lines:
    if x["type"] == "output":
        assert x["stream"] == "stdout", x
        output[x["rank"]] += (base64.b64decode(x["data_base64"])
                              if "data_base64" in x else x["data"].encode())
assert output[0] == output[1] == b'a"\\\n\x1b[1m\xff\nlast', output
ended = [x for x in lines if x["type"] == "job_ended"][0]
assert ended["exit_status"] == 3, ended
END
job -n 2 --json --rtos recoverable sh -c 'printf "a\"\\\\\n\033[1m\377\nlast"; exit 3' >json.txt
check "F5.13 X31" "--json: every line is JSON, whatever a process prints" \
  sh -c '/usr/bin/python3 check_json.py <json.txt'
check "F5.13" "--json: maps are JSON too" sh -c \
  'troupe run -n 1 --json --display map,bind,summary true 2>&1 |
    /usr/bin/python3 -c "import json, sys; [json.loads(x) for x in sys.stdin]"'

# -- F5.14 - F5.18: how a job ends ---------------------------------------------

check "F5.15" "status 0 if all is well" status 0 job -n 3 true
check "F5.15" "the status of the worst process" \
  status 5 job -n 3 --rtos recoverable sh -c 'exit $((PMIX_RANK * 2 + 1))'
check "F5.15" "of the only one that fails" \
  status 7 job -n 3 sh -c 'test "$PMIX_RANK" != 1 || exit 7'
check "F5.16" "128 and the signal" status 139 job -n 2 sh -c 'kill -SEGV $$'
check "F5.16" "128 and the signal of one" \
  status 137 job -n 3 sh -c 'test "$PMIX_RANK" != 2 || kill -9 $$; sleep 20'
check "F5.17" "127 for a program that is not there" \
  status 127 job -n 2 /no/such/program
check "F5.17" "127 for a program that is not in PATH" \
  status 127 job -n 1 there-is-no-such-program
check "F5.17" "126 for a file that is no program" status 126 job -n 2 ./json.txt
check "F5.17" "126 for a directory" status 126 job -n 1 /usr
check "F5.17" "127 when only the second segment is not there" \
  status 127 job -n 1 sleep 20 : -n 1 /no/such/program

failure() {
  job "$@" 2>&1 >/dev/null </dev/null
}
text=$(failure -n 3 sh -c 'test "$PMIX_RANK" != 1 || exit 7; sleep 20')
check_match "DIR-6 F5.18" "one line says which rank failed first and why" \
  "^troupe: rank 1 \(sh, pid [0-9]+ on $(hostname)\) exited with status 7\$" "$text"
check_equal "F5.18" "and nothing else" "1" "$(wc -l <<<"$text")"
text=$(failure -n 3 sh -c 'test "$PMIX_RANK" != 2 || kill -SEGV $$; sleep 20')
check_match "F5.18" "or by which signal" \
  '^troupe: rank 2 \(sh, pid [0-9]+ on [^ ]+\) was killed by signal 11 \(SIGSEGV' "$text"
check_equal "F5.18" "and nothing else" "1" "$(wc -l <<<"$text")"
check_equal "F5.18" "nothing is said about a job that is well" "" \
  "$(failure -n 3 true)"
check_match "F5.18" "the program that is not there is named" \
  '^troupe: .*/no/such/program' "$(failure -n 1 /no/such/program)"

start=$SECONDS
job -n 3 sh -c 'test "$PMIX_RANK" = 0 && exit 1; sleep 60' >/dev/null 2>&1
check "F5.14" "without it the first failure ends the job" \
  test $((SECONDS - start)) -lt $((10 * slow))
check_equal "F5.14" "--rtos recoverable: the others go on" "1|2|" \
  "$(job -n 3 --rtos recoverable sh -c \
    'test "$PMIX_RANK" != 0 || kill -9 $$; sleep 0.3; echo "$PMIX_RANK"' \
    2>/dev/null | sort | tr '\n' '|')"
check "F5.14" "an unknown option is an error" \
  status 2 troupe run --rtos nonsense true

# -- F5.19, F5.20: interrupts --------------------------------------------------

# interrupt SIGNAL STATUS CASE: a job that waits is told to end; sets `took`.
interrupt() {
  local launcher outcome=0 start=$SECONDS
  : >"$TROUPE_WORK/there" # What is waited for is what these say.
  troupe run --oversubscribe -n 4 ./dies "$3" >"$TROUPE_WORK/there" 2>&1 \
    </dev/null &
  launcher=$!
  eventually 20 sh -c \
    "grep -c 'is there' $TROUPE_WORK/there | grep -qx 4" || return 1
  # The shell starts jobs in the background with SIGINT ignored.
  kill -"$1" "$launcher"
  wait "$launcher" || outcome=$?
  echo "status $outcome"
  [ "$outcome" -eq "$2" ] && [ $((SECONDS - start)) -lt $((15 * slow)) ]
}

check "F5.19" "SIGINT ends the whole job with status 130" interrupt INT 130 stays
clean "F5.19 F5.20" "no process, socket or file is left of it"
check "F5.19" "SIGTERM ends the whole job with status 143" \
  interrupt TERM 143 stays
check "F5.19" "processes that take no notice are killed" \
  interrupt INT 130 stubborn
clean "F5.19 F5.20" "nothing is left of them either"
check "F5.20" "what processes leave running ends with the job" \
  job -n 2 ./dies family
clean "F5.20" "no grandchild is left"

# A launcher that is killed cannot clean up; the next one does it.
killed_launcher() {
  troupe run --oversubscribe -n 2 ./dies stays >"$TROUPE_WORK/there" 2>&1 \
    </dev/null &
  local launcher=$!
  eventually 20 sh -c \
    "grep -c 'is there' $TROUPE_WORK/there | grep -qx 2" || return 1
  kill -KILL "$launcher"
  wait "$launcher"
  marked_processes | xargs -r kill -KILL
  troupe run -n 1 true
}
check "F4.13" "a job removes the files of a launcher that was killed" \
  killed_launcher
clean "F4.13 F5.20" "nothing is left then"

# -- nested environments -------------------------------------------------------

check_equal "F5.5" "a job inside a job is a job of its own" "0 1 0 1 " \
  "$(job -n 2 troupe run --oversubscribe -n 2 sh -c "$rank_env" | sort -n \
    | tr '\n' ' ' | sed 's/0 0 1 1/0 1 0 1/')"
check "F5.5" "a PMIx job inside a PMIx job" \
  job -n 2 troupe run --oversubscribe -n 2 ./dies nobody
if command -v mpirun >/dev/null; then
  check "F5.5" "a job inside mpirun" within 60 mpirun --allow-run-as-root \
    --oversubscribe -n 2 troupe run --oversubscribe -n 2 \
    ./dies nobody
else
  skip "F5.5" "a job inside mpirun" "there is no mpirun"
fi
check "F5.5" "hostile variables do not reach a client" \
  env PMIX_MCA_gds=ds21 PMIX_MCA_psec=none PMIX_SERVER_URI=nonsense \
  timeout 20 troupe run -n 1 ./dies nobody

clean "F5.20" "nothing is left at the end"
finish
