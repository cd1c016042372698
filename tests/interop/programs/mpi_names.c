/* The first process publishes a port under a name, the last looks it up; then
 * the name is withdrawn. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const char* name = "troupe-test-name";
  const char* port = "tag#0$description#here$port#1234$";
  char found[MPI_MAX_PORT_NAME] = "";
  int wrong = 0;
  if (rank == 0)
    wrong += MPI_Publish_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    wrong += MPI_Lookup_name(name, MPI_INFO_NULL, found) != MPI_SUCCESS;
    wrong += strcmp(found, port) != 0;
    wrong +=
      MPI_Lookup_name("nobody-published", MPI_INFO_NULL, found) == MPI_SUCCESS;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    wrong += MPI_Unpublish_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS;
    wrong += MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_SUCCESS;
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d wrong\n", all);
  MPI_Finalize();
  return all != 0;
}
