# The binary interfaces against those of the last release: scripts/abi.
. "$TROUPE_SOURCE/tests/interop/check.sh"

abi=$TROUPE_SOURCE/scripts/abi
check "PKG-7" "the interfaces are those of the last release, if there is one" \
  within 300 "$abi"

# Trees with what it looks at, to be changed.
tree() {
  local to=$TROUPE_WORK/$1
  rm -rf "$to"
  mkdir -p "$to"
  (cd "$TROUPE_SOURCE" && grep '^[^#]' runtime/api_headers.txt \
    | tar --create --files-from=- VERSION runtime/api_headers.txt c_api/include) \
    | tar --extract --directory "$to"
}
tree old
tree new
echo 1.2.3 | tee old/VERSION >new/VERSION
check "PKG-7" "the same is the same" within 120 "$abi" old new

# after SED FILE: the new tree with a change.
after() {
  tree new
  echo "${version:-1.2.4}" >new/VERSION
  sed -i "$1" "new/$2"
  ! cmp -s "old/$2" "new/$2" || { echo "$2 has not changed"; return 1; }
  within 120 "$abi" old new 2>&1
}
header=messages/value.hpp
check_match "PKG-7" "a narrower member of a type of C is noticed" 'maxprocs' \
  "$(after 's/int maxprocs;/short maxprocs;/' c_api/include/pmix_common.h)"
check_match "PKG-7" "a function that has gone" 'lacks a type or a function' \
  "$(after 's/PMIx_Abort/PMIx_Abort_no_more/' c_api/include/pmix.h)"
check_match "PKG-7" "a new function is none" '^abi: it is that of 1.2.3$' \
  "$(after '$i pmix_status_t PMIx_New_function(int x);' c_api/include/pmix_common.h)"
check_match "PKG-7" "a change of a header of C++" "$header is not what it was" \
  "$(after '0,/^struct /s//struct stranger {};\nstruct /' "$header")"
check_match "PKG-7" "a comment is none" '^abi: it is that of 1.2.3$' \
  "$(after '$a // A comment.' "$header")"
check_match "PKG-7" "the next minor version may have it" 'another library than that of 1.2.3' \
  "$(version=1.3.0 after '0,/^struct /s//struct stranger {};\nstruct /' "$header")"
finish
