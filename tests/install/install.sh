# The installed tree: its layout, and a project that uses both libraries by
# CMake packages and by pkg-config. Installs into a directory of its own.
. "$TROUPE_SOURCE/tests/interop/check.sh"

prefix=$TROUPE_WORK/prefix
examples=$TROUPE_SOURCE/examples
check "C5.3" "cmake --install" \
  cmake --install "$TROUPE_BUILD" --prefix "$prefix"
lib=$(dirname "$(find "$prefix" -name libtroupe.a)")
pmix=$lib/troupe/pmix

# -- layout --------------------------------------------------------------------

there() {
  local x
  for x in "$@"; do
    [ -e "$x" ] || { echo "there is no $x"; return 1; }
  done
}
check "C5.3" "libpmix has a prefix of its own" there \
  "$pmix"/lib/libpmix.so{,.2} "$pmix"/lib/pkgconfig/pmix.pc \
  "$pmix"/lib/cmake/PMIx/PMIxConfig.cmake \
  "$pmix"/include/pmix{,_common,_deprecated,_server,_tool,_version}.h
check "C5.3" "the C++ library stands in the prefix itself" there \
  "$lib"/libtroupe.a "$lib"/pkgconfig/troupe.pc \
  "$prefix"/include/troupe/troupe_monitor.h \
  "$lib"/cmake/Troupe/{TroupeConfig,FindCAF}.cmake "$prefix"/bin/troupe
check_equal "C5.3" "no libpmix where a distribution's is" "" \
  "$(find "$lib" -maxdepth 1 -name 'libpmix*')"
check_equal "C5.3" "no path of the build in what was installed" "" \
  "$(grep -rlF "$TROUPE_BUILD" "$lib"/pkgconfig "$lib"/cmake "$pmix"/lib/pkgconfig \
    "$pmix"/lib/cmake)"

# -- CMake packages ------------------------------------------------------------

# The tree is moved first: nothing in it may know where it was put.
moved=$TROUPE_WORK/moved
mv "$prefix" "$moved"
lib=$moved${lib#"$prefix"}
pmix=$lib/troupe/pmix
check "C5.3" "a project finds both CMake packages" \
  within 120 cmake -S "$TROUPE_SOURCE/tests/install/project" -B project \
  -DCMAKE_PREFIX_PATH="$moved;$pmix" -DEXAMPLES="$examples" \
  -DCMAKE_BUILD_TYPE=Debug
check "C5.3" "and builds with them" within 400 cmake --build project
check_match "C5.3" "its C programs use our library" "$pmix/lib/libpmix.so.2" \
  "$(ldd project/embed_rm_c)"

# serves DAEMON CLIENT: the daemon's two processes find each other.
serves() {
  within 60 "$1" "$2" | tee serves
  grep -q '^pmix fence brought 2 of 2 values, event received$' serves \
    && grep -q '^served 2 processes, 0 failed$' serves
}
check "C5.3 C5.1" "C++ daemon, installed client library" \
  serves project/embed_rm_cpp project/pmix_hello
check "C5.3 C5.2" "C daemon, installed client library" \
  serves project/embed_rm_c project/pmix_hello

# -- pkg-config ----------------------------------------------------------------

export PKG_CONFIG_PATH=$lib/pkgconfig:$pmix/lib/pkgconfig
check "C5.3" "pkg-config builds the C++ example" bash -c \
  "c++ -std=c++17 -o rm_cpp $examples/embed_rm.cpp \$(pkg-config --cflags --libs troupe)"
check "C5.3" "pkg-config builds the C example" bash -c \
  "cc -Wall -o rm_c $examples/embed_rm.c \$(pkg-config --cflags --libs pmix)"
check_match "C5.3" "pkg-config names ours, not the system's" "$pmix" \
  "$(pkg-config --cflags pmix)"
check "C5.3 C5.1" "what pkg-config built in C++ serves" \
  serves ./rm_cpp project/pmix_hello
check "C5.3 C5.2" "what pkg-config built in C serves" \
  env LD_LIBRARY_PATH="$pmix/lib" "$BASH" -c "$(declare -f within serves); serves ./rm_c project/pmix_hello"

finish
