# Somebody on the way between nodes: changes bytes, plays sessions back, holds
# handshakes open. Nothing is let in, nothing is lost, and others are served.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"
. "$TROUPE_SOURCE/tests/netlab/shaper.sh"

need_lab "MND-X71 X39"
need_nft "MND-X71 X39"
compile steady stream
lab 4 2
mkdir -p logs
python=/usr/bin/python3
recorders=()
for node in n1 n2; do
  background $node "$python" "$lab_programs/recorder.py" net1 "$TROUPE_WORK/said.$node" \
    >"recorder.$node" 2>&1
  recorders+=("$background_pid")
  eventually 10 grep -q ready "recorder.$node"
done
need_dvm n1:2,n2:2,n3:2 --log-directory "$TROUPE_WORK/logs" # n4 is the stranger
limit=120
mesh_job -n 3 ./steady 3 "$TROUPE_WORK/begin" >/dev/null 2>&1
touch said.n1.stop said.n2.stop
for pid in "${recorders[@]}"; do
  eventually 10 ended "$pid"
done

stranger() { on n4 "$python" "$lab_programs/strangers.py" "$@"; }
all_live() { node_is_live n1 && node_is_live n2 && node_is_live n3; }

# -- played back -----------------------------------------------------------------

# replayed FILE: what was said to a node, as its name tells, again.
replayed() {
  local line end=${1#said.n?.}
  line=$(stranger "${end%.*}" "${end##*.}" replay "$1")
  echo "$line"
  at_most "$(sed 's/closed after \([0-9.]*\) s.*/\1/' <<<"$line")" 5.5
}
count=0
for file in said.n1.10.201.0.1.* said.n2.10.201.0.3.*; do
  [ -s "$file" ] || continue
  count=$((count + 1))
  check "MND-X71 X38" "a session with ${file#said.n?.}, $(stat -c %s "$file") bytes, again" \
    replayed "$file"
done
check "MND-X71 X38" "sessions with root and daemon were recorded" test "$count" -ge 2
named() { grep -q "lane from .*:.* refused:" "$1"; }
check "MND-X71" "the root's log has the reason" named dvm.err
grep -h "refused:" dvm.err logs/* | head -n 3 | sed 's/^/     | /'

# -- half a handshake --------------------------------------------------------------

mesh_job -n 3 ./steady 60 "$TROUPE_WORK/stop" >steady.out 2>&1 &
steady_pid=$!
halves=()
for node in n1 n2; do
  address=10.201.0.${node#n}
  port=$(on $node ss -Hltn | awk '{ print $4 }' | sed -n "s/^$address://p" | head -n 1)
  stranger "$address" "$port" half 100 >"half.$node" 2>&1 &
  halves+=($!)
done
check "MND-X71" "a job runs beside 200 handshakes that stop half-way" mesh_job -n 3 true
wait "${halves[@]}"
for node in n1 n2; do
  sed 's/^/     | /' "half.$node"
  check "MND-X71" "none of them is open on $node after 10 s" \
    grep -q ' 0 open after 10 s' "half.$node"
done
touch stop.enough
wait "$steady_pid"
check_equal "MND-X71" "fences beside them" 0 $?
tail -n 1 steady.out | sed 's/^/     | /'

# -- changed ---------------------------------------------------------------------

# One byte in some of the larger frames, on one network and then on the other.
mesh_job -n 3 ./steady 14 "$TROUPE_WORK/end" >steady.out 2>&1 &
steady_pid=$!
mesh_job -n 3 ./stream 4000 100 >stream.out 2>&1 &
stream_pid=$!
sleep 1
for net in 1 2 1 2; do # A lane that was hit comes back after a moment.
  chosen n2 $net 'meta length > 200 numgen random mod 20 == 0 @th,800,8 set 0x5a counter'
  sleep 2.5
  unchosen n2 $net
  sleep 0.5
done
changed=$(were_chosen)
echo "     $changed frames were changed"
check "MND-X71 X39" "bytes were changed" test "$changed" -ge 4
wait "$steady_pid"
check_equal "MND-X71 X39" "fences and data while bytes are changed on the way" 0 $?
tail -n 1 steady.out | sed 's/^/     | /'
wait "$stream_pid"
received=$(grep -c '4000 received, 0 lost, 0 duplicated, 0 reordered' stream.out)
check_equal "MND-X71 X39" "4,000 events to two nodes: each once, in order" 2 "$received"
sed 's/^/     | /' stream.out
check "MND-X71" "nobody is lost" all_live
grep -hi "mac\|decrypt\|record" dvm.err logs/* | head -n 3 | sed 's/^/     | /'
check "MND-X71" "down" dvm_down
check "MND-X71" "nothing is left on any node" nothing_after 5 n1 n2 n3
finish
