/* Processes that post or publish more than they may, or what is not theirs.
 *
 *   quota refused BYTES    rank 0 posts so much; its commit and the others' get
 *                          end with the refusal (2 and more)
 *   quota unheard BYTES    the same, whatever the commit says: libraries differ
 *   quota fits BYTES       so much is fine (2)
 *   quota long BYTES       no message can hold it
 *   quota parts COUNT      a commit of so many values of 1 MB (2)
 */

#include "client.h"

static char* text_of(size_t size, char with) {
  char* result = malloc(size + 1);
  demand(result != NULL, "memory");
  memset(result, with, size);
  result[size] = '\0';
  return result;
}

static pmix_status_t put_text(const char* key, const char* text) {
  pmix_value_t value = {.type = PMIX_STRING};
  value.data.string = (char*)text;
  return PMIx_Put(PMIX_GLOBAL, key, &value);
}

static size_t argument(void) {
  return strtoul(case_args[0], NULL, 10);
}

static void meet_with_data(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence");
}

static void post_too_much(int is_heard) {
  begin();
  if (me.rank == 0) {
    char* text = text_of(argument(), 'x');
    succeed(put_text("much", text), "put");
    const pmix_status_t outcome = PMIx_Commit();
    if (is_heard)
      expect(outcome, PMIX_ERR_OUT_OF_RESOURCE, "commit");
    free(text);
  }
  meet_with_data();
  const pmix_proc_t first = rank_of(0);
  if (me.rank != 0) {
    const double since = now();
    expect(try_get(&first, "much", NULL, 0), PMIX_ERR_OUT_OF_RESOURCE,
           "get of what was refused");
    demand(now() - since < 5, "the get ends at once");
  }
  meet();
  /* OpenPMIx commits all of it again, and is refused again. */
  if (me.rank == 0 && is_heard)
    post("little", "here");
  meet_with_data();
  if (me.rank != 0 && is_heard)
    expect_string(&first, "little", "here", 5);
  end();
}

static void refused(void) {
  post_too_much(1);
}

static void unheard(void) {
  post_too_much(0);
}

static void fits(void) {
  begin();
  char* text = text_of(argument(), 'y');
  if (me.rank == 0) {
    succeed(put_text("much", text), "put");
    succeed(PMIx_Commit(), "commit");
  }
  meet_with_data();
  const pmix_proc_t first = rank_of(0);
  expect_string(&first, "much", text, 10);
  free(text);
  meet();
  end();
}

static void too_long(void) {
  begin();
  char* text = text_of(argument(), 'z');
  expect(put_text("long", text), PMIX_ERR_OUT_OF_RESOURCE, "put");
  free(text);
  succeed(PMIx_Commit(), "commit of nothing");
  meet();
  end();
}

static void parts(void) {
  begin();
  const size_t count = argument();
  char* text = text_of(1000000, 'p');
  char key[32];
  if (me.rank == 0) {
    for (size_t i = 0; i < count; ++i) {
      snprintf(key, sizeof key, "part.%zu", i);
      succeed(put_text(key, text), key);
    }
    succeed(PMIx_Commit(), "commit");
  }
  meet();
  const pmix_proc_t first = rank_of(0);
  for (size_t i = 0; me.rank != 0 && i < count; i += count - 1) {
    snprintf(key, sizeof key, "part.%zu", i);
    expect_string(&first, key, text, 10);
  }
  free(text);
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"refused", refused},   {"unheard", unheard}, {"fits", fits},
    {"long", too_long},     {"parts", parts}};
  return RUN_CASE(cases);
}
