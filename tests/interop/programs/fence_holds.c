// Whether a fence holds everybody up until all have come: each process counts
// itself in a shared file before a fence and looks at the count after it, in
// turns with data to collect and without. All processes are on one machine.
//
// usage: fence_holds FILE ROUNDS; FILE must not exist

#include <fcntl.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int* open_counts(const char* name, size_t rounds) {
  const int fd = open(name, O_RDWR | O_CREAT, 0600);
  const size_t size = rounds * sizeof(atomic_int);
  void* at = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  const int rounds = atoi(argv[2]);
  pmix_proc_t me;
  pmix_proc_t all;
  pmix_value_t* size = NULL;
  atomic_int* counts = open_counts(argv[1], (size_t)rounds);
  if (!counts || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
    return 2;
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size) != PMIX_SUCCESS)
    return 2;
  srand(me.rank);
  int early = 0;
  for (int i = 0; i < rounds; ++i) {
    usleep(rand() % 2000);
    bool collects = i % 2 == 0;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collects, PMIX_BOOL);
    atomic_fetch_add(&counts[i], 1);
    const pmix_status_t rc = PMIx_Fence(&all, 1, &info, 1);
    if (rc != PMIX_SUCCESS) {
      printf("%u: fence %d: %s\n", me.rank, i, PMIx_Error_string(rc));
      return 1;
    }
    early += atomic_load(&counts[i]) != (int)size->data.uint32;
  }
  printf("%u: %d fences, %d too early\n", me.rank, rounds, early);
  return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS && early == 0 ? 0 : 1;
}
