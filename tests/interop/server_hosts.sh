# What a resource manager in C is asked and told, by its module entries and by
# events, with clients of both libraries.

. "$TROUPE_SOURCE/tests/interop/check.sh"

programs=$TROUPE_SOURCE/tests/interop/programs

# builds NAME: the program as the host, on our library, and as a client on either.
builds() {
  "${TROUPE_CC:-cc}" -std=gnu11 -Wall -Wextra -pthread \
    -I"$TROUPE_SOURCE/c_api/include" -o "$1.ours" "$programs/$1.c" \
    -L"$TROUPE_LIB" -lpmix -Wl,-rpath,"$TROUPE_LIB" \
    ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER} \
    && compile_pmix "$programs/$1.c" "$1.theirs"
}

# hosts NAME CLIENT
hosts() {
  within 60 "./$1.ours" "./$1.$2" 2>&1 | tee output
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -qx "${1/_/ }: 0 failures" output
}

for name in server_groups server_events; do
  builds "$name" || failed "" "compiling $name.c"
done
for client in ours theirs; do
  check "G7 G8 G16 G32 M1 M4 M5 126 129" \
    "a host with a group and a monitor entry, a client of $client" \
    hosts server_groups "$client"
  check "E4 E9 E38 E40 E41 E42 E43 E44 E45 E48 11 38 42 52 56" \
    "a host that takes and raises events, a client of $client" \
    hosts server_events "$client"
done
finish
