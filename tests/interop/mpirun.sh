# Open MPI's own mpirun on our library: ORTE embeds it as a server. Our client,
# Debian's client, both servers.

. "$TROUPE_SOURCE/tests/interop/check.sh"

# left_here: programs of this test that still run after 3 s.
left_here() {
  local i
  for i in {1..30}; do
    [ -n "$(programs_here)" ] || break
    sleep 0.1
  done
  programs_here
}
programs_here() {
  local exe
  for exe in /proc/[0-9]*/exe; do
    exe=$(readlink "$exe" 2>/dev/null) || continue
    [ "${exe#"$TROUPE_WORK"/}" = "$exe" ] || echo "$exe"
  done
}

programs=$TROUPE_SOURCE/tests/interop/programs
examples=$TROUPE_SOURCE/examples
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
for program in mpi_ring mpi_spawn mpi_abort; do
  compile_mpi "$programs/$program.c" "$program"
done
compile_pmix "$examples/pmix_hello.c" pmix_hello
system=$(ldconfig -p | awk '/libpmix.so.2 .*x86-64/ { print $NF; exit }')

# A directory with nothing but the library: what else is in ours stays out.
mkdir -p ours theirs
ln -sf "$TROUPE_LIB"/libpmix.so* ours
ln -sf "$(readlink -f "$system")" theirs/libpmix.so.2

# mixed SERVER CLIENT N PROGRAM...: mpirun with one library, processes with
# another, as /proc says.
mixed() {
  local server=$1 client=$2 n=$3
  shift 3
  LD_LIBRARY_PATH=$PWD/$server within 60 mpirun -n "$n" \
    -x "LD_LIBRARY_PATH=$PWD/$client" "$@" 2>&1 | tee output
  return "${PIPESTATUS[0]}"
}
ring() {
  mixed "$1" "$2" "$3" ./mpi_ring \
    && grep -q "^size $3: hello right, ring right, allreduce right$" output
}
hello() {
  mixed "$1" "$2" "$3" ./pmix_hello \
    && grep -q "^pmix fence brought $3 of $3 values, event received$" output
}
spawn() {
  mixed "$1" "$2" "$3" ./mpi_spawn "$4" \
    && grep -q "^$3 and $4 processes: answer $((41 + $4)), together $(($3 + $4))$" output
}
aborts() {
  mixed "$1" "$2" 4 ./mpi_abort 17
  [ $? -eq 17 ]
}

# uses WHICH: mpirun has opened the library of that directory.
uses() {
  LD_LIBRARY_PATH=$PWD/$1 LD_DEBUG=files within 60 mpirun -n 1 true 2>&1 \
    | tee files | grep -q "calling init: $PWD/$1/libpmix.so.2"
}
check "C6.1" "mpirun loads our library" uses ours

for client in ours theirs; do
  for n in 1 2 4 16; do
    check "C6.1" "mpirun on ours, client on $client: $n processes" ring ours $client "$n"
  done
  check "C6.1" "mpirun on ours, client on $client: PMIx client" hello ours $client 4
  check "C6.1" "mpirun on ours, client on $client: 1 spawns 2" spawn ours $client 1 2
  check "C6.1" "mpirun on ours, client on $client: 2 spawn 2" spawn ours $client 2 2
  check "C6.1" "mpirun on ours, client on $client: abort" aborts ours $client
done
for n in 1 2 4 16; do
  check "C6.1" "mpirun on Debian's, client on ours: $n processes" ring theirs ours "$n"
done
check "C6.1" "mpirun on Debian's, client on ours: PMIx client" hello theirs ours 4
check "C6.1" "mpirun on Debian's, client on ours: 2 spawn 2" spawn theirs ours 2 2
check "C6.1" "mpirun on Debian's, client on ours: abort" aborts theirs ours

check_equal "C6.1" "no process is left" "" "$(left_here)"
finish
