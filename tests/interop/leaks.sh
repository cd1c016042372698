# What stays in a server of connections that are over, of jobs that are over.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

strangers=$programs/strangers.py

# settled PID BEFORE SESSIONS: whether the server has at most 64 KiB more in use
# than before, and all who came have gone. Requests keep the time by which they
# would have failed until it is over, so this takes half a minute; what is taken
# before must not have much of that itself, or it hides what stays.
settled() {
  local after growth
  after=$(gauge "$1" daemon.heap)
  growth=$((after - $2))
  echo "$growth bytes more: $2, then $after; free $(gauge "$1" daemon.heap_free)," \
    "resident $(gauge "$1" daemon.resident)"
  [ "$(gauge "$1" server.sessions)" -le "$3" ] && [ "$growth" -le 65536 ] && return
  sleep 1
  return 1
}

# in_turn KIND: has the process of the job connect `count` times.
in_turn() {
  rm -f "done.$1"
  echo "$1 $count" >order.new
  mv order.new order
  eventually $((60 + count / 20)) test -e "done.$1" || return 1
  cat "done.$1"
  rm "done.$1"
}

# A job whose process connects in its own name as often as it is told to.
cat >connects.sh <<'SH'
port=${PMIX_SERVER_URI41##*:}
while :; do
  if read -r kind count 2>/dev/null <order; then
    rm order
    /usr/bin/python3 "$1" connect "$port" "$kind" "$count" >"new.$kind" 2>&1
    mv "new.$kind" "done.$kind"
  fi
  sleep 0.05
done
SH
rm -f order
troupe run -n 1 bash connects.sh "$strangers" >there 2>there.log </dev/null &
server=$!
build spawner
start_trouped
jobs() {
  ./spawner "$trouped_uri" "$1" 1 true nobody
}
all_kinds() {
  local kind
  for kind in finalized lost tool user; do
    in_turn "$kind" || return 1
  done
}

# What is kept for the next ones is taken by the first ones.
eventually 20 gauge "$server" server.sessions
sessions=$(gauge "$server" server.sessions)
count=10
check "MND-A1" "connections come and go, of each kind" all_kinds
before=$(gauge "$server" daemon.heap)
jobs_sessions=$(gauge "$trouped_pid" server.sessions)
check "MND-A1" "jobs come and go" jobs 10
resident_before=$(gauge "$trouped_pid" daemon.resident)
# 100 MB in small values, which leave holes.
within 60 troupe run --dvm "pid:$trouped_pid" -n 1 \
  /usr/bin/python3 "$programs/pmi1_attacks.py" puts >puts 2>&1
resident_full=$(gauge "$trouped_pid" daemon.resident)
jobs_before=$(gauge "$trouped_pid" daemon.heap)

count=${TROUPE_CONNECTIONS:-1000}
all_kinds >connections 2>&1 &
connecting=$!
check "MND-A1" "${TROUPE_JOBS:-600} jobs" jobs "${TROUPE_JOBS:-600}"
cat "$TROUPE_WORK/output"
check "MND-A1" "$count connections of each kind" wait "$connecting"
cat connections
if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A1" "what stays of them" "a sanitizer's memory is not counted"
else
  check "MND-A1" "of $count connections of each kind nothing stays" \
    eventually 60 settled "$server" "$before" "$sessions"
  settled "$server" "$before" "$sessions"
  check "MND-A1" "of ${TROUPE_JOBS:-600} jobs nothing stays" \
    eventually 60 settled "$trouped_pid" "$jobs_before" "$jobs_sessions"
  settled "$trouped_pid" "$jobs_before" "$jobs_sessions"
  # given_back: whether the system has got most of it back.
  given_back() {
    local after
    after=$(gauge "$trouped_pid" daemon.resident)
    echo "resident at first $resident_before, with it $resident_full, then $after"
    [ $((resident_full - resident_before)) -gt $((64 << 20)) ] \
      && [ $((after - resident_before)) -lt $((16 << 20)) ]
  }
  check "MND-A1" "what a job has posted goes back to the system" \
    eventually 20 given_back
  given_back
fi
kill -TERM "$server"
wait "$server" 2>/dev/null
stop_trouped >/dev/null 2>&1
clean "MND-A1" "nothing is left"
finish
