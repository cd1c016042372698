# Clients of other releases of OpenPMIx, real ones, with our servers. scripts/peers
# builds them; TROUPE_PEERS has their prefixes.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

if [ -z "${TROUPE_PEERS:-}" ]; then
  skip "208 N23" "clients of other releases" \
    "none is built: scripts/peers SOURCE PREFIX, TROUPE_PEERS names prefixes"
  finish
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
mkdir -p ours
ln -sf "$TROUPE_LIB"/libpmix.so.2 ours

# compile PREFIX SOURCE PROGRAM: with the headers of that release.
compile() {
  "${TROUPE_CC:-cc}" -std=gnu11 -O1 -w -o "$3" "$2" -I"$1/include" -L"$1/lib" \
    -Wl,-rpath,"$1/lib" -lpmix -pthread && ldd "$3" | grep -q "=> $1/lib/libpmix"
}

# release PREFIX: as its header says it, "6.1.0".
release() {
  sed -n 's/^#define PMIX_VERSION_\(MAJOR\|MINOR\|RELEASE\) *\([0-9]*\).*/\2/p' \
    "$1/include/pmix_version.h" | paste -sd.
}

# has_groups PREFIX: with context identifiers of members' own, since 4.2.
has_groups() { grep -q PMIX_GROUP_LOCAL_CID "$1/include/pmix_common.h"; }

# launch SERVER PREFIX N PROGRAM...: under `troupe`, or under mpirun, whose server is
# our library then.
launch() {
  local server=$1 prefix=$2 n=$3
  shift 3
  if [ "$server" = troupe ]; then
    LD_LIBRARY_PATH=$prefix/lib limit=60 job -n "$n" "$@"
  else
    LD_LIBRARY_PATH=$PWD/ours within "$((60 * slow))" mpirun -n "$n" \
      -x "LD_LIBRARY_PATH=$prefix/lib" "$@"
  fi
}

# says WANTED SERVER PREFIX N PROGRAM...: the job ends well and prints a line.
says() {
  local wanted=$1
  shift
  launch "$@" 2>&1 | tee said
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -Eq -- "$wanted" said
}

# client PREFIX SERVER
client() {
  local prefix=$1 server=$2 is name range=
  is=$(release "$prefix")
  name="client $is, server $server"
  # Open MPI's mpirun brings its processes events of no wider range.
  [ "$server" = troupe ] || range=local
  check "208 N23" "$name: 4 processes do everything" \
    says "^pairs: 4 processes agree, .*${is//./\\.}" \
    "$server" "$prefix" 4 ./pairs together 4000
  check "208 N23" "$name: 1 process does everything" \
    says "^pairs: 1 processes agree, .*${is//./\\.}" \
    "$server" "$prefix" 1 ./pairs together 4000
  case $is in
    4.1.*)
      skip "208 E35" "$name: a default handler is the first registration" \
        "its clients end their connection when they raise several, with others' servers, too" ;;
    *)
      check "208 E35" "$name: a default handler is the first registration" \
        says '^rank 1: the default handler got all$' \
        "$server" "$prefix" 2 ./event_flow first $range ;;
  esac
  # Release 3 gives no number for a registration, which the example uses.
  if [ "${is%%.*}" -ge 4 ]; then
    check "208 N23" "$name: hello" \
      says '^pmix fence brought 4 of 4 values, event received$' \
      "$server" "$prefix" 4 ./hello
  fi
  if [ "$server" = troupe ] && has_groups "$prefix"
  then
    check "208 G6 G26" "$name: groups and their members' data" \
      launch "$server" "$prefix" 6 ./groups data
    check "208 G16" "$name: names of groups again" \
      launch "$server" "$prefix" 4 ./groups reuse
  fi
}

for prefix in $TROUPE_PEERS; do
  for program in pairs event_flow; do
    compile "$prefix" "$programs/$program.c" "$program" \
      || failed "208" "compiling $program.c with $prefix"
  done
  is=$(release "$prefix")
  [ "${is%%.*}" -lt 4 ] \
    || compile "$prefix" "$TROUPE_SOURCE/examples/pmix_hello.c" hello \
    || failed "208" "compiling pmix_hello.c with $prefix"
  if has_groups "$prefix"; then
    compile "$prefix" "$programs/groups.c" groups \
      || failed "208" "compiling groups.c with $prefix"
  fi
  client "$prefix" troupe
  if command -v mpirun >/dev/null; then
    client "$prefix" mpirun
  else
    skip "208" "clients of $prefix under mpirun" "there is no mpirun"
  fi
done
clean "208" "nothing is left of them"
finish
