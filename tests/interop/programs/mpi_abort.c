/* The last process aborts, or is killed, while the others wait for it. */

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1 && argc > 1 && strcmp(argv[1], "killed") == 0)
    raise(SIGKILL);
  if (rank == size - 1)
    MPI_Abort(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
