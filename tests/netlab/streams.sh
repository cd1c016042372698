# What the notes on input and output call endpoints, publications, subscriptions and
# forwards, on three nodes: as `troupe io list` shows them, and what they cost.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "I1 I3 I4 I7 I10 I12 I14"
limit=20
lab 3 2
need_dvm n1:32,n2:32,n3:32

io_list() { within 20 "$netlab" exec n1 troupe io list --dvm "$dvm_name" --json; }

# -- what is published ---------------------------------------------------------

# Each rank writes another number of bytes, 10 and its rank, and waits.
rm -f job go
mesh_job -n 6 sh -c '
  [ "$PMIX_RANK" != 0 ] || echo "$PMIX_NAMESPACE" >job
  printf "%*s" $((10 + PMIX_RANK)) ""
  until [ -e go ]; do sleep 0.05; done' >out 2>err &
job_pid=$!
eventually 10 test -s job || { failed "" "a job"; cat err; finish; }
background n2 troupe io follow --dvm "pid:$(daemon n2)" --output raw "$(cat job):0" >read.0

# streams: a line for each, `RANK STREAM BEGIN END STATE SINK=TAKEN...`.
streams() {
  io_list | /usr/bin/python3 -c 'import json, sys
for x in json.load(sys.stdin)["streams"]:
    if x["nspace"] == sys.argv[1] and x["stream"] == "stdout":
        print(x["rank"], x["stream"], x["begin"], x["end"],
              "over" if x["over"] else "open",
              len(x["sinks"]), *sorted({s["taken"] for s in x["sinks"]}))' \
    "$(cat job)" | sort -n
}
# The launcher and, for ranks elsewhere, its node have acknowledged the same bytes, of
# each stream by itself; rank 0 has a reader more, on n2, and thus that node.
wanted="0 stdout 0 10 open 3 10
1 stdout 0 11 open 2 11
2 stdout 0 12 open 2 12
3 stdout 0 13 open 1 13
4 stdout 0 14 open 2 14
5 stdout 0 15 open 2 15"
are_wanted() { [ "$(streams)" = "$wanted" ]; }
eventually 10 are_wanted
check_equal "I1 I3 I4 I10" \
  "3 nodes: each rank's stream, how far it is, and what each sink has of it" \
  "$wanted" "$(streams)"
touch go
wait "$job_pid"
check_equal "I3" "the job ends well" 0 $?
check_equal "I4" "its launcher has all of them" 75 "$(stat -c %s out)"
gone() { [ -z "$(streams)" ]; }
check "I10 I11" "nothing is published any more, of rank 0 neither" eventually 5 gone

# -- input before its process, and after ---------------------------------------

# The first is there before the process is, which runs on another node.
check_equal "I7" "input that waits for its process" "before" \
  "$(printf before | mesh_job --stdin 4 -n 6 cat 2>&1)"
rm -f job
mkfifo hold && exec 8<>hold # The launcher's own input has no end.
"$netlab" exec n1 troupe run --dvm "$dvm_name" --map-by node --oversubscribe \
  --stdin 4 -n 6 sh -c '
  [ "$PMIX_RANK" = 4 ] || exit 0
  echo "$PMIX_NAMESPACE" >job; read -r x; echo "$x"' <hold >out 2>err &
job_pid=$!
eventually 10 test -s job
echo after | within 20 "$netlab" exec n3 troupe attach --dvm "pid:$(daemon n3)" \
  -i "$(cat job):4" >attached 2>&1
eventually 10 ended "$job_pid" || kill "$job_pid"
check_equal "I7" "input for a process that waits for it" "after" "$(cat out)"

# -- what it costs -------------------------------------------------------------

# Messages that all nodes have sent each other.
messages() {
  in_dvm net --json | /usr/bin/python3 -c 'import json, sys
print(sum(p["sent"] for n in json.load(sys.stdin)["nodes"] for p in n.get("peers", [])))'
}
# settled: the same, as soon as no more come than probes and the question cause.
settled() {
  local before after i
  before=$(messages)
  for i in $(seq 50); do
    sleep 0.2
    after=$(messages)
    [ $((after - before)) -gt 12 ] || break
    before=$after
  done
  echo "$after"
}
# costs N: a job of N ranks that write nothing; sets `starts` and `ends`.
costs() {
  local before ready job
  before=$(settled)
  mesh_job -n "$1" sleep 300 >/dev/null 2>&1 &
  job_pid=$!
  all_run() { [ "$({ processes n1 sleep; processes n2 sleep; processes n3 sleep; } \
    | wc -l)" -eq "$1" ]; }
  eventually 15 all_run "$1" || return 1
  ready=$(settled)
  starts=$((ready - before))
  job=$(in_dvm jobs | awk 'END { print $1 }')
  on n1 troupe ctl kill --dvm "$dvm_name" "$job" >/dev/null 2>&1
  wait "$job_pid"
  ends=$(($(settled) - ready))
}
# What is unknown must not look cheap.
costs 6 || { failed "I12 I14" "a job of 6 ranks"; finish; }
few_starts=$starts few_ends=$ends
costs 90 || { failed "I12 I14" "a job of 90 ranks"; finish; }
many_starts=$starts many_ends=$ends
echo "     messages of 6 ranks: $few_starts, $few_ends; of 90: $many_starts, $many_ends"
check "I14" "84 ranks more cost less than a message for each at their start" \
  test $((many_starts - few_starts)) -lt 84
# The end of each is an event for both other nodes, and ordered by one of them.
check "I12" "and no more at their end than tell that they have ended" \
  test $((many_ends - few_ends)) -lt $((84 * 3))
dvm_down >/dev/null 2>&1
check "I17" "nothing is left" nothing_after 10 n1 n2 n3
finish
