# Job control over two nodes: the same as on one, each request once although lanes
# break, and an answer although a node is lost.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "J6 J15 CTL-1"
compile control
lab 2 2
need_dvm n1:4,n2:4

# in_folder NAME COMMAND...: the ranks tell each other by files.
in_folder() (
  mkdir "$1" && cp control "$1/control" && cd "$1" || return 1
  shift
  "$@"
)

pauses() { status 143 mesh_job -n 4 ./control pauses; }
check "J6 J7 81" "2 nodes: the paused use no processor" in_folder pauses pauses
check "J15 J2 79" "2 nodes: a signal reaches exactly whom it names" \
  in_folder signals mesh_job -n 4 ./control signals

counts() {
  mesh_job -n 2 ./control counts 40 &
  local job_pid=$!
  eventually 20 test -f way.0 || return 1
  "$netlab" cut n2 1
  wait "$job_pid"
  local outcome=$?
  "$netlab" heal n2 1
  return "$outcome"
}
check "CTL-1 J25" "2 nodes: each request is carried out once although a lane breaks" \
  in_folder counts counts

bereaved() {
  mesh_job --rtos recoverable -n 4 ./control bereaved >report 2>&1 &
  local job_pid=$!
  eventually 20 test -f asking.0 || { cat report; return 1; }
  kill -9 "$(daemon n2)"
  wait "$job_pid"
  cat report
  grep -q '^answered after' report
}
check "CTL-2 J25 90" "2 nodes: a node lost in the middle costs no answer" \
  in_folder bereaved bereaved
grep -h '^answered' bereaved/report

dvm_down >/dev/null 2>&1
check "CTL-3" "nothing is left" nothing_after 10 n1
finish
