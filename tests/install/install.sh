# The installed tree: its layout, its headers, the examples as they stand there,
# and a project that uses both libraries by CMake packages and by pkg-config.
# Installs, stripped, into a directory of its own.
. "$TROUPE_SOURCE/tests/interop/check.sh"

# What has not changed since it was compiled the last time is what it was.
if [ -d /usr/lib/ccache ]; then
  PATH=/usr/lib/ccache:$PATH
  export CCACHE_BASEDIR=$TROUPE_WORK CCACHE_NOHASHDIR=1
fi

prefix=$TROUPE_WORK/prefix
check "C5.3 PKG-4" "cmake --install --strip" \
  cmake --install "$TROUPE_BUILD" --prefix "$prefix" --strip
lib=$(dirname "$(find "$prefix" -name libtroupe.so)")
pmix=$lib/troupe/pmix
include=$prefix/include/troupe
doc=$prefix/share/doc/troupe

# -- layout --------------------------------------------------------------------

there() {
  local x
  for x in "$@"; do
    [ -e "$x" ] || { echo "there is no $x"; return 1; }
  done
}
check "C5.3" "libpmix has a prefix of its own" there \
  "$pmix"/lib/libpmix.so{,.2} "$pmix"/lib/libtroupe_server.so "$pmix"/lib/pkgconfig/pmix.pc \
  "$pmix"/lib/cmake/PMIx/PMIxConfig.cmake \
  "$pmix"/include/pmix{,_common,_deprecated,_server,_tool,_version}.h
check "C5.3" "the C++ library stands in the prefix itself" there \
  "$lib"/libtroupe{,_mesh}.so "$lib"/pkgconfig/troupe{,_mesh}.pc "$include"/troupe_monitor.h \
  "$lib"/cmake/Troupe/{TroupeConfig,FindCAF}.cmake "$prefix"/bin/troupe{,d,-page}
check "PKG-5" "examples, docs, licence and README are there" there \
  "$doc"/{LICENSE,README.md,CHANGELOG.md,docs/library.md} \
  "$doc"/examples/{embed_rm.c,embed_rm.cpp,CMakeLists.txt}
# shellcheck disable=SC2016
check "PKG-5" "pages lead to what is there" bash -c '
  cd "$1" && find . -name "*.md" -print0 | sort -z \
    | xargs -0 /usr/bin/python3 "$TROUPE_SOURCE/tests/docs/links.py"' - "$doc"
check "OBS-5" "rules, a dashboard, and what writes metrics are there" there \
  "$prefix"/share/troupe/{prometheus/troupe_alerts.yml,grafana/troupe.json} \
  "$lib"/troupe/libtroupe_metrics.so
check "MAN-1 MAN-3" "manual pages and completion are there" there \
  "$prefix"/share/man/man1/troupe{,-run,-ctl}.1 "$prefix"/share/man/man5/troupe.toml.5 \
  "$prefix"/share/man/man8/trouped.8 "$prefix"/share/man/man3/libtroupe.3 \
  "$prefix"/share/bash-completion/completions/troupe{,d} \
  "$prefix"/share/zsh/site-functions/_troupe
check_equal "C5.3" "no libpmix where a distribution's is" "" \
  "$(find "$lib" -maxdepth 1 -name 'libpmix*')"
# Units name programs by their paths, which here are in the build.
check_equal "C5.3" "no path of the build in what was installed" "" \
  "$(grep -rlF --exclude='*.service' -e "$TROUPE_BUILD" -e "$TROUPE_SOURCE" "$prefix")"
units=$prefix/lib/systemd/system
check_equal "PKG-11" "units start the installed programs" \
  "ExecStart=$prefix/bin/troupe ExecStart=$prefix/bin/trouped" \
  "$(grep -oh '^ExecStart=[^ ]*' "$units"/troupe-root@.service "$units"/trouped@.service | xargs)"
check_equal "PKG-11" "and have nothing that was to be filled in" "" \
  "$(grep -E '@[A-Z_]+@' "$units"/*.service "$prefix/share/modules/modulefiles/troupe-pmix")"

binaries=("$prefix"/bin/troupe{,d,-page} "$(realpath "$lib/libtroupe.so")"
  "$(realpath "$lib/libtroupe_mesh.so")"
  "$(realpath "$pmix/lib/libpmix.so.2")" "$(realpath "$lib/troupe/mesh/libpmix.so.2")"
  "$lib"/troupe/{pmix/lib,mesh}/libtroupe_server.so)
check_equal "PKG-4" "programs and libraries are stripped" "" \
  "$(for x in "${binaries[@]}"; do
    readelf -WS "$x" | grep -qE '\.symtab|\.debug_' && echo "$x"
  done)"
echo "sizes: $(du -b "${binaries[@]}" | sed "s|$prefix/||" | tr '\n\t' '; ')"

# -- headers -------------------------------------------------------------------

for_people=(actors/mesh/partial_host.hpp adapters/loop/loop_system.hpp base/monitor_kind.hpp
  messages/attributes.hpp runtime/{runtime,foreign_system,job_networks,mesh_keys,mesh_member,remoting}.hpp
  runtime/{placed_job,local_processes,node_fences,mesh_daemon,daemon_start}.hpp)
listed=$(sed '/^#/d' "$TROUPE_SOURCE/runtime/api_headers.txt" | sort)
check_equal "PKG-3" "the headers of runtime/api_headers.txt and no others are installed" \
  "$(printf '%s\n' "$listed" troupe_monitor.h | sort)" \
  "$(cd "$include" && find . -type f | sed 's|^\./||' | sort)"
# Whoever adds an include to a header of the API makes another one public: it
# belongs into the list, or the include elsewhere.
check_equal "PKG-3" "the list is what the headers for people include" "$listed" \
  "$(cd "$include" && printf '#include <%s>\n' "${for_people[@]}" \
    | c++ -std=c++17 -DCAF_ENABLE_TYPE_ID_CHECKS -I. -MM -x c++ - \
    | tr -s ' \\' '\n' | grep -E '\.(hpp|def)$' | sort)"

check_equal "PKG-3" "headers that those for people name are installed" "" \
  "$(cd "$include" && grep -ohE '\<(actors|adapters|base|config|messages|runtime)/[a-z_/]+\.hpp' "${for_people[@]}" | sort -u \
    | while read -r x; do [ -e "$x" ] || echo "$x"; done)"

# stands_alone HEADER: compiles by itself.
stands_alone() {
  case $1 in
    # Tables, which are included with a macro; and a part of messages/actors.hpp.
    *.def | messages/inspect_extern.hpp) return 0 ;;
    *.h) echo "#include <$1>" | cc -std=c99 -Wall -Wextra -Wpedantic -Werror \
      -fsyntax-only -I"$include" -x c - && return 0 ;;
    *.hpp) echo "#include <$1>" >"$alone/${1//\//.}.cpp"
      c++ -std=c++17 -Wall -Werror -DCAF_ENABLE_TYPE_ID_CHECKS -I"$include" \
        -c "$alone/${1//\//.}.cpp" -o "$alone/${1//\//.}.o" && return 0 ;;
  esac
  echo "$1 does not compile by itself"
  return 1
}
export -f stands_alone
alone=$TROUPE_WORK/alone
mkdir "$alone"
export include alone
check "PKG-3" "each installed header compiles by itself" within 900 bash -c '
  cd "$include" && find . -type f | sed "s|^\./||" \
    | xargs -P "$(nproc)" -I{} bash -c "stands_alone {}"'

check "C12.3" "their pages are made without a warning" \
  within 120 cmake --build "$TROUPE_BUILD" --target docs

# -- the shared library --------------------------------------------------------

check_match "PKG-2" "libtroupe.so has a name of its minor version" \
  'SONAME.*\[libtroupe\.so\.[0-9]+\.[0-9]+\]' "$(readelf -Wd "$lib/libtroupe.so")"
# Not demangled: some names are too long for that.
exported=$(nm -D --defined-only "$lib/libtroupe.so" | sed 's/^[0-9a-f]* . //')
check_match "PKG-2" "it exports the API" '^_ZN6troupe7runtime5start' "$exported"
types=$(cat "$TROUPE_SOURCE"/messages/{messages,requests}.def \
  | grep -cE '^TROUPE_((SENT|NESTED)_TYPE|[A-Z]+_REQUEST)\(')
check "PKG-2" "with how each message is written, read and printed" \
  test "$(grep -c '^_ZN6troupe7inspectIN3caf' <<<"$exported")" -ge $((3 * types))
check_equal "PKG-2" "it exports nothing else: no CAF, no inner class" "" \
  "$(grep -vE '^_ZNK?6troupe' <<<"$exported" | head -n 5
    grep -E 'troupe(11server_node|10event_loop|11thread_pool|13local_service|9run_queue)' \
      <<<"$exported" | grep -vE '7runtime|11loop_system' | head -n 5)"

check_match "C12.1" "libtroupe_mesh.so has a name of its minor version, too" \
  'SONAME.*\[libtroupe_mesh\.so\.[0-9]+\.[0-9]+\]' "$(readelf -Wd "$lib/libtroupe_mesh.so")"
mesh_names='^_ZNK?6troupe(L?11mesh_around|11mesh_member|8remoting|7rank_of|11hide_memory'
mesh_names+='|11mesh_daemon|12start_daemon|8node_key|10key_issuer|8read_key|11without_key|7inspect.*(lookup|spawn)_actor)'
of_mesh=$(nm -D --defined-only "$lib/libtroupe_mesh.so" | sed 's/^[0-9a-f]* . //')
for x in 11mesh_around 11mesh_daemon5start 12start_daemon 11mesh_member5start 8remoting5start 10key_issuer4make 8read_key; do
  check_match "C12.1 C12.2" "it exports what spans nodes: $x" "^_ZNK?6troupe$x" "$of_mesh"
done
check_equal "C12.1" "and beside that the same, nothing else" "$exported" \
  "$(grep -vE "$mesh_names" <<<"$of_mesh")"
check_equal "C12.1" "who spans no nodes loads no OpenSSL" "libtroupe_mesh.so" \
  "$(for x in libtroupe.so libtroupe_mesh.so; do
    readelf -Wd "$lib/$x" | grep -q 'NEEDED.*libssl' && echo "$x"
  done)"

# -- CMake packages ------------------------------------------------------------

# The tree is moved first: nothing in it may know where it was put.
moved=$TROUPE_WORK/moved
mv "$prefix" "$moved"
lib=$moved${lib#"$prefix"}
doc=$moved${doc#"$prefix"}
pmix=$lib/troupe/pmix
examples=$doc/examples

# What a module file does to the environment: a shell's words.
module_words() {
  tclsh <<END_OF_TCL
foreach word {module-whatis conflict} { proc \$word args {} }
proc prepend-path {name value} { puts "\$name=\$value" }
set ModulesCurrentModulefile "$1"
source "$1"
END_OF_TCL
}
check_equal "PKG-11" "the module file leads to our libpmix, wherever the tree is" \
  "LD_LIBRARY_PATH=$pmix/lib
PKG_CONFIG_PATH=$pmix/lib/pkgconfig
CMAKE_PREFIX_PATH=$pmix" \
  "$(module_words "$moved/share/modules/modulefiles/troupe-pmix")"
PATH=$moved/bin:$PATH
check "C5.3" "a project finds both CMake packages" \
  within 120 cmake -S "$TROUPE_SOURCE/tests/install/project" -B project \
  -DCMAKE_PREFIX_PATH="$moved;$pmix" -DEXAMPLES="$examples" \
  -DPROGRAMS="$TROUPE_SOURCE/tests/interop/programs" \
  -DCMAKE_BUILD_TYPE=Debug
check "C5.3" "and builds with them" within 900 cmake --build project
check_match "C5.3" "its C programs use our library" "$pmix/lib/libpmix.so.2" \
  "$(ldd project/embed_rm_c)"
check_match "PKG-2" "its C++ programs use the shared library" "$lib/libtroupe.so" \
  "$(ldd project/embed_rm_cpp)"
check_match "C12.1" "who spans nodes uses the library with the mesh" \
  "$lib/libtroupe_mesh.so" "$(ldd project/two_daemons)"
check "C12.1" "two daemons join the nodes of a job" within 60 project/two_daemons
check "PKG-2" "calls, messages and errors cross the library" \
  within 60 project/boundary

# serves DAEMON CLIENT: the daemon's two processes find each other.
serves() {
  within 60 "$1" "$2" | tee serves
  grep -q '^pmix fence brought 2 of 2 values, event received$' serves \
    && grep -q '^served 2 processes, 0 failed$' serves
}
check "C5.3 C5.1 PKG-2" "C++ daemon, installed client library" \
  serves project/embed_rm_cpp project/pmix_hello
check "C5.3 C5.2" "C daemon, installed client library" \
  serves project/embed_rm_c project/pmix_hello

# -- the examples, as they stand there -----------------------------------------

export PKG_CONFIG_PATH=$lib/pkgconfig:$pmix/lib/pkgconfig
unset LD_LIBRARY_PATH
check_match "C5.3" "pkg-config names ours, not the system's" "$pmix" \
  "$(pkg-config --cflags pmix)"
cp -r "$examples" copy
cd copy || exit 1

# commands EXAMPLE: the indented lines of its first comment, whole.
commands() {
  sed -n '/^\/[/*]/,/^#include/ { s/^\( \*\|\/\/\)   \([^ ].*\)/\2/p }' "$1"
}
# as_it_says EXAMPLE: does what its first lines say, in a shell and literally.
as_it_says() {
  commands "$1" >"$1.sh"
  cat "$1.sh"
  [ -s "$1.sh" ] && within 300 bash -e "$1.sh" 2>&1 | tee "$1.output"
  [ "${PIPESTATUS[0]}" -eq 0 ]
}
check "PKG-1 PKG-5" "the commands at the head of pmix_hello.c" as_it_says pmix_hello.c
check_match "PKG-5" "do what they say" \
  '^pmix fence brought 4 of 4 values' "$(cat pmix_hello.c.output)"
check "PKG-1" "the two commands at the head of embed_rm.c" as_it_says embed_rm.c
check_equal "PKG-1" "are two" "2" "$(commands embed_rm.c | wc -l)"
check_match "PKG-1 C5.2" "and serve two processes" \
  '^served 2 processes, 0 failed$' "$(cat embed_rm.c.output)"
check_match "PKG-1" "on our library, without LD_LIBRARY_PATH" \
  "libpmix.so.2 => $pmix/lib/" "$(ldd embed_rm | sed "s|[^ ]*/pkgconfig/\.\./\.\./lib|$pmix/lib|")"
check "PKG-1 PKG-2 C5.1" "the two commands at the head of embed_rm.cpp" \
  as_it_says embed_rm.cpp
check_match "PKG-1 C5.1" "serve two processes, too" \
  '^served 2 processes, 0 failed$' "$(cat embed_rm.cpp.output)"
check_match "PKG-2" "by the shared library" 'libtroupe\.so\.[0-9.]+ => /' "$(ldd rm)"
# -- monitors of one's own ------------------------------------------------------

mkdir tutorial
check "C11.6 C11.1 C11.3 C11.4" "docs/extending.md: each command" \
  within 300 env PREFIX="$moved" "$TROUPE_SOURCE/tests/install/tutorial" \
  "$doc/docs/extending.md" tutorial
check "C11.3" "the commands at the head of queue_monitor.cpp" bash -c \
  "$(commands queue_monitor.cpp | head -n 2)"
check "C12.1" "pkg-config knows the library with the mesh" bash -c "
  c++ -std=c++17 '$TROUPE_SOURCE/tests/interop/programs/two_daemons.cpp' \
    \$(pkg-config --cflags --libs troupe_mesh) -o two_daemons && timeout 60 ./two_daemons"
mkdir as_library
check "MAN-8" "docs/tutorials/library.md: each command" \
  within 300 env PREFIX="$moved" "$TROUPE_SOURCE/tests/install/tutorial" \
  "$doc/docs/tutorials/library.md" as_library
mkdir remoting
check "C12.2" "docs/remoting.md: each command" \
  within 300 "$TROUPE_SOURCE/tests/install/tutorial" "$doc/docs/remoting.md" remoting
. "$TROUPE_SOURCE/tests/install/mini_rm.sh"
check "PKG-5" "mpi_hello.c as it says" as_it_says mpi_hello.c

# Their own CMakeLists.txt, from there.
check "PKG-5" "the examples are a project of their own" \
  within 120 cmake -B build -DCMAKE_PREFIX_PATH="$moved;$pmix" .
check "PKG-5" "which builds" within 900 cmake --build build
check "PKG-5" "and serves" serves build/embed_rm build/pmix_hello_c

finish
