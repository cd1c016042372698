# What processes post and publish beyond their bounds, and what is not theirs to
# say: refused, and told to whoever waits.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

system=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH=$TROUPE_LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
build quota

# bounded SIZE COMMAND...: with a server that lets a process post so much.
bounded() {
  local size=$1
  shift
  TROUPE_POSTED_BYTES=$size job "$@"
}

check "MND-A3" "12 MB that all may see count once" \
  bounded 16M -n 2 ./quota fits 12000000
check "MND-A3" "the memory of the node gives no less than that" \
  job -n 2 ./quota fits 12000000
check "MND-A3" "a commit beyond the bound, and a get that waits for it" \
  bounded 4M -n 3 ./quota refused 12000000
check "MND-A3" "the same on another libpmix" env LD_LIBRARY_PATH="$system" \
  TROUPE_POSTED_BYTES=4M timeout 60 troupe run --oversubscribe -n 3 \
  ./quota unheard 12000000
check "MND-A3" "what no message holds is refused when it is put" \
  job -n 1 ./quota long 40000000
check "MND-A3" "256 MB as well" job -n 1 ./quota long 256000000
check "MND-A3" "40 MB in one commit" bounded 64M -n 2 ./quota parts 40 1000000
check "MND-A3 MND-A4" "12,000 keys in one commit" job -n 2 ./quota parts 12000 10
check "MND-A3" "the bound is a size" bash -c \
  "! TROUPE_POSTED_BYTES=lots troupe run -n 1 true 2>said && grep -q 64M said"
check "MND-SMALL" "published keys count, whatever they say" job -n 1 ./quota keys
check "MND-SMALL" "keys of the host are not put or published" \
  job -n 2 ./quota reserved
check "MND-SMALL" "codes of the runtime are not raised for all" \
  job -n 1 ./quota raises
clean "MND-A3" "nothing is left"
finish
