# Programs in C, one per family of calls: each compiles as C99 without a warning,
# and runs. Together they call every public function.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

# linked FAMILY: builds the program against our library.
linked() {
  "${TROUPE_CC:-cc}" -std=c99 -I"$ours" -o "$1" "$here/families/$1.c" \
    -L"$TROUPE_LIB" -lpmix \
    ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER}
}

# alone FAMILY: runs it where no server is to be found.
alone() {
  mkdir -p empty
  env -i HOME=/nonexistent PATH="$PATH" TMPDIR="$PWD/empty" \
    LD_LIBRARY_PATH="$TROUPE_LIB" timeout --kill-after=5 30 "./$1"
}

# Of each family, what its answers show besides that programs in C may ask.
for source in "$here"/families/*.c; do
  family=$(basename "$source" .c)
  case $family in
    texts) ids="C2.7" ;;
    infos) ids="C2.2 C2.7" ;;
    values | structures | devices) ids="C2.2" ;;
    names) ids="C2.3" ;;
    packing) ids="C2.5" ;;
    macros) ids="C1.5" ;;
    lifetime | server_start) ids="C3.6 C3.12" ;;
    *) ids="C3.12" ;;
  esac
  check "C7.2" "$family: compiles as C99 without a warning" compiles c c99 "$source"
  check "C7.2 C2.1" "$family: links with our library" linked "$family"
  check "C7.2 $ids" "$family: every answer is as it should be" alone "$family"
done

# Hosts that were compiled with other headers come in by the plain function.
plain() {
  "${TROUPE_CC:-cc}" -std=c99 -DPMIX_PLAIN_SERVER_INIT -I"$ours" -o plain_start \
    "$here/families/server_start.c" -L"$TROUPE_LIB" -lpmix \
    ${TROUPE_SANITIZER:+-fsanitize=$TROUPE_SANITIZER} && alone plain_start
}
check "C4.1" "server_start: by the function of all releases" plain

check_equal "C7.2" "every public function is called by one of them" "" \
  "$(comm -23 <(sed -e '/^#/d' -e 's/ .*//' "$here/functions.txt" | sort) \
    <(cat "$here"/families/*.c | grep -o '\bPMIx_\w*(' | tr -d '(' | sort -u))"

finish
