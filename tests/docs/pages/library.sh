# What docs/library.md takes for granted: a tree that is built, and a program of MPI that
# is linked to libpmix, too.

. "$TROUPE_SOURCE/tests/docs/pages/common.sh"
mkdir build
ln -s "$TROUPE_LIB" build/lib
# shellcheck disable=SC2046
mpicc -O1 -o app "$TROUPE_SOURCE/examples/mpi_hello.c" -Wl,--no-as-needed \
  $(pkg-config --libs pmix)
