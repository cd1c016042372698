# The wall clock of all nodes is set by hours and years while jobs run over them and
# networks fail: lanes are made anew, and nobody is lost.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/interop/faked_clock.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "MND-X70"
need_faked_clock "MND-X70"
compile steady
lab 3 2
cat >faked_shell <<END
#!/bin/bash
node=\$1
shift
exec "$netlab" exec "\$node" ${faked[*]} "\$@"
END
chmod +x faked_shell
background n1 "${faked[@]}" troupe up --name lab --host n1:4,n2:4,n3:4 \
  --remote-shell "$PWD/faked_shell" >dvm.out 2>dvm.err
dvm_root=$background_pid
check "MND-X70" "a DVM" eventually 30 dvm_is_ready
mapfile -t options < <(in_faked_job)
mesh_job "${options[@]}" -n 3 ./steady 120 "$TROUPE_WORK/stop" >steady.out 2>&1 &
steady_pid=$!
all_live() { node_is_live n1 && node_is_live n2 && node_is_live n3; }
sleep 1

# again NET: that network of n2 goes and comes back.
again() {
  local yes=(1 yes 2 yes) no=(1 yes 2 yes)
  no[$1 * 2 - 1]=no
  "$netlab" cut n2 "$1"
  eventually 10 lanes_are n2 "${no[@]}" || return 1
  "$netlab" heal n2 "$1"
  eventually 20 lanes_are n2 "${yes[@]}" || { lanes_are n2 "${yes[@]}"; return 1; }
}
for where in +3h -3h +10y -10y; do
  jump "$where"
  for net in 1 2; do
    check "MND-X70" "$where: network $net goes, and lanes are made anew" again $net
  done
  check "MND-X70" "$where: all nodes are live" all_live
  check "MND-X70" "$where: a job" mesh_job "${options[@]}" -n 3 true
done
touch stop.enough
wait "$steady_pid"
check_equal "MND-X70" "fences over all of that" 0 $?
tail -n 1 steady.out | sed 's/^/     | /'
check "MND-X70" "down" dvm_down
for node in n1 n2 n3; do # What libfaketime itself leaves.
  on $node sh -c 'rm -f /dev/shm/*faketime_*'
done
check "MND-X70" "nothing is left on any node" nothing_after 5 n1 n2 n3
finish
