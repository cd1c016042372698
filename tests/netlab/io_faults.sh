# Faults around streams over nodes: daemons that are stopped or killed, networks
# of which none is left for a moment, ways through others.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "I6 I9 I18 IO-1 IO-3 IO-4"
compile io_bytes
limit=90
size=104857600
lab 4 2
need_dvm n1:4,n2:4,n3:4,n4:4

at_least() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }

# -- no network for a moment ---------------------------------------------------

cat >both.sh <<'END'
# Reads its input and writes as much, at the same time.
[ "$PMIX_RANK" = 2 ] || exit 0
exec 4<&0
./io_bytes check "$1" <&4 >&2 &
./io_bytes write "$1"
wait $!
END
# both COMMAND...: bytes go to and fro between n1 and n3 while COMMAND runs.
both() {
  ./io_bytes write $size | mesh_job -n 3 --stdin 2 sh both.sh $size 2>report \
    | ./io_bytes check $size >out &
  local pipeline=$!
  sleep 0.7
  "$@"
  wait $pipeline
  cat out report
  grep -qx "$size bytes of $size, exact" out \
    && grep -qx "$size bytes of $size, exact" report
}
one_by_one() {
  "$netlab" cut n3 1
  sleep 0.5
  "$netlab" cut n3 2
  sleep 1.5
  "$netlab" heal n3 1
  sleep 0.3
  "$netlab" heal n3 2
}
silent() {
  "$netlab" silence n3 all
  sleep 2
  "$netlab" heal n3 all
}
check "I9 IO-1 IO-3 P-N1" "to and fro: one network, then none, then both" \
  both one_by_one
check "I9 IO-1 IO-3 P-N1" "to and fro: silence of both networks" both silent

# -- daemons -------------------------------------------------------------------

# write_at N SIZE: the Nth process writes into `out`; goes on once it has begun.
write_at() {
  rm -f out
  mesh_job -n 4 ./io_bytes write "$2" $(($1 - 1)) >out 2>err &
  job_pid=$!
  eventually 20 at_least out 1000000 && return
  cat err
  return 1
}
stopped() {
  local pid
  write_at 3 $size || return 1
  for pid in $(daemon n3) "$(processes n1 troupe | head -n 1)"; do
    kill -STOP "$pid"
    sleep 2
    kill -CONT "$pid"
  done
  wait $job_pid || { cat err; return 1; }
  ./io_bytes check $size <out
}
check "I18 IO-1 192" "the daemon of a writer and the root are stopped for 2 s" \
  stopped
# More than there is time for.
endless=1000000000000
# prefix: what has come of a stream is its begin.
prefix() { ./io_bytes check "$(stat -c %s out)" <out; }
killed() {
  write_at 4 $endless || return 1
  kill -9 "$(daemon n4)"
  wait $job_pid
  local outcome=$?
  cat err
  [ $outcome -ne 0 ] && [ $outcome -ne 124 ] && grep -q 'n4 was lost' err && prefix
}
check "IO-1 IO-3" "the daemon of a writer is killed: its stream ends where it is" \
  killed

# -- ways through others -------------------------------------------------------

relayed() {
  "$netlab" cut n1 2
  "$netlab" cut n3 1
  sleep 1
  mesh_job -n 3 ./io_bytes write 10485760 2 2>err | ./io_bytes check 10485760
  local outcome=${PIPESTATUS[*]}
  cat err
  "$netlab" heal n1 2
  "$netlab" heal n3 1
  [ "$outcome" = "0 0" ]
}
check "IO-1 P-N1" "a node and its root have no network in common" relayed

# -- the root ------------------------------------------------------------------

root_killed() {
  local root
  write_at 3 $endless || return 1
  root=$(processes n1 troupe | head -n 1)
  kill -9 "$root"
  wait $job_pid
  local outcome=$?
  cat err
  [ $outcome = 1 ] && [ "$(wc -l <err)" = 1 ] && prefix \
    && eventually 40 no_process_on n1 n2 n3
}
check "IO-1 I17" "the root is killed: what has come is exact, and nothing runs on" \
  root_killed
finish
