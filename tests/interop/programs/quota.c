/* Processes that post or publish more than they may, or what is not theirs.
 *
 *   quota refused BYTES    rank 0 posts so much; its commit and the others' get
 *                          end with the refusal (2 and more)
 *   quota unheard BYTES    the same, whatever the commit says: libraries differ
 *   quota pieces BYTES N   rank 0 posts N values of so much in one commit, which
 *                          does not hold the last one (2)
 *   quota fits BYTES       so much is fine (2)
 *   quota long BYTES       no message can hold it
 *   quota parts COUNT SIZE a commit of so many values of so many bytes (2)
 *   quota keys             publishing keys without end (1)
 *   quota reserved         keys of the host (2)
 *   quota raises           codes of the runtime (1) */

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

static void pieces(void) {
  begin();
  const int count = atoi(case_args[1]);
  char key[32];
  if (me.rank == 0) {
    char* text = text_of(argument(), 'x');
    for (int i = 0; i < count; ++i) {
      snprintf(key, sizeof key, "piece.%d", i);
      succeed(put_text(key, text), "put");
    }
    expect(PMIx_Commit(), PMIX_ERR_OUT_OF_RESOURCE, "commit");
    free(text);
  }
  meet_with_data();
  const pmix_proc_t first = rank_of(0);
  for (int i = 0; me.rank != 0 && i < count; ++i) {
    const double since = now();
    snprintf(key, sizeof key, "piece.%d", i);
    const pmix_status_t outcome = try_get(&first, key, NULL, 0);
    /* What went before the bound was met may be there. */
    if (i == count - 1 || outcome != PMIX_SUCCESS)
      expect(outcome, PMIX_ERR_OUT_OF_RESOURCE, "get");
    demand(now() - since < 10, "each get ends");
  }
  meet();
  end();
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
  char* text = text_of(strtoul(case_args[1], NULL, 10), 'p');
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

static void keys(void) {
  enum { at_once = 1000, rounds = 200 };
  begin();
  static pmix_info_t infos[at_once];
  pmix_status_t outcome = PMIX_SUCCESS;
  int round = 0;
  for (; round < rounds && outcome == PMIX_SUCCESS; ++round) {
    for (int i = 0; i < at_once; ++i) {
      char key[32];
      snprintf(key, sizeof key, "k.%d.%d", round, i);
      infos[i] = flag_info(key);
    }
    outcome = PMIx_Publish(infos, at_once);
  }
  expect(outcome, PMIX_ERR_OUT_OF_RESOURCE, "publishing without end");
  demand(round > 10, "some keys are fine");
  succeed(PMIx_Unpublish(NULL, NULL, 0), "unpublish");
  const pmix_info_t one = flag_info("again");
  succeed(PMIx_Publish(&one, 1), "publish");
  end();
}

static void reserved(void) {
  begin();
  pmix_value_t value = {.type = PMIX_UINT32};
  value.data.uint32 = 4711;
  expect(PMIx_Put(PMIX_GLOBAL, PMIX_JOB_SIZE, &value), PMIX_ERR_BAD_PARAM,
         "put of the job's size");
  expect(PMIx_Put(PMIX_LOCAL, PMIX_LOCAL_RANK, &value), PMIX_ERR_BAD_PARAM,
         "put of a local rank");
  /* As Open MPI 4 does. */
  succeed(put_text(PMIX_HOSTNAME, "here"), "put of a host name");
  succeed(put_text(PMIX_CPUSET, "0-1"), "put of a cpuset");
  post("mine", "here");
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_JOB_SIZE, &value.data.uint32, PMIX_UINT32);
  expect(PMIx_Publish(&info, 1), PMIX_ERR_BAD_PARAM,
         "publishing the job's size");
  meet();
  const pmix_proc_t other = rank_of((me.rank + 1) % job_size);
  expect_string(&other, "mine", "here", 5);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  demand(number_of(&all, PMIX_JOB_SIZE) == job_size, "the job's size");
  meet();
  end();
}

static void raises(void) {
  begin();
  expect(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &me, PMIX_RANGE_SESSION, NULL,
                           0, NULL, NULL),
         PMIX_ERR_NO_PERMISSIONS, "telling all of an abort");
  expect(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &me, PMIX_RANGE_GLOBAL, NULL,
                           0, NULL, NULL),
         PMIX_ERR_NO_PERMISSIONS, "telling all of an abort");
  succeed(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &me, PMIX_RANGE_NAMESPACE,
                            NULL, 0, NULL, NULL),
          "telling the job");
  succeed(
    PMIx_Notify_event(-4711, &me, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL),
    "an event of its own");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"refused", refused}, {"unheard", unheard},   {"fits", fits},
    {"pieces", pieces},   {"long", too_long},     {"parts", parts},
    {"keys", keys},       {"reserved", reserved}, {"raises", raises}};
  return RUN_CASE(cases);
}
