# What a process of another node posted beyond its bound: its commit says so, and
# so does the get of each peer, on whatever node.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "MND-X60"
export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
compile quota
lab 2 2
limit=50

# posting SIZE CASE...: two ranks on two nodes that may post so much.
posting() {
  mesh_job -n 2 env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" ./quota "$@"
}

export TROUPE_POSTED_BYTES=64M
need_dvm n1:2,n2:2
check "MND-X60 MND-A3" "2 nodes: 12 MB fit" posting fits 12000000
check "MND-X60 MND-A3" "2 nodes: 100 MB in one commit are refused" \
  posting pieces 25600000 4
check "MND-X60 MND-A3" "2 nodes: a value that no message holds" \
  mesh_job -n 1 env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" ./quota long 256000000
dvm_down >/dev/null 2>&1

export TROUPE_POSTED_BYTES=4M
need_dvm n1:2,n2:2
check "MND-X60 MND-A3" "2 nodes: 12 MB beyond the bound: commit and get say so" \
  posting refused 12000000
check "MND-X60 MND-A3" "2 nodes: 24 MB in one value" posting refused 24000000
dvm_down >/dev/null 2>&1
check "MND-X60" "nothing is left" nothing_after 10 n1 n2
finish
