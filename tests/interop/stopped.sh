# Tools whose server is there and does not answer: it was stopped, before they came
# or while they wait. They say so in bounded time.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# gives_up SECONDS COMMAND...: the command ends by itself with status 1 and one
# sentence that says who does not answer.
gives_up() {
  local seconds=$1 begin=$SECONDS outcome=0
  shift
  within "$((30 * slow))" "$@" >"$TROUPE_WORK/said" 2>&1 </dev/null || outcome=$?
  cat "$TROUPE_WORK/said"
  echo "status $outcome after $((SECONDS - begin)) s"
  [ "$outcome" -eq 1 ] && [ "$((SECONDS - begin))" -le "$((seconds * slow))" ] \
    && [ "$(wc -l <"$TROUPE_WORK/said")" -eq 1 ] \
    && grep -q "does not answer\|does not end: it is stopped" "$TROUPE_WORK/said"
}

. "$TROUPE_SOURCE/tests/interop/asked.sh"

# -- before they come ------------------------------------------------------------

troupe run --oversubscribe -n 1 sleep 300 >launcher.log 2>&1 </dev/null &
launcher=$!
eventually 20 troupe ps --dvm "pid:$launcher" \
  || { failed "MND-A12" "a launcher can be asked"; finish; }
kill -STOP "$launcher"
each before "a stopped launcher" gives_up 6 "pid:$launcher" "${commands[@]}" down
kill -CONT "$launcher"
check "MND-A12" "it goes on, and answers" \
  eventually 10 troupe ps --dvm "pid:$launcher"

# -- while they wait -------------------------------------------------------------

uri=$(head -n 1 "$(find "$TMPDIR" -name "pmix.*.tool.$launcher")")
/usr/bin/python3 "$programs/stopping_proxy.py" "${uri##*:}" "$launcher" \
  $((${#commands[@]} + 1)) >proxy &
proxy=$!
eventually 10 test -s proxy
each meanwhile "a launcher that is stopped when it has asked" gives_up 9 \
  "${uri%:*}:$(<proxy)" "${commands[@]}" down
kill "$proxy"
kill -CONT "$launcher"
check "MND-A12" "it goes on, and answers again" \
  eventually 10 troupe ps --dvm "pid:$launcher"
kill -TERM "$launcher"
wait "$launcher"

clean "MND-A12" "nothing is left"
finish
