# examples/mini_rm.cpp, built as its first lines say: three nodes of two slots. Part of
# install.sh, in a copy of the examples.

check "C12.10" "mini_rm.cpp has at most 400 lines" test "$(wc -l <mini_rm.cpp)" -le 400
check "C12.10" "the commands at the head of mini_rm.cpp" as_it_says mini_rm.cpp
check_equal "C12.10" "launch four processes on two of three nodes" \
  "4 job-1 runs on nodes 0 1,job-1 is done," "$(grep -c '^pmix rank . of 4' mini_rm.cpp.output) $(
    grep '^job-1' mini_rm.cpp.output | tr '\n' ,)"
check_match "C12.10" "which have each other's data" '^pmix fence brought 4 of 4 values' \
  "$(cat mini_rm.cpp.output)"

# asks COMMAND: has the resource manager do something.
asks() { echo "$*" >&"${rm[1]}"; }
# until PATTERN: waits for a line, and keeps all.
until_says() {
  local line
  while read -r -t 60 -u "${rm[0]}" line; do
    echo "$line" | tee -a said
    [[ $line =~ $1 ]] && return 0
  done
  echo "nothing says $1"
  return 1
}

: >said
coproc rm { exec ./mini_rm 3 2 2>errors_of_rm; }
rm_pid=$!
up() { until_says "node . is up" && until_says "node . is up" && until_says "node . is up"; }
check "C12.10" "three nodes come up" up
daemons=$(pgrep -d ' ' -P "$rm_pid")
run_hello() {
  asks run 6 ./pmix_hello && asks wait && until_says "^job-1 is done$" \
    && [ "$(grep -c '^pmix rank . of 6' said)" -eq 6 ] \
    && grep -q '^pmix fence brought 6 of 6 values' said
}
check "C12.10" "six processes on three nodes have each other's data" run_hello
refuses() { asks run 7 ./pmix_hello && until_says "^no room for 7 processes$"; }
check "C12.10" "more than there are slots are refused" refuses
fails() {
  asks run 2 /bin/false && asks wait && until_says "^job-2 failed: a process on node 0$"
}
check "C12.10" "a process that fails is the failure of its job" fails
says_load() { asks nodes && until_says "^node .: 0 processes, load [0-9.e+-]+$"; }
check "C12.10" "an agent on each node says how busy it is" says_load

if command -v mpicc >/dev/null && mpicc -O1 -o mini_mpi mpi_hello.c 2>/dev/null; then
  run_mpi() {
    # Nodes of one machine have its loopback in common, and no other network.
    asks run 6 env OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo ./mini_mpi && asks wait && until_says "^mpi ring and allreduce over 6 processes: right$" && until_says "^job-3 is done$"
  }
  check "C12.10" "an MPI program of three nodes runs" run_mpi
else
  skip "C12.10" "an MPI program of three nodes runs" "there is no mpicc"
  asks run 6 ./pmix_hello
  asks wait
  until_says "^job-3 is done$"
fi

loses() {
  asks run 6 sleep 1000 && until_says "^job-4 runs on nodes 0 1 2$" && asks kill 2 \
    && until_says "^job-4 failed: node 2 is lost$" && grep -q '^node 2 is lost$' said
}
check "C12.10" "a node that is killed fails its job, once it is lost" loses
check_equal "C12.10" "nothing of which is left" "" \
  "$(pgrep -P "$rm_pid,${daemons// /,}" -x sleep)"
goes_on() {
  asks run 6 ./pmix_hello && until_says "^no room for 6 processes$" \
    && asks run 4 ./pmix_hello && asks wait && until_says "^job-5 runs on nodes 0 1$" \
    && until_says "^job-5 is done$" && grep -q '^pmix fence brought 4 of 4 values' said
}
check "C12.10" "and the next job is placed elsewhere" goes_on
eval "exec ${rm[1]}>&-"
check "C12.10" "it ends at the end of its commands" within 60 tail --pid="$rm_pid" -f /dev/null
all_gone() { ! ps -o pid= -p "${daemons// /,}"; }
soon() {
  local i
  for ((i = 0; i < 100; ++i)); do
    "$@" && return
    sleep 0.1
  done
  return 1
}
check "C12.10" "with all its daemons" soon all_gone
