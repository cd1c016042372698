# Output that a resource manager in C delivers through its server: kept for who
# comes later, exact, as fast as it is taken, and in bounded memory; files of it;
# and input that it gets no faster than it wants.

. "$TROUPE_SOURCE/tests/interop/check.sh"

source=$TROUPE_SOURCE/tests/interop/programs/io_host.c
cc=${TROUPE_CC:-cc}

compile_with_ours() {
  "$cc" -std=gnu11 -O1 -Wall -Wextra -pthread \
    -I"$TROUPE_SOURCE/c_api/include" -o ours "$source" -L"$TROUPE_LIB" -lpmix \
    -Wl,-rpath,"$TROUPE_LIB" ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
}
check "C4.10" "the program builds with our headers" compile_with_ours
check "C4.10" "the program builds with Debian's headers" \
  compile_pmix "$source" theirs

# delivers MODE SIZE CLIENT: at most 40 MB in the server.
delivers() {
  within 60 ./ours "$@" | tee output
  [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
  local memory
  memory=$(sed -n 's/^io host: 0 failures, \([0-9]*\) kB$/\1/p' output)
  [ -n "$memory" ] && { [ -n "${TROUPE_SANITIZER:-}" ] || [ "$memory" -lt 40000 ]; }
}
for client in ./ours ./theirs; do
  check "I8 I15 C4.10 F4.41" "what came before the first who asks, $client" \
    delivers fast 100001 "$client"
  check "I18 C4.10" "streams of a daemon in C are listed, $client" \
    delivers lists 100001 "$client"
  check "I18 C4.10 193" "20 MB to who takes them, $client" \
    delivers fast 20000000 "$client"
  check "I18 C4.10 193" "50 MB to who sleeps, $client" \
    delivers slow 50000000 "$client"
  check "I8 I11 I17 C4.10 194" "who stops in the middle holds nobody up, $client" \
    delivers stops 20000000 "$client"
  check "I9 I18 202" "a pusher is told to stop and to go on, $client" \
    delivers pushes 20000000 "$client"
done
check "I16" "output goes to a file" delivers file 5000000 "$PWD/kept"
check "I16" "output goes to a directory" \
  delivers directory 5000000 "$PWD/below"
finish
