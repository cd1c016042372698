/* Starts copies of itself, talks to them, and waits for their end. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int child(MPI_Comm parent) {
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int number = 0;
  MPI_Bcast(&number, 1, MPI_INT, 0, parent);
  int answer = number + rank;
  if (rank == size - 1)
    MPI_Send(&answer, 1, MPI_INT, 0, 0, parent);
  MPI_Comm everybody;
  MPI_Intercomm_merge(parent, 1, &everybody);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, everybody);
  MPI_Comm_free(&everybody);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return number == 42 && sum > size ? 0 : 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL)
    return child(parent);
  const int count = argc > 1 ? atoi(argv[1]) : 2;
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm children;
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, count, MPI_INFO_NULL, 0,
                 MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  int remote = 0;
  MPI_Comm_remote_size(children, &remote);
  int number = 42;
  MPI_Bcast(&number, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
            children);
  int answer = 0;
  if (rank == 0)
    MPI_Recv(&answer, 1, MPI_INT, count - 1, 0, children, MPI_STATUS_IGNORE);
  MPI_Comm everybody;
  MPI_Intercomm_merge(children, 0, &everybody);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, everybody);
  MPI_Comm_free(&everybody);
  MPI_Comm_disconnect(&children);
  if (rank == 0)
    printf("%d and %d processes: answer %d, together %d\n", size, remote,
           answer, sum);
  MPI_Finalize();
  return 0;
}
