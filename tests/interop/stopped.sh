# Tools whose server is there and does not answer: it was stopped. They say so
# in bounded time.

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
    && grep -q "does not answer" "$TROUPE_WORK/said"
}

commands=("nodes" "jobs" "ps" "net" "events list" "group list" "io list"
  "ctl status" "down")

declare -A asked
troupe run --oversubscribe -n 1 sleep 300 >launcher.log 2>&1 </dev/null &
launcher=$!
eventually 20 troupe ps --dvm "pid:$launcher" \
  || { failed "MND-A12" "a launcher can be asked"; finish; }
kill -STOP "$launcher"
# Most of the time passes in sleep: all of them at once.
for command in "${commands[@]}"; do
  # shellcheck disable=SC2086
  (TROUPE_WORK=$PWD/work.${command// /.} && mkdir "$TROUPE_WORK" \
    && gives_up 6 troupe $command --dvm "pid:$launcher") \
    >"asked.${command// /.}" 2>&1 &
  asked["$!"]=$command
done
for pid in "${!asked[@]}"; do
  outcome=0
  wait "$pid" || outcome=$?
  check "MND-A12" "troupe ${asked[$pid]} of a stopped launcher" bash -c \
    "cat 'asked.${asked[$pid]// /.}'; exit $outcome"
done
kill -CONT "$launcher"
check "MND-A12" "it goes on, and answers" \
  eventually 10 troupe ps --dvm "pid:$launcher"
kill -TERM "$launcher"
wait "$launcher"
clean "MND-A12" "nothing is left"
finish
