# A resource manager that offers fence, direct modex and abort only, on two
# nodes: with our mesh inside of its daemons, unmodified clients get the rest.

. "$TROUPE_SOURCE/tests/interop/check.sh"

programs=$TROUPE_SOURCE/tests/interop/programs
cc=${TROUPE_CC:-cc}
check "O12" "the resource manager builds" "$cc" -std=gnu11 -Wall \
  -I"$TROUPE_SOURCE/c_api/include" -o two_nodes "$programs/two_nodes.c" \
  -L"$TROUPE_LIB" -lpmix -lpthread
check "O12" "a client builds with Debian's headers" \
  compile_pmix "$programs/rm_mesh.c" rm_mesh

# on LIBRARIES ARGUMENTS...: the resource manager on one of our two libraries.
on() {
  local library=$1
  shift
  within 60 env LD_LIBRARY_PATH="$library" ./two_nodes "$@" 2>errors | tee output
  local outcome=${PIPESTATUS[0]}
  cat errors
  return "$outcome"
}
meshed=$TROUPE_LIB/mesh
served() {
  on "$@" && [ "$(grep -c 'served 2 processes, 0 failed$' output)" -eq 2 ]
}
# says TEXT COMMAND...: what the servers log.
says() {
  local text=$1
  shift
  "$@"
  grep -q "$text" errors
}

check "O12" "publish, look up, events and connect on two nodes" \
  served "$meshed" --mesh ./rm_mesh whole
check "O12" "nobody complains" test ! -s errors
check "O12" "what is asked before the servers have met waits" \
  served "$meshed" --mesh ./rm_mesh early
check "O12 F4.14" "data that no fence brings comes by the host" \
  served "$meshed" --mesh ./rm_mesh direct
check "O12 F4.14" "or by the mesh, if the host has no direct modex" \
  served "$meshed" --no-modex --mesh ./rm_mesh direct
check "O12 F4.14" "which waits for what is not there yet" \
  served "$meshed" --no-modex --mesh ./rm_mesh late
check "O12" "and all else is as it was" \
  served "$meshed" --no-modex --mesh ./rm_mesh whole
check "O12" "switched off, the library does what the plain one does" \
  served "$meshed" ./rm_mesh without
check "O12" "the plain library does what the host does" \
  served "$TROUPE_LIB" ./rm_mesh without
check "O13" "a server whose neighbour has no mesh goes on without" \
  served "$meshed" --mesh-on-first ./rm_mesh without
check_match "O13" "and says so once" "no other server of the job has its mesh" \
  "$(cat errors)"
check "L4" "the plain library refuses a mesh that it has not" \
  says "no mesh inside; use the one in lib/troupe/mesh" \
  on "$TROUPE_LIB" --mesh ./rm_mesh whole
check_equal "O12" "the plain library loads no OpenSSL, with its server neither" "" \
  "$(ldd "$TROUPE_LIB"/{libpmix.so.2,libtroupe_server.so} | grep -E 'libssl|libcrypto')"
check "O12" "both libraries have the same name and offer the same" bash -c '
  exports() { nm -D --defined-only "$1" | sed "s/.* //" | sort; }
  diff <(exports "$1/libpmix.so.2") <(exports "$1/mesh/libpmix.so.2") \
    && objdump -p "$1/mesh/libpmix.so.2" | grep -q "SONAME *libpmix.so.2$"' - \
  "$TROUPE_LIB"
check "O12 I6 I9 I18" "daemons in C++ forward streams between nodes" \
  within 60 "$TROUPE_BIN/two_daemons"
# threads_of [VARIABLE=VALUE]: how many the two of them have in one process.
threads_of() {
  within 60 env "$@" "$TROUPE_BIN/two_daemons" \
    | sed -n 's/ threads$//p'
}
# Those of a pool end when there is nothing to do: then another look decides.
more_threads() {
  local plain
  for _ in 1 2 3; do
    plain=$(threads_of) || return 1
    [ "$(threads_of TROUPE_NETWORKS_OWN_PROGRESS=true)" -gt "$plain" ] && return 0
  done
  return 1
}
check "O8 C12.9" "and their networks have what the environment sets" more_threads
check "C12.9" "what it sets wrong keeps them from starting" \
  status 1 within 60 env TROUPE_NETWORKS_HALF_OPEN=none "$TROUPE_BIN/two_daemons"
finish
