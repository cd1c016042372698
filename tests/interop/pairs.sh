# Clients of one library, servers of another: each with each.

. "$TROUPE_SOURCE/tests/interop/check.sh"
. "$TROUPE_SOURCE/tests/interop/jobs.sh"

for tool in mpirun mpicc; do
  command -v "$tool" >/dev/null && continue
  skip "C6.3 208" "pairs of libraries" "there is no $tool"
  finish
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
python=/usr/bin/python3

# Programs are built against Debian's headers, as installed programs are.
build pairs mpi_ring event_flow
compile_pmix "$TROUPE_SOURCE/examples/pmix_hello.c" hello \
  || { failed "" "compiling pmix_hello.c"; finish; }

# Folders with nothing but one library: it alone is exchanged.
system=$(ldconfig -p | awk '/libpmix.so.2 .*x86-64/ { print $NF; exit }')
mkdir -p ours theirs
ln -sf "$TROUPE_LIB"/libpmix.so.2 ours
ln -sf "$(readlink -f "$system")" theirs/libpmix.so.2

# launch SERVER CLIENT N PROGRAM...: a job under `troupe`, whose server is our
# own, or under mpirun with the library `ours` or `theirs`.
launch() {
  local server=$1 client=$2 n=$3
  shift 3
  if [ "$server" = troupe ]; then
    LD_LIBRARY_PATH=$PWD/$client limit=60 job -n "$n" "$@"
  else
    LD_LIBRARY_PATH=$PWD/$server within "$((60 * slow))" mpirun -n "$n" \
      -x "LD_LIBRARY_PATH=$PWD/$client" "$@"
  fi
}

# says WANTED SERVER CLIENT N PROGRAM...: the job ends well and prints a line.
says() {
  local wanted=$1
  shift
  launch "$@" 2>&1 | tee said
  [ "${PIPESTATUS[0]}" -eq 0 ] && grep -Eq -- "$wanted" said
}

version() {
  [ "$1" = ours ] && echo Troupe || echo OpenPMIx
}

# pair IDENTIFIERS SERVER CLIENT
pair() {
  local ids=$1 server=$2 client=$3 name range=
  name="server $2, client $3"
  check "$ids" "$name: 4 processes do everything" \
    says "^pairs: 4 processes agree, .*$(version "$client")" \
    "$server" "$client" 4 ./pairs together
  check "$ids" "$name: 1 process does everything" \
    says "^pairs: 1 processes agree, .*$(version "$client")" \
    "$server" "$client" 1 ./pairs together
  # Open MPI's mpirun brings its processes events of no wider range.
  [ "$server" = theirs ] && range=local
  check "$ids E35" "$name: a default handler is the first registration" \
    says '^rank 1: the default handler got all$' \
    "$server" "$client" 2 ./event_flow first $range
  check "$ids" "$name: hello" \
    says '^pmix fence brought 4 of 4 values, event received$' \
    "$server" "$client" 4 ./hello
  check "$ids" "$name: MPI ring and allreduce" \
    says '^size 4: hello right, ring right, allreduce right$' \
    "$server" "$client" 4 ./mpi_ring
  if "$python" -c 'import mpi4py' 2>/dev/null; then
    check "$ids" "$name: mpi4py" says '^mpi4py: 4 processes agree$' \
      "$server" "$client" 4 "$python" "$programs/mpi4py_program.py"
  else
    skip "$ids" "$name: mpi4py" "python3-mpi4py is not installed"
  fi
}

pair "C3.10 C6.3 208" theirs ours
pair "C6.3 208" ours theirs
pair "C6.3 208" troupe theirs
pair "208" troupe ours
pair "208" ours ours

clean "208" "nothing is left of the pairs"
finish
