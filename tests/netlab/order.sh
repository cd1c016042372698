# The order of a namespace's events when the node that keeps it is lost in the
# middle: those who are left hear the same, all of each other, once.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "P-J1 P-J2 P-J3 P-J4"
compile outlive
lab 4 2
limit=120
python=/usr/bin/python3
need_dvm n1:2,n2:2,n3:2,n4:2

# survived: a job without the root's node, the first node of which is lost.
survived() {
  rm -f heard.*
  in_dvm run --host n2,n3,n4 --map-by node --rtos recoverable -n 6 \
    ./outlive events 2000 0 3 >report 2>&1 &
  local job_pid=$!
  eventually 30 grep -qx ready report || { cat report; return 1; }
  kill -9 "$(daemon n2)"
  wait "$job_pid"
  cat report
  [ "$(grep -c ': all events' report)" -eq 4 ]
}
check "P-J1 P-J4" "the home of a job's events dies, 4 processes go on" survived
check "P-J2 P-J3 P-J4" "they heard the same, in one order, each event once" \
  "$python" "$programs/same_order.py" 2000 --lost 0,3 \
  heard.1 heard.2 heard.4 heard.5
dvm_down >/dev/null 2>&1
finish
