/* Rank 0 posts 12 MiB that cannot be compressed, a fence brings them to all, and all
 * read them. */

#include "../../interop/programs/client.h"

enum { size = 12 << 20 };

static char* text_of_all(void) {
  char* text = malloc(size);
  uint32_t x = 1;
  for (size_t i = 0; i + 1 < size; ++i) {
    x = x * 1664525 + 1013904223;
    text[i] = (char)('!' + (x >> 24) % 90);
  }
  text[size - 1] = '\0';
  return text;
}

int main(void) {
  begin();
  if (me.rank == 0) {
    char* text = text_of_all();
    post("much", text);
    free(text);
  }
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence that collects");
  const pmix_proc_t first = rank_of(0);
  char* wanted = text_of_all();
  expect_string(&first, "much", wanted, 0);
  free(wanted);
  end();
  return 0;
}
