# The functions that are declared, and those that libpmix.so.2 exports.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

sed -e '/^#/d' -e 's/ .*//' "$here/functions.txt" >public.txt
{ cat public.txt; echo PMIx_server_init_sized; } | sort >declared.txt
{ cat declared.txt; echo pmix_framework_names; } | sort >exported.txt

check_equal "C2.1 212" "there are 324 public functions" 324 "$(wc -l <public.txt)"
check_equal "C2.1 212" "the headers declare the public functions and no others" \
  "$(cat declared.txt)" \
  "$(names functions "$ours" | grep -o '\bPMIx_\w*' | sort)"

dynamic() {
  nm -D --defined-only "$1" | awk '{ print $3 }' | sort
}
check "C2.1" "the library is there" test -e "$libpmix"
check_equal "C2.1 212" "the library exports every one of them" "" \
  "$(comm -23 exported.txt <(dynamic "$libpmix"))"
check_equal "C2.1 212" "the library exports nothing else" "" \
  "$(comm -13 exported.txt <(dynamic "$libpmix"))"
check_equal "C2.1" "no public function of Debian's library is missing" "" \
  "$(comm -23 <(dynamic "$(ldconfig -p | awk '/libpmix\.so\.2 / { print $NF; exit }')" \
    | grep '^PMIx_') <(dynamic "$libpmix"))"
check_match "C2.1" "its name is libpmix.so.2" '\[libpmix\.so\.2\]' \
  "$(readelf -d "$libpmix" | grep SONAME)"
check_equal "C2.1" "its symbols have no version" "" \
  "$(readelf -V "$libpmix" | grep 'Version definition section')"

# A client loads the client's half only.
server=$(dirname "$libpmix")/libtroupe_server.so
check_equal "C2.1" "the server's half exports the way in" troupe_open_server_half \
  "$(dynamic "$server")"
check_equal "C2.1" "the client's half loads neither it nor what only servers need" "" \
  "$(ldd "$libpmix" | grep -E 'troupe_server|spdlog|fmt|sqlite|ssl|crypto')"
check_equal "C2.1" "the client's half loads hwloc, munge and zlib when they are called" "" \
  "$(readelf -d "$libpmix" | grep NEEDED | grep -E 'libhwloc|libmunge|libz\.')"
if [ -z "${TROUPE_SANITIZER:-}" ] && [ "$(uname -m)" = x86_64 ]; then
  check_equal "C2.1" "the client's half loads CAF and libevent when they are called" "" \
    "$(readelf -d "$libpmix" | grep NEEDED | grep -E 'libcaf|libevent')"
  check_equal "C2.1" "the client's half loads the C library alone" "" \
    "$(readelf -d "$libpmix" | grep NEEDED | grep -vE '\[(libc|libm|ld-linux-x86-64)\.so')"
  check_equal "C2.1" "the launcher loads OpenSSL when it is called" "" \
    "$(readelf -d "$(command -v troupe)" | grep NEEDED | grep -E 'libssl|libcrypto')"
  check_equal "C2.1" "the launcher loads SQLite, hwloc, munge and zlib when they are called" "" \
    "$(readelf -d "$(command -v troupe)" | grep NEEDED | grep -E 'libsqlite3|libhwloc|libmunge|libz\.')"
fi
if [ -z "${TROUPE_SANITIZER:-}" ]; then
  strip -o stripped.so "$libpmix"
  check "C2.1" "the client's half has 4 MB at most: $(stat -Lc %s stripped.so) bytes" \
    test "$(stat -Lc %s stripped.so)" -le 4000000
fi

# A program by its headers calls the function that knows the module's size; one
# by other headers finds the function that every release has.
printf '%s\n' '#include <pmix_server.h>' \
  'int main(void) { return PMIx_server_init(NULL, NULL, 0); }' >init.c
called() {
  cc "$@" -c -o init.o init.c && nm init.o | awk '/ U PMIx/ { print $2 }' | xargs
}
check_equal "C1.1" "a host by our headers says how long its module is" \
  "PMIx_server_init_sized" "$(called -I"$ours")"
check_equal "C1.1" "a host by Debian's headers calls PMIx_server_init" \
  "PMIx_server_init" "$(called -I"$theirs")"
check_equal "C1.1" "a host may ask for the plain function" "PMIx_server_init" \
  "$(called -I"$ours" -DPMIX_PLAIN_SERVER_INIT)"

finish
