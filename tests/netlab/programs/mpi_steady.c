/* A ring of MPI messages for as many seconds as it is told, checked at each
 * round: `123 rounds are right` at the end. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double deadline = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 5);
  long rounds = 0;
  int go_on = 1;
  while (go_on != 0) {
    long mine[128];
    for (int i = 0; i < 128; ++i)
      mine[i] = rounds * size + rank;
    MPI_Sendrecv_replace(mine, 128, MPI_LONG, (rank + 1) % size, 0,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    const long expected = rounds * size + (rank + size - 1) % size;
    for (int i = 0; i < 128; ++i)
      if (mine[i] != expected)
        MPI_Abort(MPI_COMM_WORLD, 9);
    ++rounds;
    go_on = MPI_Wtime() < deadline;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    struct timespec rest = {0, 1000000};
    nanosleep(&rest, NULL);
  }
  if (rank == 0)
    printf("%ld rounds are right\n", rounds);
  MPI_Finalize();
  return 0;
}
