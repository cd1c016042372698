# Links that work badly, or one way: the other network takes over, and if there is
# none, jobs wait, or end with a sentence in the documented time.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"
. "$TROUPE_SOURCE/tests/netlab/shaper.sh"

need_lab "MND-X72"
need_nft "MND-X72"
compile steady stream io_bytes
limit=120
lab 3 2
need_dvm n1:4,n2:4,n3:4
all_live() { node_is_live n1 && node_is_live n2 && node_is_live n3; }

# works DESCRIPTION COMMAND...: what the command does to the networks meanwhile
# costs no byte, no fence and no event.
works() {
  local what=$1 pid size=4000000 outcome
  local -a pids=()
  shift
  rm -f stop stop.enough
  mesh_job -n 3 ./steady 100 "$TROUPE_WORK/stop" >steady.out 2>&1 &
  pids+=($!)
  mesh_job -n 3 ./stream 2500 200 >stream.out 2>&1 &
  pids+=($!)
  mesh_job -n 3 ./io_bytes write $size 2 2>io.err | ./io_bytes check $size >io.out 2>&1 &
  pids+=($!)
  sleep 0.5
  "$@"
  touch stop.enough
  outcome=
  for pid in "${pids[@]}"; do
    wait "$pid"
    outcome="$outcome $?"
  done
  check_equal "MND-X72 P-N1" "$what: fences, events, output" " 0 0 0" "$outcome"
  check_equal "MND-X72 P-J1" "$what: each event once, in order" 2 \
    "$(grep -c '2500 received, 0 lost, 0 duplicated, 0 reordered' stream.out)"
  tail -n 1 steady.out | sed 's/^/     | /'
  grep -h longest stream.out | sed 's/^/     | /'
  check "MND-X72" "$what: nobody is lost" all_live
}

# turn SECONDS BEGIN END: does it to network 1 of n2, then to network 2.
turn() {
  local net
  for net in 1 2; do
    eval "$2"
    sleep "$1"
    eval "$3"
    sleep 0.3
  done
}
works "large frames do not pass" turn 1.5 \
  'chosen n2 $net "meta length > 1200 counter drop"' 'unchosen n2 $net'
works "a third of all frames is lost" turn 1.5 \
  'chosen n2 $net "numgen random mod 3 == 0 counter drop"' 'unchosen n2 $net'
works "100 kbit/s" turn 1.5 'slowed n2 $net 100kbit' 'unslowed n2 $net'
works "n2 is not heard" turn 1.5 '"$netlab" silence n2 $net out' '"$netlab" heal n2 $net'
works "n2 does not hear" turn 1.5 '"$netlab" silence n2 $net in' '"$netlab" heal n2 $net'
dvm_down >/dev/null 2>&1

# -- one network -----------------------------------------------------------------

end_lab
lab 3 1
need_dvm n1:4,n2:4,n3:4
waits() {
  "$netlab" silence n2 1 out
  sleep 3.5
  "$netlab" heal n2 1
  sleep 2
}
works "one network, n2 is not heard for 3.5 s" waits
mesh_job -n 3 ./steady 100 "$TROUPE_WORK/never" >steady.out 2>&1 &
steady_pid=$!
sleep 1
from=$(seconds_now)
"$netlab" silence n2 1 out
wait "$steady_pid"
check_equal "MND-X72" "for ever: the job ends" 1 $?
check "MND-X72" "within 8 s" at_most "$(since "$from")" $((8 * slow))
echo "     $(since "$from") s"
check "MND-X72" "with a sentence" grep -q "node n2 was lost with 1 process" steady.out
check "MND-X72" "jobs run without it" mesh_job -n 2 true
"$netlab" heal n2 1
check "MND-X72" "its daemon ends when it hears of that" eventually 40 no_process_on n2
check "MND-X72" "down" dvm_down
check "MND-X72" "nothing is left on the others" nothing_after 5 n1 n3
finish
