# Values packed by Debian's library and by ours: the same bytes, and each reads
# what the other one wrote.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

debian=$(pkg-config --variable=libdir pmix)
"${TROUPE_CC:-cc}" -I"$theirs" -o crossing "$here/crossing.c" -L"$debian" -lpmix || exit 1

# with FOLDER MODE: runs it with the library in a folder.
with() {
  env -u PMIX_NAMESPACE LD_LIBRARY_PATH="$1" TMPDIR="$PWD" \
    timeout --kill-after=5 60 ./crossing "$2"
}

# one_by_one EXPECTED ACTUAL IDENTIFIER WHAT: a check for each line of a file.
one_by_one() {
  local expected actual
  while IFS= read -r expected; do
    actual=$(grep -a -m1 "^${expected%% *} " "$2" || echo "nothing")
    check_equal "$3" "$4 ${expected%% *}" "$expected" "$actual"
  done <"$1"
}

check "C2.4" "Debian's library packs" with "$debian" pack
cp "$TROUPE_WORK/output" theirs.txt
check "C2.4" "our library packs" with "$TROUPE_LIB" pack
cp "$TROUPE_WORK/output" ours.txt
check_match "C2.4" "there are values of many types" '^[5-9][0-9]$' "$(wc -l <theirs.txt)"
one_by_one theirs.txt ours.txt "C2.4" "the same bytes:"

with "$debian" unpack <theirs.txt >expected.txt || exit 1
with "$TROUPE_LIB" unpack <theirs.txt >by_us.txt
with "$debian" unpack <ours.txt >by_them.txt
one_by_one expected.txt by_us.txt "C2.4" "we read what Debian's library wrote:"
one_by_one expected.txt by_them.txt "C2.4" "Debian's library reads what we wrote:"

with "$debian" texts >expected.txt || exit 1
with "$TROUPE_LIB" texts >by_us.txt
check_equal "C2.3 C2.6" "the same texts" "$(cat expected.txt)" "$(cat by_us.txt)"

finish
