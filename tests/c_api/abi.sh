# Debian's library against ours, as programs are linked and as they see types.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

if ! command -v abidiff >/dev/null; then
  failed "C7.1" "abidiff is installed (scripts/setup)"
  finish
fi
debian=$(ldconfig -p | awk '/libpmix\.so\.2 / { print $NF; exit }')
public() {
  nm -D --defined-only "$1" | awk '$2 ~ /^[TW]$/ && $3 ~ /^PMIx_/ { print $3 }' \
    | sort
}

public "$debian" >functions.txt
check "C7.1" "Debian's library exports public functions" \
  test "$(wc -l <functions.txt)" -ge 100
check_equal "C7.1" "ours exports all of them" "" \
  "$(comm -23 functions.txt <(public "$libpmix"))"

# Every public type and function of Debian's headers, used by functions and
# variables that are compared. Their debug information says what they are.
python3 "$TROUPE_SOURCE/scripts/abi_uses.py" "$theirs" functions.txt >uses.c
check "C7.1" "public types are found" \
  test "$(grep -c '^pmix_.*;$' uses.c)" -ge 80
check "C7.1" "public functions are declared" \
  test "$(grep -c '^__typeof__' uses.c)" -ge 100

uses() {
  cc -std=gnu11 -g -O0 -fPIC -shared -w -DPMIX_PLAIN_SERVER_INIT -I"$1" \
    -o "$2" uses.c
}
check "C7.1" "they compile by Debian's headers" uses "$theirs" theirs.so
check "C7.1" "they compile by ours" uses "$ours" ours.so

# What was added after release 4.2.2: entries at the end of the server's module,
# and enumerators.
cat >additions <<'SUPPRESSIONS'
[suppress_type]
  type_kind = struct
  name_regexp = ^pmix_server_module.*
  has_data_member_inserted_at = end
SUPPRESSIONS
differences() {
  abidiff --no-unreferenced-symbols --suppressions additions "$@"
}
check "C7.1" "types and functions are Debian's, but for additions" \
  differences theirs.so ours.so

# It would find a difference: a member that is narrower, and one that is missing.
mkdir -p other
cp -r "$theirs"/. other
sed -i 's/\(int\) maxprocs;/short maxprocs;/' other/pmix_common.h
check "C7.1" "one member of another type" uses other other.so
check_match "C7.1" "is reported" 'maxprocs' "$(differences theirs.so other.so)"

finish
