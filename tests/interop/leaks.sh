# What stays in a server of connections that are over, of jobs that are over.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

strangers=$programs/strangers.py

# gauge NAME: what `troupe net` says of the server.
gauge() {
  within 20 troupe net --json --dvm "pid:$server" \
    | /usr/bin/python3 -c 'import json, sys
for x in json.load(sys.stdin)["nodes"][0]["gauges"]:
    if x["name"] == sys.argv[1]:
        print(x["value"])' "$1"
}

# settled BYTES: whether the server has at most that much more memory than at
# `before`, and all who came have gone. Requests keep the time by which they
# would have failed until it is over, so this takes half a minute.
settled() {
  after=$(gauge daemon.heap)
  growth=$((after - before))
  [ "$(gauge server.sessions)" -le "$sessions" ] && [ "$growth" -le "$1" ] && return
  sleep 1
  return 1
}

# leaves BYTES COMMAND...: runs it, and what it leaves is no more than BYTES.
leaves() {
  local most=$1 outcome=0 before after growth
  shift
  before=$(gauge daemon.heap)
  "$@" || return 1
  eventually 60 settled "$most" || outcome=1
  settled "$most"
  echo "$growth bytes more: $before, then $after"
  return "$outcome"
}

# in_turn KIND: has the process of the job connect `count` times.
in_turn() {
  rm -f "done.$1"
  echo "$1 $count" >order.new
  mv order.new order
  eventually 60 test -e "done.$1" || return 1
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
sessions=0
eventually 20 gauge server.sessions
sessions=$(gauge server.sessions)

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "MND-A1" "what stays of connections" "a sanitizer's memory is not counted"
else
  all_kinds() {
    local kind
    for kind in finalized lost tool user; do
      in_turn "$kind" || return 1
    done
  }
  # What is kept for the next ones is taken by the first ones.
  count=200
  check "MND-A1" "connections come and go, of each kind" all_kinds
  count=${TROUPE_CONNECTIONS:-1000}
  check "MND-A1" "of $count connections of each kind nothing stays" \
    leaves 65536 all_kinds
  grep "bytes more\|served" "$TROUPE_WORK/output"
fi
kill -TERM "$server"
wait "$server" 2>/dev/null

# Jobs of a DVM: what is kept of jobs that are over has a bound of its own.
if [ -z "${TROUPE_SANITIZER:-}" ]; then
  build spawner
  start_trouped
  server=$trouped_pid
  sessions=$(gauge server.sessions)
  jobs() {
    ./spawner "$trouped_uri" "$1" 1 true nobody
  }
  check "MND-A1" "jobs come and go" jobs 20
  check "MND-A1" "of ${TROUPE_JOBS:-100} jobs nothing stays" \
    leaves 65536 jobs "${TROUPE_JOBS:-100}"
  grep "bytes more" "$TROUPE_WORK/output"
  stop_trouped >/dev/null 2>&1
fi
clean "MND-A1" "nothing is left"
finish
