/* Processes that fill memory: their own, or their server's.
 *
 *   memory_hog post BYTES COUNT     values of so many bytes, until refused
 *   memory_hog publish BYTES COUNT  the same, published
 *   memory_hog raise BYTES COUNT    events with so many bytes, for all
 *   memory_hog write BYTES COUNT    to standard output
 *   memory_hog take BYTES COUNT     rank 0 keeps them for itself (1)
 *
 * Each says how far it came; what the server refuses is no failure. */

#include "client.h"

static char* text_of(size_t size) {
  char* result = malloc(size + 1);
  demand(result != NULL, "memory");
  memset(result, 'x', size);
  result[size] = '\0';
  return result;
}

static size_t argument(int which) {
  return strtoul(case_args[which], NULL, 10);
}

static pmix_status_t post_one(const char* key, const char* text) {
  pmix_value_t value = {.type = PMIX_STRING};
  value.data.string = (char*)text;
  const pmix_status_t outcome = PMIx_Put(PMIX_GLOBAL, key, &value);
  return outcome == PMIX_SUCCESS ? PMIx_Commit() : outcome;
}

static pmix_status_t publish_one(const char* key, const char* text) {
  pmix_info_t info = string_info(key, text);
  const pmix_status_t outcome = PMIx_Publish(&info, 1);
  PMIX_INFO_DESTRUCT(&info);
  return outcome;
}

static pmix_status_t raise_one(const char* key, const char* text) {
  pmix_info_t info = string_info(key, text);
  const pmix_status_t outcome = PMIx_Notify_event(
    PMIX_EXTERNAL_ERR_BASE - 1, &me, PMIX_RANGE_GLOBAL, &info, 1, NULL, NULL);
  PMIX_INFO_DESTRUCT(&info);
  return outcome;
}

static pmix_status_t write_one(const char* key, const char* text) {
  (void)key;
  return fputs(text, stdout) < 0 ? PMIX_ERROR : PMIX_SUCCESS;
}

static void fill(pmix_status_t (*one)(const char*, const char*)) {
  begin();
  char* text = text_of(argument(0));
  const size_t count = argument(1);
  pmix_status_t outcome = PMIX_SUCCESS;
  size_t i = 0;
  for (; i < count && outcome == PMIX_SUCCESS; ++i) {
    char key[64];
    snprintf(key, sizeof(key), "hog-%u-%zu", me.rank, i);
    outcome = one(key, text);
  }
  fprintf(stderr, "rank %u: %zu times, then %s\n", me.rank, i,
          PMIx_Error_string(outcome));
  free(text);
  meet();
  end();
}

static void post_many(void) {
  fill(post_one);
}

static void publish_many(void) {
  fill(publish_one);
}

static void raise_many(void) {
  fill(raise_one);
}

static void write_many(void) {
  fill(write_one);
}

static void take_many(void) {
  begin();
  const size_t count = argument(1);
  for (size_t i = 0; me.rank == 0 && i < count; ++i) {
    text_of(argument(0));
    pause_ms(1);
  }
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"post", post_many},
                                           {"publish", publish_many},
                                           {"raise", raise_many},
                                           {"write", write_many},
                                           {"take", take_many}};
  return RUN_CASE(cases);
}
