# A stranger on the network at the port of a daemon: nothing it sends reaches
# an actor, nobody else notices, and it is logged.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "X36 X37 X38 X43 X44 X45"
compile steady
lab 4 2
mkdir -p "$TROUPE_WORK/logs"
python=/usr/bin/python3
# What the daemons say to the root is written down from the first byte on.
background n1 "$python" "$lab_programs/recorder.py" net2 "$TROUPE_WORK/said" \
  >"$TROUPE_WORK/recorder" 2>&1
check "X38" "a recorder listens" \
  eventually 10 grep -q ready "$TROUPE_WORK/recorder"
need_dvm n1:2,n2:2,n3:2 --log-directory "$TROUPE_WORK/logs" # n4 is the stranger
limit=200

# port_at NODE ADDRESS: where its daemon listens there for others.
port_at() {
  on "$1" ss -Hltn | awk '{ print $4 }' | sed -n "s/^$2://p" | head -n 1
}
port=$(port_at n2 10.201.0.2)
root_port=$(port_at n1 10.202.0.1)
check "X36" "the daemon listens for others" test -n "$port"
check "X36" "the root listens for others" test -n "$root_port"
[ -n "$port" ] && [ -n "$root_port" ] || finish

mesh_job -n 3 ./steady 100 "$TROUPE_WORK/stop" >"$TROUPE_WORK/steady.out" 2>&1 &
steady_pid=$!
steady_runs() { grep -qx 'all go on' "$TROUPE_WORK/steady.out"; }
eventually 20 steady_runs
touch "$TROUPE_WORK/said.stop"
rss_before=$(rss "$(daemon n2)")
descriptors_before=$(descriptors "$(daemon n2)")

stranger() {
  on n4 "$python" "$lab_programs/strangers.py" "$@"
}
# refused CASE [ARGUMENT]: closed within 5 s by daemon and root, which are asked
# at the same time.
refused() {
  local line pids=() result=0
  # shellcheck disable=SC2086
  for target in "10.201.0.2 $port" "10.202.0.1 $root_port"; do
    stranger $target "$@" >"$TROUPE_WORK/refused.${target%% *}" 2>&1 &
    pids+=($!)
  done
  for target in 10.201.0.2 10.202.0.1; do
    wait "${pids[0]}" || result=1
    pids=("${pids[@]:1}")
    line=$(<"$TROUPE_WORK/refused.$target")
    echo "$target: $line"
    at_most "$(sed 's/closed after \([0-9.]*\) s.*/\1/' <<<"$line")" 5.5 \
      || result=1
  done
  return $result
}
check "X36" "garbage" refused garbage
check "X36" "a request of the web" refused http
check "X36" "silence" refused nothing
check "X36" "a byte each second" refused slow
check "X36" "a record that never ends" refused record
check "X43" "CAF's client handshake without payload" refused caf_client
check "X43" "CAF's server handshake without payload" refused caf_server
check "X44" "CAF's header of 4 GiB" refused caf_huge
check "X36 X45" "TLS without a certificate" refused plain_tls

# Another's whole session, from its first byte on, is worth nothing.
said=$TROUPE_WORK/said.10.202.0.1.$root_port
check "X38" "a session with the root was recorded" eventually 10 test -s "$said"
echo "     $(stat -c %s "$said" 2>/dev/null) bytes were recorded"
replayed() {
  local line
  line=$(stranger 10.202.0.1 "$root_port" replay "$said") || { echo "$line"; return 1; }
  echo "$line"
  at_most "$(sed 's/closed after \([0-9.]*\) s.*/\1/' <<<"$line")" 5.5
}
check "X38" "and is refused when it is said again" replayed
check "X38" "the node whose session it was is live" node_is_live n2

# A certificate that looks like a node's, of another authority.
foreign() {
  local days=$1 file=$2
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
    -keyout "$file.key" -out "$file.crt" -days "$days" -subj "/CN=n2" \
    -addext "subjectAltName=DNS:n2" 2>/dev/null \
    && cat "$file.key" "$file.crt" >"$file"
}
if command -v openssl >/dev/null; then
  check "X45" "a certificate of somebody else" foreign 10 "$TROUPE_WORK/foreign.pem"
  check "X45 X40" "is refused" refused cert "$TROUPE_WORK/foreign.pem"
  check "X45" "openssl's own client is refused" sh -c '
    echo x | timeout 8 "$1" exec n4 openssl s_client -connect "10.201.0.2:$2" \
      -cert "$3" -key "$3" -quiet 2>&1 | grep -Eiq "alert|error|closed"' \
    - "$netlab" "$port" "$TROUPE_WORK/foreign.pem"
else
  skip "X45" "a certificate of somebody else" "there is no openssl"
fi

# -- floods --------------------------------------------------------------------

most=0
stranger 10.201.0.2 "$port" flood 10000 >"$TROUPE_WORK/flood" 2>&1 &
flood_pid=$!
check "X37" "10,000 half-open connections" \
  eventually 30 grep -q ready "$TROUPE_WORK/flood"
for _ in 1 2 3 4 5 6 7 8; do
  now=$(descriptors "$(daemon n2)")
  [ "$now" -le "$most" ] || most=$now
  sleep 0.5
done
echo "     $most descriptors during the flood, $descriptors_before before"
check "X37" "are bounded" test $((most - descriptors_before)) -le 600
check "X37" "a job runs meanwhile" mesh_job -n 3 true
wait $flood_pid
sed 's/^/     | /' "$TROUPE_WORK/flood"
fewer() { [ "$(descriptors "$(daemon n2)")" -le $((descriptors_before + 2)) ]; }
check "X37" "and are all closed again" eventually 15 fewer
rss_now=$(rss "$(daemon n2)")
echo "     $rss_before KiB before, $rss_now KiB after"
check "X37" "the daemon has not grown by more than 8 MiB" \
  test $((rss_now - rss_before)) -le $((8192 * slow))

# -- members -------------------------------------------------------------------

for node in n1 n2 n3; do
  check "X37" "$node is live" node_is_live $node
done
touch "$TROUPE_WORK/stop.enough"
wait $steady_pid
check_equal "X36 X37" "a job went on all the time" 0 $?
tail -n 1 "$TROUPE_WORK/steady.out" | sed 's/^/     | /'
worst=$(sed -n 's/.*longest pause \([0-9]*\) ms/\1/p' "$TROUPE_WORK/steady.out")
check "X37" "without a pause of more than 2 s" test "${worst:-9999}" -le 2000
check "O18" "down" dvm_down
for log in "$TROUPE_WORK/dvm.err" "$TROUPE_WORK/logs/trouped.n2.log"; do
  lines=$(grep -c '10\.20[12]\.0\.4' "$log")
  echo "     $lines lines name the stranger in ${log##*/}"
  check "X36" "strangers are named in ${log##*/}" test "$lines" -ge 1
  check "X37" "and do not fill it" test "$lines" -le 500
done
check "O18" "nothing is left on any node" nothing_after 5 n1 n2 n3
finish
