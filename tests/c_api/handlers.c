/* Event handlers: registration, order, results, completion, the end. What
 * concerns one process only; tests/interop/programs/events.c is about several.
 */

#include "../interop/programs/client.h"

#define CODE_A (PMIX_EXTERNAL_ERR_BASE - 20)
#define CODE_B (PMIX_EXTERNAL_ERR_BASE - 21)

/* -- handlers that note their calls ---------------------------------------- */

static char journal[4096];
static struct pending calls = PENDING;
static pmix_status_t answer = PMIX_EVENT_NO_ACTION_TAKEN;

static void note(const char* text) {
  pthread_mutex_lock(&calls.mutex);
  strncat(journal, text, sizeof journal - strlen(journal) - 1);
  pthread_mutex_unlock(&calls.mutex);
}

/* Where the case runs: handlers run on a thread of the library. */
static pthread_t case_thread;

/* Each handler is a function of its own, so that its name is known. */
#define HANDLER(name)                                                          \
  static void name(size_t id UNUSED, pmix_status_t code UNUSED,                \
                   const pmix_proc_t* source, pmix_info_t* infos UNUSED,       \
                   size_t n UNUSED, pmix_info_t* results UNUSED,               \
                   size_t nresults UNUSED,                                     \
                   pmix_event_notification_cbfunc_fn_t done, void* data) {     \
    demand(source != NULL, "there is a source");                               \
    demand(!pthread_equal(pthread_self(), case_thread), "another thread");     \
    note(#name);                                                               \
    done(answer, NULL, 0, NULL, NULL, data);                                   \
    happen(&calls, PMIX_SUCCESS);                                              \
  }

HANDLER(a)
HANDLER(b)
HANDLER(c)
HANDLER(d)
HANDLER(e)

/* The number of a new handler; the call waits. */
static size_t add(pmix_status_t* codes, size_t ncodes,
                  pmix_notification_fn_t handler, pmix_info_t* infos,
                  size_t n) {
  const pmix_status_t id =
    PMIx_Register_event_handler(codes, ncodes, infos, n, handler, NULL, NULL);
  demand(id >= 0, "the registration gives a number");
  return (size_t)id;
}

static size_t add_one(pmix_status_t code, pmix_notification_fn_t handler) {
  return add(&code, 1, handler, NULL, 0);
}

static size_t add_placed(pmix_status_t code, pmix_notification_fn_t handler,
                         const char* key, const char* text, const char* name) {
  pmix_info_t infos[2];
  size_t n = 0;
  if (key != NULL)
    infos[n++] = text != NULL ? string_info(key, text) : flag_info(key);
  if (name != NULL)
    infos[n++] = string_info(PMIX_EVENT_HDLR_NAME, name);
  return add(&code, 1, handler, infos, n);
}

/* Whom the next events affect; NULL: nobody in particular. */
static const pmix_proc_t* affects;

/* Raises an event for this process only. */
static void raise_event(pmix_status_t code) {
  const pmix_proc_t* target = affects;
  pmix_info_t whom;
  PMIX_INFO_CONSTRUCT(&whom);
  if (target != NULL)
    PMIX_INFO_LOAD(&whom, PMIX_EVENT_AFFECTED_PROC, target, PMIX_PROC);
  succeed(PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, &whom,
                            target != NULL ? 1 : 0, NULL, NULL),
          "notify");
}

/* Raises an event and checks who was called, in which order. */
static void expect_calls(pmix_status_t code, const char* wanted) {
  journal[0] = '\0';
  const int before = calls.happened;
  raise_event(code);
  demand(happens(&calls, before + (int)strlen(wanted), 10),
         "the handlers are called");
  /* Events run one after another: when this one has run, all of the one before
   * it have. */
  const pmix_status_t last = CODE_B - 1000;
  const size_t id = add_one(last, e);
  const int now_called = calls.happened;
  pmix_info_t reserved = flag_info(PMIX_EVENT_NON_DEFAULT);
  succeed(PMIx_Notify_event(last, &me, PMIX_RANGE_PROC_LOCAL, &reserved, 1,
                            NULL, NULL),
          "notify");
  demand(happens(&calls, now_called + 1, 10), "the next event runs");
  succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
  journal[strlen(journal) - 1] = '\0';
  if (strcmp(journal, wanted) != 0)
    fail("called were \"%s\", expected \"%s\"", journal, wanted);
}

/* -- registration ---------------------------------------------------------- */

static void order(void) {
  begin();
  pmix_status_t both[] = {CODE_A, CODE_B};
  add(NULL, 0, c, NULL, 0);
  add(both, 2, b, NULL, 0);
  add_one(CODE_A, a);
  expect_calls(CODE_A, "abc");
  expect_calls(CODE_B, "bc");
  add_one(CODE_A, d);
  expect_calls(CODE_A, "adbc");
  end();
}

static void placement(void) {
  begin();
  add_placed(CODE_A, a, NULL, NULL, "anna");
  add_placed(CODE_A, b, PMIX_EVENT_HDLR_PREPEND, NULL, NULL);
  add_placed(CODE_A, c, PMIX_EVENT_HDLR_AFTER, "anna", NULL);
  add_placed(CODE_A, d, PMIX_EVENT_HDLR_BEFORE, "anna", NULL);
  expect_calls(CODE_A, "bdac");
  pmix_status_t code = CODE_A;
  pmix_info_t first = flag_info(PMIX_EVENT_HDLR_FIRST);
  const size_t id = add(&code, 1, a, &first, 1);
  expect(PMIx_Register_event_handler(&code, 1, &first, 1, b, NULL, NULL),
         PMIX_ERR_EVENT_REGISTRATION, "a second first");
  expect_calls(CODE_A, "abdac");
  succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
  add(&code, 1, c, &first, 1);
  expect_calls(CODE_A, "cbdac");
  end();
}

/* The ends of a category, and the end of all. */
static void ends(void) {
  begin();
  add(NULL, 0, c, NULL, 0);
  add_placed(CODE_A, b, PMIX_EVENT_HDLR_LAST, NULL, NULL);
  expect_calls(CODE_A, "cb");
  add_placed(CODE_A, a, PMIX_EVENT_HDLR_LAST_IN_CATEGORY, NULL, NULL);
  add_placed(CODE_A, d, NULL, NULL, NULL);
  expect_calls(CODE_A, "dacb");
  add_placed(CODE_A, b, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL, NULL);
  add_placed(CODE_A, c, PMIX_EVENT_HDLR_PREPEND, NULL, NULL);
  expect_calls(CODE_A, "bcdacb");
  add_placed(CODE_A, c, PMIX_EVENT_HDLR_APPEND, NULL, NULL);
  expect_calls(CODE_A, "bcdcacb");
  end();
}

/* Who wants events about some processes gets no others. */
static void affected(void) {
  begin();
  pmix_proc_t some[2] = {rank_of(0), rank_of(1)};
  const pmix_proc_t other = rank_of(2);
  pmix_data_array_t array = {PMIX_PROC, 2, some};
  pmix_info_t only;
  PMIX_INFO_LOAD(&only, PMIX_EVENT_AFFECTED_PROCS, &array, PMIX_DATA_ARRAY);
  pmix_status_t code = CODE_A;
  add(&code, 1, a, &only, 1);
  PMIX_INFO_LOAD(&only, PMIX_EVENT_AFFECTED_PROC, &other, PMIX_PROC);
  add(&code, 1, b, &only, 1);
  add_one(CODE_A, c);
  affects = &some[1];
  expect_calls(CODE_A, "ac");
  affects = &other;
  expect_calls(CODE_A, "bc");
  end();
}

static void numbers(void) {
  begin();
  const size_t first = add_one(CODE_A, a);
  const size_t second = add_one(CODE_A, b);
  demand(first != second, "numbers differ");
  expect_calls(CODE_A, "ab");
  succeed(PMIx_Deregister_event_handler(first, NULL, NULL), "deregister");
  expect_calls(CODE_A, "b");
  struct pending done = PENDING;
  succeed(PMIx_Deregister_event_handler(second, on_done, &done), "deregister");
  demand(happens(&done, 1, 10), "it is answered");
  succeed(done.outcome, "deregister without waiting");
  expect_calls(CODE_A, "");
  expect(PMIx_Deregister_event_handler(first, NULL, NULL), PMIX_ERR_BAD_PARAM,
         "deregister twice");
  expect(PMIx_Deregister_event_handler(SIZE_MAX, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "deregister nothing");
  end();
}

/* The last default handler goes, another one comes. */
static void defaults(void) {
  begin();
  const size_t id = add(NULL, 0, a, NULL, 0);
  expect_calls(CODE_A, "a");
  succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
  add(NULL, 0, b, NULL, 0);
  expect_calls(CODE_A, "b");
  pmix_status_t code = CODE_B;
  pmix_info_t once = flag_info(PMIX_EVENT_ONESHOT);
  add(&code, 1, c, &once, 1);
  expect_calls(CODE_B, "cb");
  expect_calls(CODE_B, "b");
  end();
}

static void bad_arguments(void) {
  pmix_status_t code = CODE_A;
  expect(PMIx_Register_event_handler(&code, 1, NULL, 0, a, NULL, NULL),
         PMIX_ERR_INIT, "register before init");
  expect(PMIx_Deregister_event_handler(0, NULL, NULL), PMIX_ERR_INIT,
         "deregister before init");
  expect(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
         PMIX_ERR_INIT, "notify before init");
  begin();
  expect(PMIx_Register_event_handler(&code, 1, NULL, 0, NULL, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no handler");
  expect(PMIx_Register_event_handler(NULL, 5, NULL, 0, a, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no codes");
  expect(PMIx_Register_event_handler(&code, SIZE_MAX, NULL, 0, a, NULL, NULL),
         PMIX_ERR_OUT_OF_RESOURCE, "too many codes");
  expect(PMIx_Register_event_handler(&code, 1, NULL, 3, a, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no infos");
  expect(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 2, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no infos");
  /* No source, no callback but its data: as Open MPI does. */
  int unused = 0;
  succeed(PMIx_Notify_event(PMIX_ERR_PROC_TERM_WO_SYNC, NULL, PMIX_RANGE_LOCAL,
                            NULL, 0, NULL, &unused),
          "notify without callback");
  end();
  expect(PMIx_Register_event_handler(&code, 1, NULL, 0, a, NULL, NULL),
         PMIX_ERR_INIT, "register after finalize");
}

/* -- the chain ------------------------------------------------------------- */

static int released;

static void on_released(pmix_status_t outcome UNUSED, void* data) {
  free(data);
  ++released;
}

/* Reports an info of its own. */
static void reports(size_t id UNUSED, pmix_status_t code UNUSED,
                    const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                    size_t n UNUSED, pmix_info_t* results UNUSED,
                    size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                    void* data) {
  demand(nresults == 0, "nobody reported before");
  pmix_info_t* mine = malloc(sizeof *mine);
  *mine = int_info("my.number", 42);
  done(PMIX_EVENT_PARTIAL_ACTION_TAKEN, mine, 1, on_released, mine, data);
}

static int object;

/* Checks what the one before it has reported, and its own object. */
static void reads(size_t id UNUSED, pmix_status_t code,
                  const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                  pmix_info_t* results, size_t nresults,
                  pmix_event_notification_cbfunc_fn_t done, void* data) {
  demand(code == CODE_A, "the code");
  demand(PMIX_CHECK_PROCID(source, &me), "the source");
  const void* found = NULL;
  bool has_text = false;
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_RETURN_OBJECT))
      found = infos[i].value.data.ptr;
    if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_TEXT_MESSAGE))
      has_text = strcmp(infos[i].value.data.string, "hello") == 0;
  }
  demand(found == &object, "the object comes back");
  demand(has_text, "infos of the notifier");
  demand(nresults == 2, "an entry for each handler before");
  demand(PMIX_CHECK_KEY(&results[0], "anna"), "its name");
  demand(results[0].value.type == PMIX_DATA_ARRAY, "an array");
  const pmix_data_array_t* array = results[0].value.data.darray;
  demand(array->type == PMIX_INFO && array->size == 2, "of two infos");
  const pmix_info_t* entry = array->array;
  demand(PMIX_CHECK_KEY(&entry[0], "anna") && entry[0].value.type == PMIX_STATUS
           && entry[0].value.data.status == PMIX_EVENT_PARTIAL_ACTION_TAKEN,
         "name and status first");
  demand(PMIX_CHECK_KEY(&entry[1], "my.number")
           && entry[1].value.data.integer == 42,
         "then its own results");
  demand(results[1].key[0] == '\0', "a handler without a name");
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&calls, PMIX_SUCCESS);
}

static void results(void) {
  begin();
  add_placed(CODE_A, reports, NULL, NULL, "anna");
  add_one(CODE_A, a);
  pmix_status_t code = CODE_A;
  pmix_info_t infos[1];
  PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_RETURN_OBJECT, &object, PMIX_POINTER);
  infos[0].value.data.ptr = &object;
  add(&code, 1, reads, infos, 1);
  add_one(CODE_A, b); /* Never called: the event is dealt with. */
  pmix_info_t text = string_info(PMIX_EVENT_TEXT_MESSAGE, "hello");
  succeed(
    PMIx_Notify_event(CODE_A, &me, PMIX_RANGE_PROC_LOCAL, &text, 1, NULL, NULL),
    "notify");
  demand(happens(&calls, 2, 10), "the handlers are called");
  expect_calls(CODE_B, "");
  demand(strchr(journal, 'b') == NULL, "nobody after action complete");
  demand(released == 1, "results are released once");
  end();
}

/* -- completion ------------------------------------------------------------ */

struct completion {
  pmix_event_notification_cbfunc_fn_t done;
  void* data;
};

static struct completion kept[8];
static int num_kept;

static void keeps(size_t id UNUSED, pmix_status_t code UNUSED,
                  const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                  size_t n UNUSED, pmix_info_t* results UNUSED,
                  size_t nresults UNUSED,
                  pmix_event_notification_cbfunc_fn_t done, void* data) {
  kept[num_kept].done = done;
  kept[num_kept++].data = data;
  note("k");
  happen(&calls, PMIX_SUCCESS);
}

static void* complete_later(void* data) {
  struct completion* x = data;
  x->done(PMIX_EVENT_ACTION_DEFERRED, NULL, 0, NULL, NULL, x->data);
  return NULL;
}

/* Completes on another thread, then once more. */
static void other_thread(void) {
  begin();
  add_one(CODE_A, keeps);
  add_one(CODE_A, a);
  raise_event(CODE_A);
  demand(happens(&calls, 1, 10), "the first is called");
  pthread_t thread;
  pthread_create(&thread, NULL, complete_later, &kept[0]);
  pthread_join(thread, NULL);
  demand(happens(&calls, 2, 10), "the second is called");
  complete_later(&kept[0]);
  complete_later(&kept[0]);
  demand(strcmp(journal, "ka") == 0, "each once");
  raise_event(CODE_A);
  demand(happens(&calls, 3, 10), "and again");
  complete_later(&kept[1]);
  demand(happens(&calls, 4, 10), "and again");
  end();
  complete_later(&kept[1]); /* Harmless after the end, too. */
}

/* Never completes: later events go on, and standard error names it. */
static void stuck(void) {
  begin();
  add_placed(CODE_A, keeps, NULL, NULL, "stuck");
  add_one(CODE_B, b);
  raise_event(CODE_A);
  const double start = now();
  raise_event(CODE_B);
  demand(happens(&calls, 2, 20), "the next event is not held up");
  demand(now() - start < 15, "in bounded time");
  demand(strcmp(journal, "kb") == 0, "in order");
  raise_event(CODE_A);
  raise_event(CODE_B);
  demand(happens(&calls, 4, 20), "nor those after it");
  end();
}

/* -- inside a handler ------------------------------------------------------ */

static struct pending inside = PENDING;

/* Blocking calls are refused, others work; it deregisters itself. */
static void busy(size_t id, pmix_status_t code UNUSED,
                 const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                 size_t n UNUSED, pmix_info_t* results UNUSED,
                 size_t nresults UNUSED,
                 pmix_event_notification_cbfunc_fn_t done, void* data) {
  pmix_status_t other = CODE_B;
  expect(PMIx_Register_event_handler(&other, 1, NULL, 0, a, NULL, NULL),
         PMIX_ERR_WOULD_BLOCK, "a blocking registration");
  expect(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_WOULD_BLOCK, "a fence");
  succeed(
    PMIx_Register_event_handler(&other, 1, NULL, 0, b, on_registered, &inside),
    "a registration with a callback");
  succeed(
    PMIx_Notify_event(other, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL),
    "an event");
  succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "itself");
  expect(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_ERR_BAD_PARAM,
         "itself again");
  note("x");
  done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, data);
  happen(&calls, PMIX_SUCCESS);
}

static void from_inside(void) {
  begin();
  add_one(CODE_A, busy);
  raise_event(CODE_A);
  demand(happens(&calls, 2, 10), "it is called, and for its own event");
  demand(happens(&inside, 1, 10), "its registration is answered");
  demand(strcmp(journal, "xb") == 0, "in order");
  expect_calls(CODE_A, "");
  end();
}

/* -- ranges ---------------------------------------------------------------- */

static void ranges(void) {
  begin();
  add_one(CODE_A, a);
  static const pmix_data_range_t own[] = {
    PMIX_RANGE_PROC_LOCAL, PMIX_RANGE_LOCAL, PMIX_RANGE_NAMESPACE,
    PMIX_RANGE_SESSION, PMIX_RANGE_GLOBAL};
  int expected = 0;
  for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) {
    struct pending sent = PENDING;
    succeed(PMIx_Notify_event(CODE_A, &me, own[i], NULL, 0, on_done, &sent),
            "notify");
    demand(happens(&sent, 1, 10), "it is answered");
    demand(happens(&calls, ++expected, 10), "the process has its own event");
  }
  pmix_proc_t somebody = proc_in(me.nspace, me.rank + 1);
  pmix_info_t to;
  PMIX_INFO_LOAD(&to, PMIX_EVENT_CUSTOM_RANGE, &somebody, PMIX_PROC);
  PMIx_Notify_event(CODE_A, &me, PMIX_RANGE_CUSTOM, &to, 1, NULL, NULL);
  expect_calls(CODE_B, "");
  demand(strlen(journal) == 0 && calls.happened == expected + 1,
         "not one that is for others");
  end();
}

/* The server dies: the process hears of it, and lives. */
static void lost_server(void) {
  begin();
  add_one(PMIX_ERR_LOST_CONNECTION, a);
  kill((pid_t)strtol(case_args[0], NULL, 10), SIGKILL);
  demand(happens(&calls, 1, 10), "the loss is an event");
  expect_calls(CODE_B, "");
  demand(calls.happened == 2, "once");
  printf("heard of it\n");
  fflush(stdout);
  PMIx_Finalize(NULL, 0);
}

/* -- many ------------------------------------------------------------------ */

static void many(void) {
  begin();
  enum { handlers = 2000, events = 200 };
  static size_t ids[handlers];
  for (int i = 0; i < handlers; ++i)
    ids[i] = add_one(i < 10 ? CODE_A : CODE_B, a);
  for (int i = 0; i < events; ++i)
    raise_event(CODE_A);
  demand(happens(&calls, 10 * events, 30), "all are called");
  for (int i = 0; i < handlers; ++i)
    succeed(PMIx_Deregister_event_handler(ids[i], NULL, NULL), "deregister");
  expect_calls(CODE_A, "");
  end();
}

static void* hammer(void* data) {
  const pmix_status_t code = *(pmix_status_t*)data;
  for (int i = 0; i < 200; ++i) {
    const size_t id = add_one(code, b);
    raise_event(code);
    succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
  }
  return NULL;
}

static void threads(void) {
  begin();
  pthread_t threads[4];
  static pmix_status_t codes[4];
  for (int i = 0; i < 4; ++i) {
    codes[i] = CODE_A - 100 - i;
    pthread_create(&threads[i], NULL, hammer, &codes[i]);
  }
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  expect_calls(CODE_A, "");
  end();
}

/* -- handlers that come later ---------------------------------------------- */

/* Raises an event that others of the node may have, too. */
static void publish(pmix_status_t code, pmix_info_t* infos, size_t n) {
  succeed(PMIx_Notify_event(code, &me, PMIX_RANGE_LOCAL, infos, n, NULL, NULL),
          "notify");
}

/* Each gets what was raised before, once; none what is not to be cached. */
static void later(void) {
  begin();
  pmix_info_t once = flag_info(PMIX_EVENT_DO_NOT_CACHE);
  for (int i = 0; i < 3; ++i)
    publish(CODE_A, NULL, 0);
  publish(CODE_A, &once, 1);
  add_one(CODE_A, a);
  demand(happens(&calls, 3, 10), "the first gets three");
  add_one(CODE_A, b);
  demand(happens(&calls, 6, 10), "the second gets three");
  expect_calls(CODE_B, "");
  demand(calls.happened == 7, "and nobody more");
  end();
}

/* -- the end, and too much ------------------------------------------------- */

/* Ends while a handler has not completed and a thousand events wait. */
static void busy_end(void) {
  begin();
  add_one(CODE_A, keeps);
  add_one(CODE_B, a);
  raise_event(CODE_A);
  demand(happens(&calls, 1, 10), "the first is called");
  for (int i = 0; i < 1000; ++i)
    raise_event(CODE_B);
  const double start = now();
  end();
  demand(now() - start < 5, "the end does not wait for handlers");
  complete_later(&kept[0]);
}

static void* flood(void* data) {
  const pmix_status_t code = *(pmix_status_t*)data;
  for (uint32_t i = 0; i < 50000; ++i) {
    pmix_info_t number;
    PMIX_INFO_LOAD(&number, "number", &i, PMIX_UINT32);
    succeed(PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, &number, 1,
                              NULL, NULL),
            "notify");
  }
  return NULL;
}

static uint32_t next_number[4];

static void counts(size_t id UNUSED, pmix_status_t code,
                   const pmix_proc_t* source UNUSED, pmix_info_t* infos,
                   size_t n, pmix_info_t* results UNUSED,
                   size_t nresults UNUSED,
                   pmix_event_notification_cbfunc_fn_t done, void* data) {
  demand(n == 1 && infos[0].value.data.uint32 == next_number[CODE_A - code]++,
         "the events of a thread come in order");
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&calls, PMIX_SUCCESS);
}

/* 200,000 events from four threads: none is lost. */
static void own_flood(void) {
  begin();
  pthread_t threads[4];
  static pmix_status_t codes[4];
  for (int i = 0; i < 4; ++i) {
    codes[i] = CODE_A - i;
    add_one(codes[i], counts);
  }
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, flood, &codes[i]);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  demand(happens(&calls, 200000, 60), "all arrive");
  end();
}

/* A handler after the other, until there are too many. */
static void too_many(void) {
  begin();
  pmix_status_t code = CODE_A;
  int count = 0;
  pmix_status_t id = 0;
  while (id >= 0 && count < 1000000) {
    id = PMIx_Register_event_handler(&code, 1, NULL, 0, a, NULL, NULL);
    ++count;
  }
  expect(id, PMIX_ERR_OUT_OF_RESOURCE, "one too many");
  demand(count > 1000, "but not soon");
  succeed(PMIx_Deregister_event_handler(0, NULL, NULL), "deregister");
  add_one(CODE_A, a);
  end();
}

static void bad_events(void) {
  begin();
  static const pmix_data_range_t none[] = {8, 100, PMIX_RANGE_INVALID,
                                           PMIX_RANGE_CUSTOM};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i)
    expect(PMIx_Notify_event(CODE_A, &me, none[i], NULL, 0, NULL, NULL),
           PMIX_ERR_BAD_PARAM, "no such range");
  pmix_status_t code = CODE_A;
  pmix_info_t range;
  pmix_data_range_t unknown = 77;
  PMIX_INFO_LOAD(&range, PMIX_RANGE, &unknown, PMIX_DATA_RANGE);
  expect(PMIx_Register_event_handler(&code, 1, &range, 1, a, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no such range");
  code = INT32_MIN;
  expect(PMIx_Register_event_handler(&code, 1, NULL, 0, a, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "no such code");
  code = CODE_A;
  bool no = false;
  pmix_info_t level;
  PMIX_INFO_LOAD(&level, PMIX_EVENT_JOB_LEVEL, &no, PMIX_BOOL);
  expect(PMIx_Register_event_handler(&code, 1, &level, 1, a, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "events of no class");
  /* 40 MiB, over the bound of a message. */
  const size_t size = (size_t)40 << 20;
  char* text = malloc(size);
  memset(text, 'x', size);
  text[size - 1] = '\0';
  pmix_info_t large = string_info("large", text);
  add_one(CODE_B, b);
  demand(
    PMIx_Notify_event(CODE_B, &me, PMIX_RANGE_NAMESPACE, &large, 1, NULL, NULL)
      != PMIX_SUCCESS,
    "it cannot be sent");
  /* The process has its own all the same, and goes on. */
  demand(happens(&calls, 1, 10), "its own handler has it");
  free(text);
  static const pmix_status_t codes[] = {5,     100000, INT32_MAX,
                                        -3500, -1,     1 - INT32_MAX};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i) {
    const size_t id = add_one(codes[i], a);
    expect_calls(codes[i], "a");
    succeed(PMIx_Deregister_event_handler(id, NULL, NULL), "deregister");
  }
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"order", order},
    {"placement", placement},
    {"ends", ends},
    {"affected", affected},
    {"numbers", numbers},
    {"defaults", defaults},
    {"bad_arguments", bad_arguments},
    {"results", results},
    {"other_thread", other_thread},
    {"stuck", stuck},
    {"from_inside", from_inside},
    {"ranges", ranges},
    {"lost_server", lost_server},
    {"many", many},
    {"threads", threads},
    {"later", later},
    {"busy_end", busy_end},
    {"own_flood", own_flood},
    {"too_many", too_many},
    {"bad_events", bad_events},
  };
  case_thread = pthread_self();
  return RUN_CASE(cases);
}
