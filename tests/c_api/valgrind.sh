# Memory of clients and servers, watched by valgrind.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

if [ -n "${TROUPE_SANITIZER:-}" ]; then
  skip "C7.3" "memory under valgrind" "a sanitizer watches it instead"
  finish
fi
if ! command -v valgrind >/dev/null; then
  failed "C7.3" "valgrind is installed (scripts/setup)"
  finish
fi
export LD_LIBRARY_PATH=$TROUPE_LIB
limit=120

for program in client server; do
  "${TROUPE_CC:-cc}" -std=gnu11 -g -O1 -Wall -DPMIX_PLAIN_SERVER_INIT -I"$ours" \
    -o "$program" "$here/memory/$program.c" -L"$TROUPE_LIB" -lpmix \
    || { failed "C7.3" "compiling $program.c"; finish; }
done
# A mistake that has to be found, lest the checks below say nothing.
cat >wrong.c <<'C'
#include <pmix.h>
#include <stdlib.h>
int main(void) {
  return PMIx_Argv_join(NULL, ',') == NULL || malloc(4) == NULL;
}
C
"${TROUPE_CC:-cc}" -std=gnu11 -g -O0 -w -I"$ours" -o wrong wrong.c \
  -L"$TROUPE_LIB" -lpmix || { failed "C7.3" "compiling wrong.c"; finish; }

# What the C library's loader keeps of a library that it has loaded is not ours.
cat >loader.supp <<'S'
{
   loader
   Memcheck:Leak
   ...
   fun:_dl_map_object_deps
   ...
   fun:dlopen_implementation
}
S

# Its status is 99 if valgrind finds an error or a leak. In a program in C the client's
# half allocates by malloc what CAF gives back by operator delete, which is the same to
# both (c_api/halves/own_cxx.cpp); cxx.sh runs programs to which it is not.
watch=(valgrind --quiet --error-exitcode=99 --leak-check=full --show-mismatched-frees=no
  --errors-for-leak-kinds=definite --show-leak-kinds=definite --num-callers=20
  "--suppressions=$PWD/loader.supp")

# found WANTED COMMAND...: it ends well and says so.
found() {
  local wanted=$1
  shift
  "$@" 2>&1 | tee said
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -q "$wanted" said
}

check "C7.3" "valgrind finds a leak that is there" status 99 "${watch[@]}" ./wrong
check "C7.3" "two clients" \
  found 'memory: 2 clients' job -n 2 "${watch[@]}" ./client publish
check "C7.3" "a server and its two clients" \
  found 'memory: served 2 processes, 0 failed' \
  within "$limit" "${watch[@]}" ./server ./client publish

clean "C7.3" "nothing is left"
finish
