/* Output of a job that is spawned by another. */

#include "client.h"

enum { num_lines = 1000 };

static void watch(void) {
  begin();
  char child[PMIX_MAX_NSLEN + 1];
  spawn_case("child", 2, child);
  await_end(child, 20);
  end();
}

static void child(void) {
  begin();
  for (int i = 0; i < num_lines; ++i)
    printf("%u %d\n", me.rank, i);
  fflush(stdout);
  end();
}

/* Starts a job that goes on without this one. */
static void leave(void) {
  begin();
  char child[PMIX_MAX_NSLEN + 1];
  spawn_case("late", 2, child);
  printf("%s\n", child);
  end();
}

static void late(void) {
  begin();
  printf("%u begins\n", me.rank);
  fflush(stdout);
  for (int i = 0; i < 200 && access("go", F_OK) != 0; ++i)
    usleep(50000);
  printf("%u ends\n", me.rank);
  fflush(stdout);
  /* Whoever ends with 3 first has the others killed. */
  succeed(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
  end();
  exit(3);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"watch", watch}, {"child", child}, {"leave", leave}, {"late", late}};
  return RUN_CASE(cases);
}
