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

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"watch", watch}, {"child", child}};
  return RUN_CASE(cases);
}
