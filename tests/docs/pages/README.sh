# What README.md takes for granted: a tree that is built.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
mkdir -p build/examples
ln -s "$TROUPE_BIN" build/bin
mpicc -O1 -o build/examples/mpi_hello "$TROUPE_SOURCE/examples/mpi_hello.c"
compiled "$TROUPE_SOURCE/examples/pmix_hello.c" build/examples/pmix_hello
cp build/examples/mpi_hello app
