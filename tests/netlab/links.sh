# Networks fail one after another under a stream of fences, data and MPI
# messages: the job ends with success, and the longest pauses are printed.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "P-N1 O2 O4 O14 L1 L5"
compile steady mpi_steady
lab 3 3
need_dvm n1:4,n2:4,n3:4 --networks net1,net2
limit=300

# MPI's own connections are on the third network, which does not fail: what
# happens to MPI's messages is not our matter (O6).
mpi_options=(-x OMPI_MCA_pml=ob1 -x OMPI_MCA_btl=tcp,self
  -x OMPI_MCA_btl_tcp_if_include=net3)

seconds=75
mesh_job -n 3 ./steady $seconds "$TROUPE_WORK/stop" >"$TROUPE_WORK/steady.out" 2>&1 &
steady_pid=$!
mesh_job -n 3 "${mpi_options[@]}" ./mpi_steady $((seconds - 5)) \
  >"$TROUPE_WORK/mpi" 2>&1 &
mpi_pid=$!
sleep 4

# longest FROM TO: the longest pause of the fences between two times, in ms.
longest() {
  awk -v from="$1" -v to="$2" '
    /^pause/ { begin = $5 - $2 / 1000
               if ($5 >= from && begin <= to && $2 > most) most = $2 }
    END { print most + 0 }' "$TROUPE_WORK/steady.out"
}

# broken DESCRIPTION LIMIT_MS FAULT NODE NET [ARGUMENT]: does something to a
# network for four seconds, takes it back, and looks at the pause.
broken() {
  local what=$1 most=$2 from mine
  shift 2
  from=$(seconds_now)
  check "O4 L1" "$what" "$netlab" "$@"
  sleep 4
  in_dvm net >"$TROUPE_WORK/net" 2>&1
  "$netlab" heal "$2" "$3"
  mine=$(longest "$from" "$(seconds_now)")
  echo "     $what: longest pause $mine ms"
  check "P-N1 O2 O14" "$what: no pause longer than $most ms" at_most "$mine" "$most"
  check "L1 L5" "$what: nobody is lost" all_live
  sleep 2
}
all_live() { node_is_live n1 && node_is_live n2 && node_is_live n3; }

# An end whose kernel reports moves at once and tells the other ends, which hear
# nothing from theirs: 50 ms, and what two processors with two jobs besides and
# other tests add to it. Silence takes T_path, 1 s, for either end.
broken "network 1 of n2 goes down" 400 cut n2 1
broken "network 2 of n2 goes down" 400 cut n2 2
broken "network 1 of the root goes down" 400 cut n1 1
broken "the carrier of network 1 of n3 goes" 400 unplug n3 1
broken "network 1 of n2 is silent" 2500 silence n2 1
broken "network 2 of n2 is silent one way" 2500 silence n2 2 out
broken "an address of n2 is removed" 400 address-del n2 1
broken "connections of network 1 of n3 are reset" 400 reset n3 1
broken "connections of network 2 of n3 are reset" 400 reset n3 2

wait $steady_pid
check_equal "P-N1 L7" "fences and data over all of that" 0 $?
wait $mpi_pid
check_equal "P-N1 O6" "an Open MPI ring over all of that" 0 $?
tail -n 1 "$TROUPE_WORK/steady.out" "$TROUPE_WORK/mpi" | sed 's/^/     | /'

# What is cut shows, and comes back; nobody runs anything or asks for it.
check "O1 O4" "both networks carry lanes to n2" eventually 10 lanes_are n2 1 yes 2 yes
"$netlab" cut n2 1
check "O4" "the net shows what is cut" eventually 5 lanes_are n2 1 no 2 yes
"$netlab" heal n2 1
check "O1 O4" "and what came back" eventually 10 lanes_are n2 1 yes 2 yes
"$netlab" silence n3 2
check "O4" "the net shows what is silent" eventually 5 lanes_are n3 1 yes 2 no
"$netlab" heal n3 2
check "O4" "and what is heard again" eventually 10 lanes_are n3 1 yes 2 yes

# All networks of a node for less than the limit.
mesh_job -n 3 ./steady 8 "$TROUPE_WORK/stop2" >"$TROUPE_WORK/steady.out" 2>&1 &
steady_pid=$!
sleep 2
"$netlab" cut n3 1; "$netlab" cut n3 2
sleep 2.5
"$netlab" heal n3 1; "$netlab" heal n3 2
wait $steady_pid
check_equal "L5 P-M1" "all networks of a node, for less than the limit" 0 $?
tail -n 1 "$TROUPE_WORK/steady.out" | sed 's/^/     | /'
check "L5" "nobody is lost" all_live

# MPI and the DVM on the same two networks: the unused one goes.
check "O4 O6" "Open MPI while the other network is cut" sh -c '
  "$1" exec n1 troupe run --dvm lab --map-by node -n 3 \
    -x OMPI_MCA_pml=ob1 -x OMPI_MCA_btl=tcp,self \
    -x OMPI_MCA_btl_tcp_if_include=net2 ./mpi_steady 8 & pid=$!
  sleep 2; "$1" cut n2 1; sleep 2; "$1" heal n2 1; "$1" cut n3 1; sleep 2
  "$1" heal n3 1; wait $pid' - "$netlab"

check "O18" "down" dvm_down
check "O18" "nothing is left on any node" nothing_after 5 n1 n2 n3

# -- other networks ------------------------------------------------------------

end_lab
lab 3 2 --routed --virtual
need_dvm n1:2,n2:2,n3:2
check "L6 O10" "nodes behind gateways" mesh_job -n 3 true
check_equal "L6" "a bridge that all have alike is not used" "" \
  "$(in_dvm net | grep -F 192.168.122)"
check "L6 P-N1" "a gateway goes" "$netlab" silence n2 1
check "L6 P-N1" "and the others go on" mesh_job -n 3 true
"$netlab" heal n2 1
check "O18" "down" dvm_down

end_lab
lab 3 2
for node in n1 n2 n3; do # IPv6 alone
  for j in 1 2; do
    ip -n "$TROUPE_LAB-${node#n}" -4 address flush dev net$j
  done
done
check "L2 O9" "a DVM on IPv6 alone" dvm_up n1:2,n2:2,n3:2
check "L2" "a job" mesh_job -n 3 true
dvm_down >/dev/null 2>&1

end_lab
lab 3 2
# n2 is only on network 1, n3 only on network 2; the root is on both.
"$netlab" cut n2 2
"$netlab" cut n3 1
check "O11 O12" "a DVM of nodes without a common network" dvm_up n1:2,n2:2,n3:2
check "O11 O12" "a job over them" mesh_job -n 3 ./steady 3 "$TROUPE_WORK/stop3"
dvm_down >/dev/null 2>&1
finish
