# The headers, as programs in C and C++ include them.
. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/c_api/paths.sh"

check_equal "C1.1" "these headers are there and no others" \
  "$(printf '%s\n' $headers | sort)" \
  "$(cd "$ours" && find . -name '*.h' -printf '%P\n' | sort)"

# alone HEADER LANGUAGE STANDARD
alone() {
  printf '#include <%s>\n#include <%s>\nextern int something;\n' "$1" "$1" \
    >alone.source
  compiles "$2" "$3" alone.source
}
for header in $headers; do
  check "C1.1" "$header alone in C99" alone "$header" c c99
  check "C1.1" "$header alone in C11 with GNU extensions" alone "$header" c gnu11
  check "C1.1" "$header alone in C++11" alone "$header" c++ c++11
  check "C1.1" "$header alone in C++17" alone "$header" c++ c++17
done
for header in $headers; do echo "#include <$header>"; done | tac >all.source
echo 'extern int something;' >>all.source
check "C1.1" "all headers, the last one first, in C99" compiles c c99 all.source
check "C1.1" "all headers, the last one first, in C++11" \
  compiles c++ c++11 all.source

check "C1.1" "all macros and initializers work in C++" \
  compiles c++ c++20 -Wno-missing-field-initializers "$here/families/macros.c"

check_equal "C1.1" "functions have the parameters that Debian's headers say" "" \
  "$(comm -23 <(names functions "$theirs") <(names functions "$ours"))"
check_equal "C1.1" "every macro of Debian's headers is there, or a function" \
  "PMIX_HAVE_VISIBILITY PMIx_Heartbeat" \
  "$(comm -23 <(names macros "$theirs") <(names macros "$ours") \
    | grep -v '_H$' | xargs)"

# Consumers look at these four numbers and refuse another major one.
version() {
  printf '#include <pmix_version.h>\nPMIX_%s\n' "$1" \
    | cc -E -P -I"$ours" - | tail -n 1
}
check_equal "C1.1" "the major number is that of Debian's release" "4L" \
  "$(version VERSION_MAJOR)"
check_equal "C1.1" "the numeric version agrees with its parts" \
  "$(printf '0x%04d%02d%02d' "$(version VERSION_MAJOR | tr -d L)" \
    "$(version VERSION_MINOR | tr -d L)" "$(version VERSION_RELEASE | tr -d L)")" \
  "$(version NUMERIC_VERSION)"
check "C1.1" "no capability is claimed" bash -c "! grep -rn PMIX_CAP_ '$ours'"

check "C1.3 212" "structures have the sizes and offsets of all releases" \
  compiles c c11 "$here/layout.c"
check "C1.3 212" "Debian's headers agree on those of release 4" \
  cc -std=gnu11 -DRELEASE_4 -I"$theirs" -c -o /dev/null "$here/layout.c"

# -- the example of RFC0015 ----------------------------------------------------

# Its only fault: it says SIGUSR2 and does not include <signal.h>.
sed 's/^#include <unistd.h>$/#include <signal.h>\n&/' \
  "$here/rfc0015-example.txt" >rfc0015.c
check_equal "C1.4" "one line of the example is mended" "1" \
  "$(diff "$here/rfc0015-example.txt" rfc0015.c | grep -c '^[<>]')"
check "C1.4" "the example of RFC0015 compiles without a warning" \
  cc -std=gnu99 -Wall -Werror -I"$ours" -c -o rfc0015.o rfc0015.c

finish
