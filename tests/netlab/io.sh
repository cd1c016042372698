# Streams over three nodes: every byte, in order, with networks that fail and
# daemons that die, for readers anywhere.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/streams.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "I5 I6 I13 I18 IO-1 IO-3 IO-4"
compile io_bytes
limit=${TROUPE_IO_LIMIT:-60}
large=${TROUPE_IO_BYTES:-268435456}
lab 3 2
need_dvm n1:4,n2:4,n3:4

# exact SIZE [OPTION]...: the third process, on the third node, writes; every
# byte comes.
exact() {
  local size=$1 outcome
  shift
  mesh_job -n 3 "$@" ./io_bytes write "$size" 2 2>"$TROUPE_WORK/err" \
    | ./io_bytes check "$size"
  outcome=${PIPESTATUS[*]}
  cat "$TROUPE_WORK/err"
  [ "$outcome" = "0 0" ]
}

for size in 0 1 65535 65536 65537 1048576; do
  check "IO-1 IO-3 IO-4 198" "$size bytes of a process on another node" \
    exact "$size"
done
before=$(seconds_now)
check "IO-1 IO-3" "$large bytes of a process on another node" exact "$large"
echo "     in $(since "$before") s"

# -- networks fail -------------------------------------------------------------

# cuts: networks of both ends go and come back while a stream flows.
cuts() {
  local job_pid fault outcome
  rm -f go writer
  mesh_job -n 3 sh -c '[ "$PMIX_RANK" = 2 ] || exit 0
    '"$as_writer" sh ./io_bytes write "$large" 2 go 2>"$TROUPE_WORK/err" \
    | ./io_bytes check "$large" >"$TROUPE_WORK/cuts" &
  job_pid=$!
  stuck || return 1
  touch go
  for fault in "cut n3 1" "silence n3 2" "reset n1 all" "cut n1 2"; do
    # shellcheck disable=SC2086
    set -- $fault
    sleep 0.2
    "$netlab" "$@"
    sleep 0.5
    "$netlab" heal "$2" "$3"
  done
  wait "$job_pid"
  outcome=$?
  cat "$TROUPE_WORK/cuts" "$TROUPE_WORK/err"
  return "$outcome"
}
check "IO-1 IO-3 P-N1" "networks fail in the middle: every byte, once" cuts

# -- readers on another node ---------------------------------------------------

size=16777216
moved=0
bytes_moved() { "$netlab" traffic | awk '{ print $1 }'; }
at_least() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }

# watched_job [OPTION]...: a job on n1 and n3 whose second process, on n3, goes
# on when `go` is there; its number is in job_pid, its name in `job`.
watched_job() {
  rm -f go job "$TROUPE_WORK/out"
  mesh_job -n 3 "$@" sh -c '[ "$PMIX_RANK" = 2 ] || exit 0
    echo "$PMIX_NAMESPACE" >job
    exec ./io_bytes write '"$size"' 2 go' >"$TROUPE_WORK/out" \
    2>"$TROUPE_WORK/err" &
  job_pid=$!
  eventually 10 at_least "$TROUPE_WORK/out" 1000 && test -s job && return
  cat "$TROUPE_WORK/err"
  return 1
}

# follow FILE: a reader of that process on n2.
follow() {
  background n2 troupe io follow --dvm "pid:$(daemon n2)" --output raw \
    "$(cat job):2" >"$1" 2>"$TROUPE_WORK/reader.err"
  eventually 10 at_least "$1" 1000 && return
  cat "$TROUPE_WORK/reader.err"
  return 1
}

# watched COUNT: how many bytes crossed is in `moved` when so many follow.
watched() {
  local i before
  watched_job || return 1
  for i in $(seq "$1"); do
    follow "$TROUPE_WORK/reader.$i" || return 1
  done
  before=$(bytes_moved)
  touch go
  wait "$job_pid" || { cat "$TROUPE_WORK/err"; return 1; }
  ./io_bytes check "$size" <"$TROUPE_WORK/out" || return 1
  for i in $(seq "$1"); do
    eventually 10 at_least "$TROUPE_WORK/reader.$i" "$size"
    ./io_bytes check "$size" <"$TROUPE_WORK/reader.$i" || return 1
  done
  moved=$(($(bytes_moved) - before))
}
check "I2 I5" "a reader on a node that does not run the process" watched 1
alone=$moved
check "I5 203" "two readers there" watched 2
echo "     $alone bytes crossed for one, $moved for two"
# The launcher's node gets it, too.
once() { [ "$1" -ge $((2 * size)) ] && [ "$1" -lt $((2 * size + size / 2)) ]; }
check "I13" "the stream crosses once to each node" once "$alone"
check "I13" "the stream crosses once for both" once "$moved"

# killed: the daemon of a reader is killed in the middle; it runs nothing else
# of the job that counts.
killed() {
  watched_job --rtos recoverable || return 1
  follow "$TROUPE_WORK/reader.1" || return 1
  touch go
  kill -9 "$(daemon n2)"
  wait "$job_pid"
  ./io_bytes check "$size" <"$TROUPE_WORK/out"
}

# -- a daemon is killed --------------------------------------------------------

check "I9 I18 194" "the daemon of a reader is killed: the others get all" killed
"$netlab" heal n2 all
dvm_down >/dev/null 2>&1
finish
