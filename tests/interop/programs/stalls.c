/* One who takes no events any more, and one who raises them for it.
 *
 *   stalls      on two processes: rank 1 registers and is stopped; rank 0 raises
 *               more than there is room for, says `raised all`, and kills it */

#include "client.h"

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 30)

enum { events = 400, bytes = 65536 };

static void on_event(size_t id UNUSED, pmix_status_t code UNUSED,
                     const pmix_proc_t* source UNUSED,
                     pmix_info_t* infos UNUSED, size_t n UNUSED,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void meet_all(void) {
  pmix_info_t info;
  const bool collect = true;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  succeed(PMIx_Fence(NULL, 0, &info, 1), "fence");
}

static void raise_all(pid_t other) {
  pmix_status_t code;
  char* text = malloc(bytes + 1);
  memset(text, 'x', bytes);
  text[bytes] = '\0';
  for (int i = 0; i < events; ++i) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, "test.text", text, PMIX_STRING);
    succeed(
      PMIx_Notify_event(EVENT, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
      "notify");
    PMIX_INFO_DESTRUCT(&info);
  }
  /* The answer to a question comes when all of them have been taken. */
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIX_ARGV_APPEND(code, query.keys, PMIX_QUERY_NAMESPACES);
  succeed(code, "key");
  pmix_info_t* found = NULL;
  size_t count = 0;
  succeed(PMIx_Query_info(&query, 1, &found, &count), "query");
  printf("raised all\n");
  fflush(stdout);
  kill(other, SIGKILL);
}

int main(void) {
  succeed(PMIx_Init(&me, NULL, 0), "init");
  pmix_value_t value;
  const pid_t pid = getpid();
  PMIX_VALUE_LOAD(&value, &pid, PMIX_PID);
  succeed(PMIx_Put(PMIX_GLOBAL, "test.pid", &value), "put");
  succeed(PMIx_Commit(), "commit");
  pmix_status_t code = EVENT;
  if (me.rank == 1) {
    const pmix_status_t id =
      PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
    if (id < 0)
      fail("register: %s", PMIx_Error_string(id));
  }
  meet_all();
  if (me.rank == 1) {
    raise(SIGSTOP);
    return 0;
  }
  pmix_proc_t other = proc_in(me.nspace, 1);
  pmix_value_t* found = NULL;
  succeed(PMIx_Get(&other, "test.pid", NULL, 0, &found), "get the process");
  raise_all(found->data.pid);
  return 0;
}
