# The daemon of another node is there and does not answer: it was stopped. Commands
# tell what the others know, and the DVM goes on without it.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/asked.sh"

export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# tells SECONDS COMMAND...: the command says something, and ends with status 0.
tells() {
  local seconds=$1 begin=$SECONDS outcome=0
  shift
  within "$((30 * slow))" "$@" 2>&1 </dev/null || outcome=$?
  echo "status $outcome after $((SECONDS - begin)) s"
  [ "$outcome" -eq 0 ] && [ "$((SECONDS - begin))" -le "$((seconds * slow))" ]
}

cat >here.sh <<'END'
#!/bin/sh
# Called as a remote shell: HOST COMMAND ARGUMENTS...
shift
exec "$@"
END
chmod +x here.sh
troupe up --name behind --host a:2,b:2 --remote-shell "$PWD/here.sh" >up.out 2>up.err \
  </dev/null &
dvm_pid=$!
check "MND-A12" "a DVM of a root and two daemons" \
  eventually 30 grep -qx "DVM ready" up.out
troupe run --dvm behind --map-by node --rtos recoverable -n 2 sleep 300 \
  >job.out 2>&1 </dev/null &
job_pid=$!
eventually 20 sh -c 'troupe ps --dvm behind | grep -c running | grep -qx 2'
daemon=$(pgrep -P "$dvm_pid" -x trouped | head -n 1)
kill -STOP "$daemon"
each behind "a root with a stopped daemon" tells 8 behind "${commands[@]}"
is_lost() { troupe nodes --dvm behind | grep -qw lost; }
check "MND-A12" "the daemon's node is lost in time" eventually 15 is_lost
each after "a root that has lost a node" tells 4 behind "${commands[@]}"
check "MND-A12" "jobs run on the other node" \
  within "$((20 * slow))" troupe run --dvm behind -n 2 true
check "MND-A12" "troupe down of a root with a stopped daemon" \
  tells 10 troupe down --dvm behind
wait "$dvm_pid"
check_equal "MND-A12" "the root ends well" 0 $?
wait "$job_pid"
kill -CONT "$daemon"
check "MND-A12" "the daemon ends when it goes on" eventually 35 ended "$daemon"
clean "MND-A12" "nothing is left"
finish
