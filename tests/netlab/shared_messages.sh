# A message to several nodes is stored once: two receivers cost no more memory than one.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/netlab/lab.sh"
. "$TROUPE_SOURCE/tests/netlab/dvm.sh"

need_lab "O3"
if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "O3" "memory of messages to several nodes" "sanitizers keep what is freed"
  finish
fi
compile posts_much
limit=60
lab 3 1

# peak HOSTS N FILE: writes the most memory of a fresh root that sends 12 MiB of rank 0,
# beside it, to all the others, in KiB.
peak() {
  need_dvm "$1"
  : >"$3"
  mesh_job -n "$2" ./posts_much >posts 2>&1 || { cat posts; return 1; }
  sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' \
    "/proc/$(processes n1 troupe | head -n 1)/status" >"$3"
  dvm_down >/dev/null 2>&1
}
peak n1:2,n2:2 2 one
peak n1:2,n2:2,n3:2 3 two
echo "     at most $(cat one) KiB with one receiver, $(cat two) with two"
carried() { [ "$(cat "$1")" -gt 30000 ]; }
costs_less() { carried one && carried two && [ $(($(cat two) - $(cat one))) -lt 6144 ]; }
check "O3" "12 MiB to one node" carried one
check "O3 190" "12 MiB to two nodes, the same at both" carried two
check "O3 190" "the second receiver costs less than half of the message" \
  costs_less
check "O3" "nothing is left" nothing_after 10 n1 n2 n3
finish
