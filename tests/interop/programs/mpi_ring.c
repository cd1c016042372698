/* Hello, ring and allreduce: rank 0 says what came of them in one line. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int hello(int rank, int size) {
  char text[64];
  snprintf(text, sizeof text, "hello from %d", rank);
  char all[64 * 64];
  MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0,
             MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) {
    snprintf(text, sizeof text, "hello from %d", i);
    if (strcmp(all + i * 64, text) != 0)
      return 0;
  }
  return 1;
}

static int ring(int rank, int size) {
  int token = rank == 0 ? 1 : 0;
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    if (rank == 0) {
      MPI_Sendrecv_replace(&token, 1, MPI_INT, next, 0, previous, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      ++token;
      MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
  }
  return rank != 0 || token == 1 + 3 * (size - 1);
}

static int allreduce(int rank, int size) {
  double mine[1000];
  double sums[1000];
  for (int i = 0; i < 1000; ++i)
    mine[i] = rank + i;
  MPI_Allreduce(mine, sums, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i)
    if (sums[i] != size * (size - 1) / 2 + (double)size * i)
      return 0;
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int outcome[3] = {hello(rank, size), ring(rank, size),
                          allreduce(rank, size)};
  int all[3];
  MPI_Reduce(outcome, all, 3, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("size %d: hello %s, ring %s, allreduce %s\n", size,
           all[0] ? "right" : "wrong", all[1] ? "right" : "wrong",
           all[2] ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
