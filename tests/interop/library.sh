# Our own libpmix in a process: its life, calls at the wrong time, several
# libraries, servers that go away, tools, real OpenPMIx servers.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export LD_LIBRARY_PATH=$TROUPE_LIB
ours=$TROUPE_LIB/libpmix.so.2
limit=60

build library_life library_calls library_vanish library_tool library_data
gcc -std=gnu11 -O1 -Wall -o library_load "$programs/library_load.c" \
  "-I$(pkg-config --variable=includedir pmix)" -ldl \
  || { failed "" "compiling library_load.c"; finish; }
check "C3.10" "programs find our library" \
  bash -c "ldd ./library_life | grep -q 'libpmix.so.2 => $TROUPE_LIB/'"

# -- its life ------------------------------------------------------------------

check "C3.1" "one thread more, and it does not wake while idle" \
  job -n 1 ./library_life one_thread
check "C3.1" "the first call of all is answered" \
  job -n 1 ./library_life first_call
check "C3.1 C3.7" "one that comes while another thread finalizes is refused" \
  job -n 2 ./library_life late_call
check "C3.6" "init and finalize are counted" job -n 2 ./library_life counted
cycles=10000
[ -z "${TROUPE_SANITIZER:-}" ] || cycles=200
limit=300 check "C3.6 209" "$cycles cycles of init and finalize" \
  job -n 1 ./library_life cycles "$cycles"
check "C3.4" "callers fork, children use and do not use the library" \
  job -n 2 ./library_life forks
check "C3.4" "callers fork while other threads are in calls" \
  job -n 1 ./library_life forks_in_calls
check "C3.5" "processes exit without finalizing" job -n 1 ./library_life exits
check "210" "a program drives progress itself" job -n 2 ./library_life external

# -- calls ---------------------------------------------------------------------

check "C3.12" "calls before init and after finalize" \
  job -n 1 ./library_calls wrong_time
check "C3.8" "calls that block, in callbacks" job -n 3 ./library_calls callbacks
check "C3.9" "odd arguments" job -n 2 ./library_calls arguments
gcc -std=gnu11 -O1 -Wall "-I$TROUPE_SOURCE/c_api/include" -o empty_lists \
  "$programs/empty_lists.c" "-L$TROUPE_LIB" -lpmix \
  || { failed "" "compiling empty_lists.c"; finish; }
for n in 1 2; do
  check "MND-A8" "empty lists in every call of a client, $n processes" \
    job -n "$n" ./empty_lists client
  check "MND-A8" "groups of nobody end at once, $n processes" \
    job -n "$n" ./empty_lists nobody
done
check "MND-A8" "empty lists in every call of a server and of a tool" \
  within 60 ./empty_lists server
check "C3.7" "8 threads put, get, commit and fence" \
  job -n 2 ./library_calls many_threads
check "C3.11" "the server closes in every call" \
  within 120 ./library_vanish in_calls
check "C3.11" "handlers hear of the loss" within 60 ./library_vanish event
check "C3.11 C3.14" "default handlers hear of the loss" \
  within 60 ./library_vanish default_event

# -- data ----------------------------------------------------------------------

# over_nodes [OPTION]... PROGRAM...: on two daemons of this machine.
over_nodes() {
  printf '#!/bin/sh\nshift\nexec "$@"\n' >here.sh
  chmod +x here.sh
  within "$((60 * slow))" troupe run --remote-shell "$PWD/here.sh" \
    --host a:3,b:3 --map-by node "$@"
}

check "C3.16" "the processes of a node" job -n 2 ./library_data local_procs
check "C3.16 C2.6" "the topology" job -n 1 ./library_data topology
check "C3.16 C2.6" "where processes are that are not bound" \
  job --bind-to none -n 3 ./library_data localities
check "C3.9 C3.16" "own keys that are posted later" \
  job -n 1 ./library_data own_keys
check "C3.16" "qualified values" job -n 2 ./library_data qualified
check "C3.16" "keys are taken back" job -n 3 ./library_data taken_back
check "C3.16" "the same by messages" \
  job --no-shared-memory -n 3 ./library_data taken_back
check "C3.16" "the same over nodes" over_nodes -n 5 ./library_data taken_back
check "C3.16" "the same over nodes by messages" \
  over_nodes --no-shared-memory -n 5 ./library_data taken_back
check "C3.9 C3.17" "a parent that is no process" job -n 1 ./library_data parents

# -- libraries side by side ----------------------------------------------------

unset LD_LIBRARY_PATH
check "C3.2" "loaded with RTLD_LOCAL" job -n 1 ./library_load local 2 "$ours"
check "C3.2" "loaded with RTLD_GLOBAL" job -n 1 ./library_load global 2 "$ours"
theirs=$(ldconfig -p | sed -n 's/.*libpmix.so.2 .*=> //p' | head -n 1)
if [ -n "$theirs" ]; then
  check "C3.3" "ours and then another libpmix, RTLD_LOCAL" \
    job -n 1 ./library_load local 2 "$ours" "$theirs"
  check "C3.3" "another libpmix and then ours, RTLD_LOCAL" \
    job -n 1 ./library_load local 2 "$theirs" "$ours"
  # The other way round theirs would find our functions instead of its own.
  check "C3.3" "another libpmix and then ours, RTLD_GLOBAL" \
    job -n 1 ./library_load global 1 "$theirs" "$ours"
else
  skip "C3.3" "two libraries" "there is no other libpmix.so.2"
fi
export LD_LIBRARY_PATH=$TROUPE_LIB

# -- tools ---------------------------------------------------------------------

check "C3.13" "a tool without a server" within 60 ./library_tool nobody
gcc -std=gnu11 -O1 -Wall "-I$TROUPE_SOURCE/c_api/include" -o tool_server \
  "$programs/tool_server.c" "-L$TROUPE_LIB" -lpmix \
  || { failed "" "compiling tool_server.c"; finish; }
check "C3.13" "a tool becomes a server" within 60 ./tool_server serves
start_trouped
first_pid=$trouped_pid
first_uri=$trouped_uri
check "C3.13" "a tool finds its server" within 60 ./library_tool found
check "C3.13" "a tool is given a URI" within 60 ./library_tool by_uri "$first_uri"
check "C3.13" "a tool chooses its name" within 60 ./library_tool named "$first_uri"
check "C3.13" "a connected tool becomes a server" \
  within 60 ./tool_server serves "$first_uri"
check "C3.13" "a tool connects late" within 60 ./library_tool alone "$first_uri"
start_trouped
check "C3.13" "a tool switches between servers" \
  within 60 ./library_tool switches "$first_uri" "$trouped_uri"
check "C3.13" "of two servers a tool guesses none" \
  bash -c '! timeout 60 ./library_tool found'
stop_trouped >/dev/null 2>&1
trouped_pid=$first_pid
stop_trouped >/dev/null 2>&1
check "C3.13" "what the dead left is no server" within 60 ./library_tool nobody

# -- real servers --------------------------------------------------------------

# Our client, their launcher and server.
under_mpirun() {
  LD_LIBRARY_PATH='' within 120 mpirun --allow-run-as-root --oversubscribe \
    --mca btl self,vader -x "LD_LIBRARY_PATH=$TROUPE_LIB" "$@"
}
if command -v mpirun >/dev/null; then
  check "C3.10" "threads and data, under Open MPI's mpirun" \
    under_mpirun -n 2 ./library_calls many_threads
  check "C3.10" "callbacks, under Open MPI's mpirun" \
    under_mpirun -n 2 ./library_calls callbacks
  check "C3.10 C3.16" "the processes of a node, under Open MPI's mpirun" \
    under_mpirun -n 2 ./library_data local_procs
  check "C3.10 C3.16" "own keys, under Open MPI's mpirun" \
    under_mpirun -n 1 ./library_data own_keys
  check "C3.10 C3.16" "keys are not taken back, under Open MPI's mpirun" \
    under_mpirun -n 2 ./library_data not_taken_back
  check "C3.10" "odd arguments, under Open MPI's mpirun" \
    under_mpirun -n 2 ./library_calls arguments
  if command -v mpicc >/dev/null; then
    build mpi_ring
    check "C3.10" "an MPI program, under Open MPI's mpirun" \
      under_mpirun -n 4 ./mpi_ring
  fi
else
  skip "C3.10" "real servers" "there is no mpirun"
fi

clean "C3.5" "nothing is left"
finish
