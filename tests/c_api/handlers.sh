# Event handlers of our library, from C: under our launcher, and under Open
# MPI's, whose server is Debian's.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

cc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$ours" -o handlers \
  "$here/handlers.c" -L"$TROUPE_LIB" -lpmix -pthread || {
  failed "C3.14" "compiling handlers.c"
  finish
}
compile_pmix "$programs/events.c" events
export LD_LIBRARY_PATH=$TROUPE_LIB
limit=60

# -- one process ---------------------------------------------------------------

check "C3.14 E14 E15 E34 E37 E50 1 7 9" "handlers run in their order" \
  job -n 1 ./handlers order
check "C3.14 E16 2 3 5" "directives place them" job -n 1 ./handlers placement
check "C3.14 E59 F4.42" "at the ends of their category, and of all" \
  job -n 1 ./handlers ends
check "C3.14 E59 F4.42" "for events that affect some processes" \
  job -n 1 ./handlers affected
check "C3.14 E33 E58 12 13" "numbers name them until they go" job -n 1 ./handlers numbers
check "C3.14 E35 16 21" "default and one-shot handlers" job -n 1 ./handlers defaults
check "C3.14 E33 43" "bad arguments are refused" job -n 1 ./handlers bad_arguments
check "C3.14 E18 E19 E21 E22 E23 E24 E25 E27 E29 E30 E32 E36 E51 22 28 29 31" \
  "results go from handler to handler" job -n 1 ./handlers results
check "C3.14 E17 E20 E31 33 34" "a handler completes on any thread, once" \
  job -n 1 ./handlers other_thread
check "C3.14 E26 14" "calls from inside a handler" job -n 1 ./handlers from_inside
check "C3.14" "a process has its own events as the range says" \
  job -n 1 ./handlers ranges
check "C3.14" "2000 handlers" job -n 1 ./handlers many
check "C3.14" "four threads register, raise and deregister" \
  job -n 1 ./handlers threads

check "E8 E49 53 55" "handlers that come later get what was raised before, once" \
  job -n 1 ./handlers later
check "E52" "a process may end with events under way" \
  job -n 1 ./handlers busy_end
check "E12" "200,000 events of four threads: none is lost, all in order" \
  job -n 1 ./handlers own_flood
check "E33" "handlers have a bound" job -n 1 ./handlers too_many
check "E57 45" "ranges that are none, large events, odd codes" \
  job -n 1 ./handlers bad_events

stuck() {
  job -n 1 ./handlers stuck 2>"$TROUPE_WORK/stderr" \
    && grep -q 'event handler 0 (stuck) has not completed' "$TROUPE_WORK/stderr"
}
check "C3.15 32" "a handler that never completes is bounded and named" stuck

# The guard would kill the process, too, perhaps before it has heard: it goes first,
# once it has taken its name.
lost_server() {
  within 30 sh -c 'troupe run -n 1 sh -c "
    until pkill -KILL -P \$PPID -x troupe-guard; do sleep 0.1; done
    ./handlers lost_server \$PPID \
      >$TROUPE_WORK/lost 2>&1"' </dev/null
  eventually 10 grep -qx "heard of it" "$TROUPE_WORK/lost" \
    || { cat "$TROUPE_WORK/lost"; false; }
}
check "C3.14 E32 E53 E55 47" "the loss of the server is an event, once" lost_server

# -- several processes ---------------------------------------------------------

for case in between to_default targeted cached latency; do
  check "C3.14" "events among 3 processes: $case" job -n 3 ./events "$case"
done
check "C3.14" "peers hear of a process that is killed" \
  status 137 job -n 3 --rtos recoverable ./events killed
check "C3.14" "peers hear of a process that leaves without finalizing" \
  status 1 job -n 3 --rtos recoverable ./events unfinalized
check "C3.14" "peers hear of a process that fails" \
  status 3 job -n 3 --rtos recoverable ./events non_zero

# -- under Debian's server -----------------------------------------------------

# One process: what several send each other, Open MPI's mpirun does not pass on,
# nor does it answer, with Debian's client either.
mkdir -p "$TROUPE_WORK/ompi"
under_ompi() {
  within 60 env -u LD_LIBRARY_PATH TMPDIR="$TROUPE_WORK/ompi" \
    mpirun --allow-run-as-root --oversubscribe -n 1 \
    -x "LD_LIBRARY_PATH=$TROUPE_LIB" ./handlers "$@" </dev/null
}
for case in order placement results other_thread from_inside many threads; do
  check "C3.14 208" "under Open MPI's mpirun: $case" under_ompi "$case"
done

clean "C3.14" "nothing is left of the jobs"
finish
