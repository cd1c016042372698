# A daemon of a DVM that nobody launched is killed and started again, as a service
# manager does: what is lost, what goes on, and that it is a node again.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "MND-X62"
compile steady
lab 3 2
cat >nodes.conf <<END_OF_FILE
ClusterName=$dvm_name
DVMControllerHost=n1
DVMNodes=n[1-3]
DVMPort=7817
AuthorityFile=$TROUPE_WORK/authority
END_OF_FILE
troupe authority --name "$dvm_name" authority >/dev/null
start_daemon() {
  background "$1" trouped --bootstrap "$TROUPE_WORK/nodes.conf" --node "$1" \
    >>"$TROUPE_WORK/$1.out" 2>&1
}
all_live() { [ "$(in_dvm nodes | grep -cw live)" -eq 3 ]; }
for node in n1 n2 n3; do
  start_daemon $node
done
check "MND-X62" "a DVM that nobody launched" eventually 40 all_live

in_dvm run --host n1,n2 --map-by node -n 2 ./steady 12 "$TROUPE_WORK/stop" >steady.out 2>&1 &
steady_pid=$!
in_dvm run --host n2,n3 --map-by node -n 2 sleep 300 >sleeps.out 2>&1 &
sleeps_pid=$!
sleeps() { [ -n "$(processes n3 sleep)" ]; }
check "MND-X62" "jobs run" eventually 20 sleeps

kill -9 "$(daemon n3)"
check "MND-X62" "a daemon is killed: its node is lost" eventually 15 node_is_lost n3
check "MND-X62" "a job with a process there ends" eventually 15 ended $sleeps_pid
check_match "MND-X62" "and names the node" 'n3 was lost' "$(cat sleeps.out)"
check "MND-X62" "no process of the killed daemon stays" \
  eventually 10 no_process_on n3
start_daemon n3
# A node takes no work before the lease of its former life is over.
check "MND-X62" "started again it is a node again" eventually 60 node_is_live n3
check_equal "MND-X62" "and takes work" n3 "$(in_dvm run --host n3 -n 1 hostname)"
check "MND-X62" "nothing of the former life is there" test \
  "$(on n3 find "/run/$TROUPE_LAB/n3/tmp" -mindepth 2 -maxdepth 2 | wc -l)" -eq \
  "$(on n2 find "/run/$TROUPE_LAB/n2/tmp" -mindepth 2 -maxdepth 2 | wc -l)"
wait "$steady_pid"
check_equal "MND-X62" "a job of the other nodes has gone on" 0 "$?"
tail -n 1 steady.out
check "MND-X62" "down ends it" in_dvm down
check "MND-X62" "nothing is left" nothing_after 20 n1 n2 n3
finish
