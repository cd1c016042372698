/* Events between a resource manager in C and two clients.
 *
 *   server_events CLIENT         CLIENT: this program, built for any libpmix
 *   CLIENT client FOLDER         what the server starts
 *
 * Whoever waits for the other side waits for a file in the folder. */

#include "host.h"

#include <fcntl.h>

#define FOR_THE_HOST (PMIX_EXTERNAL_ERR_BASE - 31)
#define FOR_THE_JOB (PMIX_EXTERNAL_ERR_BASE - 32)
#define HOT (PMIX_EVENT_NODE_DOWN)
#define NUM_HOT 600
/* Of a ring of 512, in which a storm of one code leaves others their place: the three
 * events before it. */
#define NUM_KEPT (512 - 3)

static const char* folder = ".";

static void say(const char* name) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  close(open(path, O_WRONLY | O_CREAT, 0600));
}

static void await(const char* name) {
  char path[4200];
  const struct timespec moment = {0, 2000000};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (int i = 0; i < 5000 && access(path, F_OK) != 0; ++i)
    nanosleep(&moment, NULL);
  expect(access(path, F_OK) == 0, name);
}

/* -- the clients ------------------------------------------------------------- */

static atomic_int registered, too_early, kept_events, hot_events;
static atomic_int first_hot = -1;
static char order[64];

static void on_kept(size_t id, pmix_status_t status, const pmix_proc_t* source,
                    pmix_info_t infos[], size_t n, pmix_info_t* results,
                    size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                    void* data) {
  (void)id, (void)status, (void)source, (void)results, (void)nresults;
  const pmix_info_t* number = find(infos, n, "number");
  if (registered == 0)
    ++too_early;
  if (number != NULL && kept_events < 60)
    order[kept_events] = (char)('a' + number->value.data.integer);
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  ++kept_events;
}

static void on_hot(size_t id, pmix_status_t status, const pmix_proc_t* source,
                   pmix_info_t infos[], size_t n, pmix_info_t* results,
                   size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                   void* data) {
  (void)id, (void)status, (void)source, (void)results, (void)nresults;
  const pmix_info_t* number = find(infos, n, "number");
  if (hot_events == 0 && number != NULL)
    first_hot = number->value.data.integer;
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  ++hot_events;
}

static atomic_int foreign;

static void on_foreign(size_t id, pmix_status_t status,
                       const pmix_proc_t* source, pmix_info_t infos[], size_t n,
                       pmix_info_t* results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void* data) {
  ++foreign;
  on_hot(id, status, source, infos, n, results, nresults, done, data);
}

static void on_registered(pmix_status_t status, size_t id, void* data) {
  (void)id, (void)data;
  expect(status == PMIX_SUCCESS, "a registration");
  const struct timespec moment = {0, 20000000};
  nanosleep(&moment, NULL); /* Time for an event that would overtake it. */
  ++registered;
}

static int client(void) {
  pmix_proc_t me;
  expect_code(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");
  pmix_status_t codes[] = {FOR_THE_JOB, HOT};
  /* What is for the resource manager comes to its handlers, and not to another
   * process that listens. */
  if (me.rank == 0) {
    struct answer sent = {0, 0};
    await("listens");
    expect_code(PMIx_Notify_event(FOR_THE_HOST, &me, PMIX_RANGE_RM, NULL, 0,
                                  on_op, &sent),
                PMIX_SUCCESS, "notify");
    expect_code(answer_of(&sent), PMIX_SUCCESS, "it is answered");
  } else {
    pmix_status_t code = FOR_THE_HOST;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_foreign, NULL, NULL);
    say("listens");
  }
  await("host-has-it");

  /* Three events have been raised before: the registration is answered, then
   * they come, in their order. */
  await("raised");
  PMIx_Register_event_handler(codes, 1, NULL, 0, on_kept, on_registered, NULL);
  expect(becomes(&kept_events, 3), "all that were kept");
  expect(registered == 1 && too_early == 0, "the answer before the events");
  expect(strcmp(order, "abc") == 0, "in their order");

  /* The host is asked for the environment by the first that wants it, who has all
   * of it; who comes later has what the ring holds, the newest. */
  if (me.rank == 1)
    await("has-0");
  expect(PMIx_Register_event_handler(&codes[1], 1, NULL, 0, on_hot, NULL, NULL)
           >= 0,
         "a handler for the environment");
  if (me.rank == 0)
    say("wants-0");
  expect(becomes(&hot_events, me.rank == 0 ? NUM_HOT : NUM_KEPT),
         "events of the environment");
  expect(first_hot == (me.rank == 0 ? 0 : NUM_HOT - NUM_KEPT), "from which on");
  say(me.rank == 0 ? "has-0" : "has-1");
  expect(foreign == 0, "what is for the host is the host's alone");
  await("done");
  expect(hot_events == (me.rank == 0 ? NUM_HOT : NUM_KEPT),
         "and no more of them");
  expect_code(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
  return failures != 0;
}

/* -- the host ---------------------------------------------------------------- */

static atomic_int connections, finalized, asked_for, given_up, for_host,
  passed_on;

static pmix_status_t connected(const pmix_proc_t* proc, void* object,
                               pmix_op_cbfunc_t done, void* data) {
  (void)proc, (void)object, (void)done, (void)data;
  ++connections;
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t* proc, void* object,
                                  pmix_op_cbfunc_t done, void* data) {
  (void)proc, (void)object, (void)done, (void)data;
  ++finalized;
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_events(pmix_status_t* codes, size_t ncodes,
                                     const pmix_info_t info[], size_t ninfo,
                                     pmix_op_cbfunc_t done, void* data) {
  (void)info, (void)ninfo;
  expect(ncodes == 1 && codes[0] == HOT, "the code that is wanted");
  ++asked_for;
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_status_t deregister_events(pmix_status_t* codes, size_t ncodes,
                                       pmix_op_cbfunc_t done, void* data) {
  expect(ncodes == 1 && codes[0] == HOT, "the code that is given up");
  ++given_up;
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t* source,
                                  pmix_data_range_t range, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t done,
                                  void* data) {
  (void)code, (void)source, (void)range, (void)info, (void)ninfo;
  ++passed_on;
  done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

static void on_host_event(size_t id, pmix_status_t status,
                          const pmix_proc_t* source, pmix_info_t infos[],
                          size_t n, pmix_info_t* results, size_t nresults,
                          pmix_event_notification_cbfunc_fn_t done,
                          void* data) {
  (void)id, (void)infos, (void)n, (void)results, (void)nresults;
  expect(status == FOR_THE_HOST, "the code");
  expect(strcmp(source->nspace, HOSTED) == 0 && source->rank == 0,
         "its source");
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  ++for_host;
}

static void raise_event(pmix_status_t code, int number) {
  pmix_proc_t manager;
  pmix_info_t info;
  struct answer sent = {0, 0};
  PMIX_LOAD_PROCID(&manager, "", PMIX_RANK_UNDEF);
  PMIX_INFO_LOAD(&info, "number", &number, PMIX_INT);
  const pmix_status_t code_of_call = PMIx_Notify_event(
    code, &manager, PMIX_RANGE_SESSION, &info, 1, on_op, &sent);
  expect_code(code_of_call, PMIX_SUCCESS, "the host notifies");
  expect_code(answer_of(&sent), PMIX_SUCCESS, "the host's event");
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "client") == 0) {
    folder = argv[2];
    return client();
  }
  if (argc != 2)
    return 2;
  char name[] = "server_events.XXXXXX";
  folder = mkdtemp(name);
  pmix_server_module_t module;
  memset(&module, 0, sizeof module);
  module.client_connected = connected;
  module.client_finalized = on_finalized;
  module.register_events = register_events;
  module.deregister_events = deregister_events;
  module.notify_event = notify_event;
  expect_code(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS, "server_init");
  pmix_status_t code = FOR_THE_HOST;
  expect(
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_host_event, NULL, NULL)
      >= 0,
    "the host's own handler");
  start_job(argv[1], name);
  expect(becomes(&connections, 2), "both have connected");
  for (int i = 0; i < 3; ++i)
    raise_event(FOR_THE_JOB, i);
  say("raised");
  expect(becomes(&for_host, 1), "what is for the manager reaches its handler");
  say("host-has-it");
  await("wants-0");
  for (int i = 0; i < NUM_HOT; ++i)
    raise_event(HOT, i);
  await("has-0");
  await("has-1");
  expect(asked_for == 1, "asked for the environment once, by the first of two");
  expect(given_up == 0, "wanted as long as one wants it");
  say("done");
  expect(becomes(&finalized, 2), "both have finalized");
  expect(becomes(&given_up, 1), "given up with the last, once");
  expect(asked_for == 1, "and asked for no more");
  /* The one of the client: its own do not come back to it. */
  expect(passed_on == 1 && for_host == 1, "what the host hears of");
  return end_job("server events");
}
