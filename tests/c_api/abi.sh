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
headers_of() {
  printf '#include <%s.h>\n' pmix pmix_server pmix_tool
}
python3 - >uses.c <<PROGRAM
import re, subprocess
text = subprocess.run(["cc", "-E", "-P", "-I$theirs", "-"], text=True, check=True,
    input="""$(headers_of)""", stdout=subprocess.PIPE).stdout
types = set(re.findall(r"typedef\b[^;{}()]*\b(pmix_\w+)(?:\[\d+\])?;", text))
types |= set(re.findall(r"typedef\b[^;{}]*\(\s*\*\s*(pmix_\w+)\)", text))
types |= set(re.findall(r"}\s*(pmix_\w+)\s*;", text))
print("""$(headers_of)""")
for x in sorted(types):
    print(f"{x}* use_{x}({x}* x);\n{x}* use_{x}({x}* x) {{ return x; }}")
for x in open("functions.txt").read().split():
    if re.search(rf"\b{x}\s*\(", text):
        print(f"__typeof__(&{x}) use_{x} = &{x};")
PROGRAM
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
