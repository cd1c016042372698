/* A fence that one rank does not come to until a file is there.
 *
 * usage: fence_waits RANK FILE */

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Stacks of others show its name. */
static void __attribute__((noinline)) forget_the_fence(const char* file) {
  while (access(file, F_OK) != 0)
    usleep(20000);
}

int main(int argc, char** argv) {
  pmix_proc_t me;
  pmix_proc_t all;
  if (argc != 3 || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 2;
  if (me.rank == (pmix_rank_t)atoi(argv[1]))
    forget_the_fence(argv[2]);
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  const pmix_status_t rc = PMIx_Fence(&all, 1, NULL, 0);
  if (rc != PMIX_SUCCESS)
    printf("%u: %s\n", me.rank, PMIx_Error_string(rc));
  return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS && rc == PMIX_SUCCESS ? 0 : 1;
}
