/* An ordinary MPI program, as any user has one: every process says where it
 * is, a token travels round the ring, and all agree on a sum.
 *
 *   mpicc -O2 -o mpi_hello mpi_hello.c
 *   troupe run -n 4 --oversubscribe ./mpi_hello
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Sends a token round the ring; each process adds its rank to it. */
static int pass_token(int rank, int size) {
  int token = 0;
  if (rank == 0) {
    MPI_Send(&token, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    token += rank;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  }
  return token;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                      &node);
  int node_rank = 0;
  int node_size = 0;
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_size);

  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  printf("mpi rank %d of %d: on %s, %d of %d on this node\n", rank, size, host,
         node_rank, node_size);
  fflush(stdout);

  const int expected = size * (size - 1) / 2;
  int failed = 0;
  if (size > 1) {
    const int token = pass_token(rank, size);
    failed = rank == 0 && token != expected;
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  failed |= sum != expected;
  if (rank == 0)
    printf("mpi ring and allreduce over %d processes: %s\n", size,
           failed ? "WRONG" : "right");

  MPI_Comm_free(&node);
  MPI_Finalize();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
