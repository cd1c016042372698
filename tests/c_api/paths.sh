# To be sourced after check.sh by the scripts of this folder.
here=$TROUPE_SOURCE/tests/c_api
ours=$TROUPE_SOURCE/c_api/include
theirs=$(pkg-config --variable=includedir pmix) # Debian's, of release 4.2.2.
headers="pmix.h pmix_common.h pmix_deprecated.h pmix_server.h pmix_tool.h
  pmix_version.h pmix/src/include/pmix_frameworks.h"
strict="-Wall -Wextra -Wshadow -Werror -pedantic"
libpmix=$TROUPE_LIB/libpmix.so.2

# compiles LANGUAGE STANDARD ARGUMENT...: without a warning, against our headers;
# by GCC, and by Clang where it is installed.
compiles() {
  local language=$1 standard=$2 compiler compilers="gcc clang"
  shift 2
  [ "$language" = c ] || compilers="g++ clang++"
  for compiler in $compilers; do
    command -v "$compiler" >/dev/null || continue
    # shellcheck disable=SC2086
    "$compiler" "-std=$standard" $strict -I"$ours" -x "$language" -c \
      -o /dev/null "$@" || return 1
  done
}

# names KIND FOLDER: see names.py.
names() {
  python3 "$here/names.py" "$@"
}
