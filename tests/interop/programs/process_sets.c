/* What processes learn of process sets.
 *
 *   process_sets sets NAME   two programs name the sets `ocean` and `ice`, of 2
 *                            and 3 processes; this one is in NAME
 *   process_sets none        no program names one */

#include "client.h"

static struct pending defined = PENDING;

static void on_defined(size_t id UNUSED, pmix_status_t code,
                       const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                       size_t n, pmix_info_t* results UNUSED,
                       size_t nresults UNUSED,
                       pmix_event_notification_cbfunc_fn_t done, void* data) {
  bool has_name = false;
  bool has_members = false;
  for (size_t i = 0; i < n; ++i) {
    has_name |= PMIX_CHECK_KEY(&infos[i], PMIX_PSET_NAME);
    has_members |= PMIX_CHECK_KEY(&infos[i], PMIX_PSET_MEMBERS)
                   && infos[i].value.type == PMIX_DATA_ARRAY;
  }
  if (has_name && has_members)
    happen(&defined, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Asks for one key; `set` names a process set if it is not null. */
static pmix_status_t ask(const char* key, const char* set, pmix_value_t* to) {
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, query.keys, key);
  if (set != NULL) {
    pmix_info_t name = string_info(PMIX_PSET_NAME, set);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_XFER(&query.qualifiers[0], &name);
  }
  pmix_info_t* infos = NULL;
  size_t n = 0;
  outcome = PMIx_Query_info(&query, 1, &infos, &n);
  if (outcome == PMIX_SUCCESS) {
    demand(n == 1 && PMIX_CHECK_KEY(&infos[0], key), "the answer");
    PMIX_VALUE_XFER(outcome, to, &infos[0].value);
  }
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);
  return outcome;
}

static void expect_members(const char* set, size_t size, pmix_rank_t first) {
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  succeed(ask(PMIX_QUERY_PSET_MEMBERSHIP, set, &value), "members");
  demand(value.type == PMIX_DATA_ARRAY && value.data.darray->type == PMIX_PROC,
         "members are processes");
  demand(value.data.darray->size == size, "number of members");
  const pmix_proc_t* procs = value.data.darray->array;
  for (size_t i = 0; i < size; ++i)
    demand(strcmp(procs[i].nspace, me.nspace) == 0
             && procs[i].rank == first + i,
           "members in the order of their ranks");
  PMIX_VALUE_DESTRUCT(&value);
}

static void sets(void) {
  begin();
  const char* const own = case_args[0];
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  succeed(ask(PMIX_QUERY_NUM_PSETS, NULL, &value), "number of sets");
  demand(value.type == PMIX_SIZE && value.data.size == 2, "two sets");
  succeed(ask(PMIX_QUERY_PSET_NAMES, NULL, &value), "names of sets");
  demand(value.type == PMIX_STRING
           && strcmp(value.data.string, "ice,ocean") == 0,
         "the names with a comma between, as Open MPI reads them");
  PMIX_VALUE_DESTRUCT(&value);
  expect_members("ocean", 2, 0);
  expect_members("ice", 3, 2);
  demand(ask(PMIX_QUERY_PSET_MEMBERSHIP, "land", &value) != PMIX_SUCCESS,
         "a set that is none");
  /* Open MPI asks for every rank of the job. */
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    expect_string(&whom, PMIX_PSET_NAME, rank < 2 ? "ocean" : "ice", 0);
  }
  demand(strcmp(own, me.rank < 2 ? "ocean" : "ice") == 0, "its own set");
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    pmix_value_t* names = NULL;
    succeed(PMIx_Get(&whom, PMIX_PSET_NAMES, NULL, 0, &names),
            "sets of a rank");
    demand(names->type == PMIX_DATA_ARRAY
             && names->data.darray->type == PMIX_STRING
             && names->data.darray->size == 1
             && strcmp(((char**)names->data.darray->array)[0],
                       rank < 2 ? "ocean" : "ice")
                  == 0,
           "the names of its sets");
    PMIX_VALUE_RELEASE(names);
  }
  /* The definitions come late for whoever registers late. */
  pmix_status_t code = PMIX_PROCESS_SET_DEFINE;
  handle(&code, 1, on_defined);
  demand(happens(&defined, 2, 10), "both definitions are heard of");
  meet();
  end();
}

static void none(void) {
  begin();
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  succeed(ask(PMIX_QUERY_NUM_PSETS, NULL, &value), "number of sets");
  demand(value.data.size == 0, "no set");
  const pmix_proc_t zero = rank_of(0);
  demand(try_get(&zero, PMIX_PSET_NAME, NULL, 0) == PMIX_ERR_NOT_FOUND,
         "no name");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"sets", sets}, {"none", none}};
  return RUN_CASE(cases);
}
