# What a resource manager in C may ask of its server, as real clients see it.

. "$TROUPE_SOURCE/tests/interop/check.sh"

programs=$TROUPE_SOURCE/tests/interop/programs
source=$programs/server_functions.c
cc=${TROUPE_CC:-cc}

# compile_with_ours NAME [PROGRAM]: builds a program of ours.
compile_with_ours() {
  "$cc" -std=gnu11 -Wall -Wextra -pthread -I"$TROUPE_SOURCE/c_api/include" \
    -DTROUPE_REASONS -o "${2:-$1}" "$programs/$1.c" -L"$TROUPE_LIB" -lpmix \
    -Wl,-rpath,"$TROUPE_LIB" ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
}
check "C4.1" "the program builds with our headers" \
  compile_with_ours server_functions ours
check "C4.1" "the program builds with Debian's headers" \
  compile_pmix "$source" theirs


# Servers of one node that want the same files.
check "C4.6" "servers of a node build" compile_with_ours server_files
mkdir files
check "C4.6 C3.13" "two servers of a node start, one has the files" \
  within 60 ./server_files "$PWD/files"

serves() {
  within 60 "$@" | tee output
  [ "${PIPESTATUS[0]}" -eq 0 ] \
    && grep -qx 'server functions: 0 failures' output
}
ids="C4.1 C4.2 C4.3 C4.5 C4.6 C4.7 C4.8 C4.9 C4.10 F4.42"
check "$ids" "our server, our clients" serves ./ours ./ours
check "$ids" "our server, Debian's clients" serves ./ours ./theirs
check "$ids" "our library in a server of Debian's headers" \
  serves env LD_LIBRARY_PATH="$TROUPE_LIB" ./theirs ./theirs
for i in 1 2 3 4 5; do
  check "C4.3" "once more, in another order of events ($i)" serves ./ours ./ours
done

# Job control and monitoring, at hosts with their entries and without.
check "J22" "server_control builds with our headers" \
  compile_with_ours server_control control
check "J22" "server_control builds with Debian's headers" \
  compile_pmix "$programs/server_control.c" their_control
controls() {
  touch "$PWD/leftover"
  within 60 ./control "$1" "$PWD/leftover" "$2" | tee output
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -qx 'server control: 0 failures' output
}
for client in ./control ./their_control; do
  check "J2 J4 J22 J23 J24 J30 J31 J35 M5 M7 86 87 91 117" \
    "a host that controls, $client" controls host "$client"
  check "J30 J35 M7 117" "a host without entries, $client" \
    controls none "$client"
  check "M7 117" "a server that monitors by itself, $client" \
    controls monitors "$client"
done
finish
