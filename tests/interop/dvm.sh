# A DVM of several daemons, all on this machine: the remote shell runs its
# command here, whatever the node is called.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
shell="--remote-shell $PWD/here.sh"
limit=60

# tool COMMAND...: a command that has to answer soon.
tool() {
  within "$((20 * slow))" troupe "$@"
}

# start_dvm NAME [OPTION]...: sets dvm_pid; its output is in $TROUPE_WORK/NAME.
start_dvm() {
  local name=$1
  shift
  : >"$TROUPE_WORK/$name" # What is waited for is what this one says.
  # shellcheck disable=SC2086
  troupe up --name "$name" $shell "$@" >"$TROUPE_WORK/$name" \
    2>"$TROUPE_WORK/$name.err" </dev/null &
  dvm_pid=$!
  eventually 30 grep -qx "DVM ready" "$TROUPE_WORK/$name" || {
    cat "$TROUPE_WORK/$name.err"
    return 1
  }
}

# ended PID: passes if the process is gone within the time.
ended() {
  eventually 20 sh -c "! kill -0 $1"
}

# -- up, nodes, down -----------------------------------------------------------

check "DVM-1" "up with two daemons says that it is ready" \
  start_dvm first --host a:2,b:3 --report-uri
check_match "DVM-1" "its URI is printed" '^first\.0;tcp4://' \
  "$(head -n 1 "$TROUPE_WORK/first")"
check_equal "DVM-1" "nodes: the root takes no processes if it is not listed" \
  "0 live 0|1 live 2|2 live 3" \
  "$(tool nodes --json | /usr/bin/python3 -c '
import json, sys
print("|".join("%d %s %d" % (x["rank"], x["state"], x["slots"])
               for x in json.load(sys.stdin)["nodes"]))')"
check_match "DVM-1" "nodes: columns for people" '^ +1  a  +live  +2  +0  ' \
  "$(tool nodes --dvm first)"
check_match "DVM-1" "net: a line for each lane" '^ +1  a .* yes ' "$(tool net)"
check_match "DVM-1" "net: of other nodes, too" '^node 2 \(b\), active' "$(tool net)"
check "LOAD-2" "net: gauges of all nodes, within their bounds" sh -c '
  troupe net --json | /usr/bin/python3 -c "
import json, sys
nodes = json.load(sys.stdin)[\"nodes\"]
assert [x[\"rank\"] for x in nodes] == [0, 1, 2], nodes
for node in nodes:
    names = [x[\"name\"] for x in node[\"gauges\"]]
    assert \"host.calls\" in names and \"server.sessions\" in names, names
    for x in node[\"gauges\"]:
        assert x[\"value\"] <= x.get(\"bound\", x[\"value\"]), x
"'
check_equal "DVM-1" "jobs: none" '{"jobs":[],"schema":1}' \
  "$(tool jobs --json | tr -d ' \n')"
check_equal "DVM-1" "ps: none" '{"processes":[],"schema":1}' \
  "$(tool ps --json | tr -d ' \n')"

# -- jobs in it ----------------------------------------------------------------

run() {
  within "$((limit * slow))" troupe run --dvm first "$@" </dev/null
}
check_equal "DVM-2" "a job gets all slots, and their nodes" \
  "a a b b b" "$(run -n 5 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
check_equal "DVM-2" "as many processes as slots if nobody says how many" \
  "5" "$(run --timeout 30 echo x | wc -l)"
check_equal "DVM-2" "one process per node" \
  "a b" "$(run --map-by node -n 2 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
check_equal "O15" "on the nodes that are chosen, by name" "b b" \
  "$(run --host b -n 2 sh -c 'echo $PMIX_HOSTNAME' | xargs)"
check_equal "O15" "and as many as are chosen" "a b b" \
  "$(run --host a:1,b:2 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
printf 'b slots=1\n' >choice
check_equal "O15" "by a hostfile" "b" \
  "$(run --hostfile choice sh -c 'echo $PMIX_HOSTNAME' | xargs)"
check_match "DVM-5" "a node that it does not have" 'node c is not in this DVM' \
  "$(run --host c -n 1 true 2>&1)"
check_match "F5.11" "too few slots are told in words" \
  '^troupe: 6 processes do not fit into 5 slots of a \(2\), b \(3\)' \
  "$(run -n 6 true 2>&1)"
check_match "F5.12" "the map names the node of each rank" \
  'rank 3: .*, node b' "$(run --display map -n 4 sleep 1 2>&1)"
check "DVM-2" "the exit status of a process elsewhere" \
  status 7 run -n 5 sh -c 'test $PMIX_RANK != 4 || exit 7'
check "DVM-2" "128 and the signal" status 137 run -n 4 sh -c 'kill -9 $$'
check_match "DIR-6" "the report names rank, program, process and node" \
  '^troupe: rank 4 \(sh, pid [0-9]+ on b\) exited with status 7$' \
  "$(run -n 5 sh -c 'test $PMIX_RANK != 4 || exit 7' 2>&1)"
check "DVM-2" "127 for a program that is not there" status 127 run -n 1 /no/such
check_equal "DVM-2" "standard input reaches a process of another node" "hello" \
  "$(echo hello | within $((limit * slow)) troupe run --dvm first -n 1 cat)"
check_equal "DVM-2" "a large output comes whole" "3000000" \
  "$(run -n 3 sh -c 'head -c 1000000 /dev/zero' | wc -c)"

if command -v mpicc >/dev/null; then
  build mpi_ring
  export OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1
  mpi() {
    run "$@" | grep -qx "size $2: hello right, ring right, allreduce right"
  }
  check "DVM-2" "Open MPI over two daemons: hello, ring, allreduce" mpi -n 5 ./mpi_ring
else
  skip "DVM-2" "Open MPI over two daemons" "there is no mpicc"
fi

# The first interrupt ends the job and leaves the DVM.
interrupted() {
  troupe run --dvm first -n 4 sleep 60 </dev/null &
  local pid=$! outcome=0
  eventually 20 sh -c 'troupe ps --json | grep -c running | grep -qx 4' \
    || return 1
  kill -INT "$pid"
  wait "$pid" || outcome=$?
  [ "$outcome" -eq 130 ]
}
check "DVM-2" "an interrupt ends the job with status 130" interrupted
check_equal "DVM-2" "and leaves the DVM" '{"jobs":[],"schema":1}' \
  "$(tool jobs --json | tr -d ' \n')"

# -- several DVMs --------------------------------------------------------------

first=$dvm_pid
check "DVM-3" "a second DVM beside it" start_dvm second --host c --daemonize
check_match "DVM-3" "which one is meant has to be said" 'several DVMs.*first, second' \
  "$(tool nodes 2>&1)"
check_match "DVM-3" "by name" ' c ' "$(tool nodes --dvm second)"
check_match "DVM-3" "by process" ' a ' "$(tool nodes --dvm "pid:$first")"
check_match "DVM-3" "by URI" ' a ' "$(tool nodes --dvm "$(head -n 1 "$TROUPE_WORK/first")")"
check_match "DVM-3" "a name is taken once" 'with the name first is up already' \
  "$(tool up --name first 2>&1)"
check_match "DVM-3" "a DVM that is not there" 'no DVM third.*first, second' \
  "$(tool nodes --dvm third 2>&1)"
check "DVM-3" "down ends the one that is meant" tool down --dvm second
check_match "DVM-3" "the other is still there" ' a ' "$(tool nodes)"
check "DVM-3" "down ends a DVM in which a job runs" sh -c '
  troupe run --dvm first -n 4 sleep 60 </dev/null & 
  until troupe ps | grep -q running; do sleep 0.1; done
  timeout 30 troupe down'
check "DVM-3" "its root ends" ended "$first"
check_match "DVM-3" "then there is none" 'you have no DVM' "$(tool nodes 2>&1)"
clean "DVM-4" "nothing is left of them"

# -- a temporary DVM -----------------------------------------------------------

# shellcheck disable=SC2086
once() {
  within "$((limit * slow))" troupe run $shell "$@" </dev/null
}
check_match "F5.12" "--display map names the node of each rank" \
  'rank 2: app 0, node b' "$(once --display map --host a:2,b:1 -n 3 true 2>&1)"
check_equal "DVM-4" "run with nodes: up, run and down in one" "a a b" \
  "$(once --host a:2,b:1 -n 3 sh -c 'echo $PMIX_HOSTNAME' | sort | xargs)"
check_match "DIR-6" "the report names rank, program, process and node" \
  '^troupe: rank 1 \(sh, pid [0-9]+ on b\) was killed by signal 11 \(SIGSEGV' \
  "$(once --host a,b -n 2 sh -c 'test $PMIX_RANK = 0 || kill -SEGV $$' 2>&1)"
check "DVM-4" "the exit status is the job's" status 5 once --host a,b -n 2 \
  sh -c 'exit 5'
printf 'a slots=2\nb slots=2 # comment\n' >hosts
check_equal "DVM-4" "a hostfile" "4" "$(once --hostfile hosts echo x | wc -l)"
clean "DVM-4" "nothing is left of it"

# The root is killed: its daemons end by themselves, in bounded time.
orphans() {
  start_dvm orphaned --host a,b || return 1
  kill -KILL "$dvm_pid"
  wait "$dvm_pid"
  eventually 60 no_daemons
}
no_daemons() {
  local pid
  for pid in $(marked_processes); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != trouped ] || return 1
  done
}
check "L8" "daemons without their root end" orphans
find "$TMPDIR" -mindepth 2 -delete

check_equal "DVM-4" "in plain text, if asked for, on loopback" "a b" \
  "$(once --insecure --host a:1,b:1 -n 2 sh -c 'echo $PMIX_HOSTNAME' |
    sort | xargs)"

# -- bad input -----------------------------------------------------------------

# refuses STATUS REGEX COMMAND...: one line, that status, nothing left.
refuses() {
  local expected=$1 regex=$2 outcome=0
  shift 2
  within "$((30 * slow))" "$@" >"$TROUPE_WORK/said" 2>&1 </dev/null || outcome=$?
  cat "$TROUPE_WORK/said"
  [ "$outcome" -eq "$expected" ] || { echo "status $outcome"; return 1; }
  [ "$(wc -l <"$TROUPE_WORK/said")" -eq 1 ] || { echo "not one line"; return 1; }
  grep -Eq "$regex" "$TROUPE_WORK/said"
}

cat >sometimes.sh <<'END'
#!/bin/sh
host=$1
shift
[ "$host" != bad ] || { echo "ssh: connect to host bad: No route to host" >&2; exit 255; }
[ "$host" != mute ] || exec sleep 60
[ "$host" != none ] || exec /no/such/trouped
exec "$@"
END
chmod +x sometimes.sh
some="--remote-shell $PWD/sometimes.sh"
# shellcheck disable=SC2086
{
check "DVM-5" "an unreachable host is named with what its shell said" \
  refuses 3 'on bad: ssh: connect to host bad: No route to host; check' \
  troupe up $some --host a,bad,b
clean "DVM-5" "and nothing is left on the others"
check "DVM-5" "a host that does not answer" refuses 3 'on mute: no answer' \
  troupe up $some --join-timeout 8 --host a,mute
clean "DVM-5" "and nothing is left on the others"
check "DVM-5" "a daemon that is not installed" refuses 3 'on none: .*--launch-agent' \
  troupe run $some --host a,none -n 2 true
clean "DVM-5" "and nothing is left on the others"
}
check "X48" "an error in a list of hosts" refuses 1 "^troupe up: --host" \
  troupe up --host 'a,b[3-'
printf 'a slot=3\n' >hosts
check "X48" "an error in a hostfile names its line" \
  refuses 2 "hosts, line 1, column 3" troupe run --hostfile hosts true
check "X48" "a hostfile that is not there" \
  refuses 1 "cannot read nowhere: No such file" troupe up --hostfile nowhere
check "DVM-5" "this node twice" refuses 1 "are both this node" \
  troupe up --host "localhost,127.0.0.1"
check "DVM-5" "an interface that is not there" \
  refuses 1 "no network interface nonet0 on this node" \
  troupe up $shell --host a --networks nonet0
check "DVM-5" "what is no name of a DVM" refuses 1 "is no name of a DVM" \
  troupe up --name 'a b'
check "DVM-5" "a remote shell that is not there" refuses 3 "on a: .*no-such-shell" \
  troupe up --remote-shell ./no-such-shell --host a
check "DVM-5" "hosts and a hostfile at once" refuses 2 "give one of them" \
  troupe run --dvm x --host a --hostfile hosts true
check "DVM-5" "a choice of nodes that has no slots" \
  refuses 2 "'a:0' has no number of slots" troupe run --dvm x --host a:0 true
check "DVM-5" "a daemon that nobody started" refuses 1 "not from a troupe" \
  trouped --join
check "DVM-5" "a file for the URI that cannot be written" \
  refuses 1 "cannot write /no/such" troupe up --report-uri /no/such/file
clean "DVM-3" "nothing is left at the end"
finish
