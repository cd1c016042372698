/* Identifiers of groups instead of namespaces, in all calls.
 *
 *   group_names calls      fence, get, connect, events, control, construct (3)
 *   group_names queries    the groups that there are, and who is in one (3) */

#include "group_client.h"

static struct pending heard = PENDING;

static void on_news(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                    size_t n UNUSED, pmix_info_t* results UNUSED,
                    size_t num_results UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  happen(&heard, code);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static atomic_int signals;

static void on_signal(int number UNUSED) {
  atomic_fetch_add(&signals, 1);
}

/* Groups that the server names, and who is in one. */
static void ask_for_groups(void) {
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, query.keys, PMIX_QUERY_GROUP_NAMES);
  succeed(outcome, "a key");
  pmix_info_t* infos = NULL;
  size_t n = 0;
  succeed(PMIx_Query_info(&query, 1, &infos, &n), "query of names");
  bool found = false;
  demand(n > 0 && infos[0].value.type == PMIX_DATA_ARRAY, "an array of names");
  const pmix_data_array_t* array = infos[0].value.data.darray;
  for (size_t i = 0; i < array->size; ++i)
    found = found || strcmp(((char**)array->array)[i], "app.named") == 0;
  demand(found, "the group is among them");
  PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);

  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(outcome, query.keys, PMIX_QUERY_GROUP_MEMBERSHIP);
  pmix_info_t group = string_info(PMIX_GROUP_ID, "app.named");
  PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
  PMIX_INFO_XFER(&query.qualifiers[0], &group);
  succeed(PMIx_Query_info(&query, 1, &infos, &n), "query of the membership");
  demand(n > 0 && infos[0].value.type == PMIX_DATA_ARRAY, "an array");
  array = infos[0].value.data.darray;
  const pmix_proc_t* members = array->array;
  demand(array->type == PMIX_PROC && array->size == 2 && members[0].rank == 2
           && members[1].rank == 0,
         "the members, in their order");
  PMIX_INFO_FREE(infos, n);
  PMIX_QUERY_DESTRUCT(&query);
}

static void calls(void) {
  begin();
  demand(job_size == 3, "3 processes");
  signal(SIGUSR1, on_signal);
  pmix_status_t news = PMIX_EXTERNAL_ERR_BASE - 7;
  handle(&news, 1, on_news);
  char text[32];
  snprintf(text, sizeof text, "i am %u", me.rank);
  post("who", text);
  meet();
  if (me.rank != 1) {
    pmix_proc_t procs[2];
    built_of("app.named", procs, ranks(procs, 2, 2, 0));
    const pmix_proc_t all = proc_in("app.named", PMIX_RANK_WILDCARD);
    const pmix_proc_t both[2] = {proc_in("app.named", 0),
                                 proc_in("app.named", 1)};
    for (int i = 0; i < 3; ++i)
      succeed(PMIx_Fence(&all, 1, NULL, 0), "fence of a group");
    succeed(PMIx_Fence(both, 2, NULL, 0), "fence of its ranks");
    expect_string(&both[0], "who", "i am 2", 5);
    expect_string(&both[1], "who", "i am 0", 5);
    succeed(PMIx_Connect(&all, 1, NULL, 0), "connect of a group");
    succeed(PMIx_Disconnect(&all, 1, NULL, 0), "disconnect of a group");

    /* An event, from 0 to its rank 0, which is 2. */
    if (me.rank == 0) {
      pmix_info_t infos[2];
      PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_CUSTOM_RANGE, &both[0], PMIX_PROC);
      infos[1] = flag_info(PMIX_EVENT_NON_DEFAULT);
      succeed(
        PMIx_Notify_event(news, &me, PMIX_RANGE_CUSTOM, infos, 2, NULL, NULL),
        "an event");
      int number = SIGUSR1;
      pmix_info_t info;
      PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
      pmix_info_t* results = NULL;
      size_t n = 0;
      succeed(PMIx_Job_control(&both[0], 1, &info, 1, &results, &n),
              "a signal to a member");
    } else {
      demand(happens(&heard, 1, 5), "the event comes");
      for (int i = 0; i < 500 && atomic_load(&signals) == 0; ++i)
        pause_ms(10);
      demand(atomic_load(&signals) == 1, "the signal comes");
    }

    /* Groups of groups. */
    const struct built x = built_of("app.again", &all, 1);
    expect_members(&x, "2 0");
    destruct("app.again");
    destruct("app.named");
    demand(PMIx_Fence(&all, 1, NULL, 0) != PMIX_SUCCESS, "the name is gone");
  }
  meet();
  demand(heard.happened == (me.rank == 2 ? 1 : 0), "nobody else hears it");
  demand(atomic_load(&signals) == (me.rank == 2 ? 1 : 0), "or gets the signal");
  end();
}

static void queries(void) {
  begin();
  demand(job_size == 3, "3 processes");
  if (me.rank != 1) {
    pmix_proc_t procs[2];
    built_of("app.named", procs, ranks(procs, 2, 2, 0));
    ask_for_groups();
    meet();
    destruct("app.named");
  } else {
    meet();
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"calls", calls},
                                           {"queries", queries}};
  return RUN_CASE(cases);
}
