/* What a client does, every answer given back: for memory checkers. With the
 * argument `publish` its server keeps published data. */

#include "../../interop/programs/client.h"

static struct pending told = PENDING;

static void on_told(size_t id UNUSED, pmix_status_t code,
                    const pmix_proc_t* source UNUSED,
                    pmix_info_t infos[] UNUSED, size_t n UNUSED,
                    pmix_info_t* results UNUSED, size_t n_results UNUSED,
                    pmix_event_notification_cbfunc_fn_t done, void* data) {
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
  happen(&told, code);
}

static void on_value(pmix_status_t outcome, pmix_value_t* value UNUSED,
                     void* data) {
  happen(data, outcome);
}

static void data(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  char large[20000];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  put_string(PMIX_GLOBAL, "memory.large", large);
  put_string(PMIX_LOCAL, "memory.local", "l");
  post("memory.small", "s");
  pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence");
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    expect_string(&whom, "memory.large", large, 10);
    expect_string(&whom, "memory.small", "s", 0);
    struct pending done = PENDING;
    succeed(PMIx_Get_nb(&whom, "memory.local", NULL, 0, on_value, &done),
            "get without waiting");
    demand(happens(&done, 1, 60), "the value comes");
    succeed(done.outcome, "value");
    succeed(try_get(&whom, NULL, NULL, 0), "everything of a process");
  }
  succeed(try_get(&all, NULL, NULL, 0), "everything of the job");
  pmix_info_t now_or_never = flag_info(PMIX_IMMEDIATE);
  expect(try_get(&me, "memory.nothing", &now_or_never, 1), PMIX_ERR_NOT_FOUND,
         "what nobody posts");
}

static void published(void) {
  char key[64];
  snprintf(key, sizeof key, "memory.key.%u", me.rank);
  char* keys[] = {key, NULL};
  pmix_info_t info = string_info(keys[0], "found");
  succeed(PMIx_Publish(&info, 1), "publish");
  PMIX_INFO_DESTRUCT(&info);
  pmix_pdata_t found[2];
  for (int i = 0; i < 2; ++i) {
    PMIX_PDATA_CONSTRUCT(&found[i]);
    PMIX_LOAD_KEY(found[i].key, i == 0 ? keys[0] : "memory.no such key");
  }
  const pmix_status_t code = PMIx_Lookup(found, 2, NULL, 0);
  demand(code == PMIX_SUCCESS || code == PMIX_ERR_PARTIAL_SUCCESS, "lookup");
  for (int i = 0; i < 2; ++i)
    PMIX_PDATA_DESTRUCT(&found[i]);
  succeed(PMIx_Unpublish(keys, NULL, 0), "unpublish");
}

static void events(void) {
  pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 3;
  handle(&code, 1, on_told);
  meet();
  if (me.rank == 0) {
    pmix_info_t info = string_info("memory.why", "to see");
    const pmix_status_t outcome =
      PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL);
    demand(outcome == PMIX_SUCCESS || outcome == PMIX_OPERATION_SUCCEEDED,
           "the event is sent");
    PMIX_INFO_DESTRUCT(&info);
  }
  if (me.rank != 0 || job_size == 1)
    demand(job_size == 1 || happens(&told, 1, 60), "the event comes");
  meet();
}

static void lists(void) {
  void* list = PMIx_Info_list_start();
  uint32_t number = 7;
  succeed(PMIx_Info_list_add(list, "memory.text", "t", PMIX_STRING), "text");
  succeed(PMIx_Info_list_add(list, "memory.number", &number, PMIX_UINT32),
          "number");
  pmix_data_array_t array = {PMIX_UNDEF, 0, NULL};
  succeed(PMIx_Info_list_convert(list, &array), "array");
  PMIx_Info_list_release(list);
  demand(array.size == 2, "both are there");

  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  int32_t count = 2;
  succeed(PMIx_Data_pack(NULL, &buffer, array.array, count, PMIX_INFO), "pack");
  pmix_info_t read[2];
  memset(read, 0, sizeof read);
  succeed(PMIx_Data_unpack(NULL, &buffer, read, &count, PMIX_INFO), "unpack");
  demand(count == 2 && read[1].value.data.uint32 == 7, "what was packed");
  char* text = NULL;
  succeed(PMIx_Data_print(&text, NULL, &read[0], PMIX_INFO), "print");
  free(text);
  for (int i = 0; i < 2; ++i)
    PMIX_INFO_DESTRUCT(&read[i]);
  count = 1;
  expect(PMIx_Data_unpack(NULL, &buffer, read, &count, PMIX_INFO),
         PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER, "unpack what is not there");
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static void questions(void) {
  pmix_proc_t* peers = NULL;
  size_t n = 0;
  succeed(PMIx_Resolve_peers(NULL, me.nspace, &peers, &n), "peers");
  demand(n == job_size, "all are peers");
  PMIX_PROC_FREE(peers, n);
  char* nodes = NULL;
  succeed(PMIx_Resolve_nodes(me.nspace, &nodes), "nodes");
  free(nodes);
}

int main(int argc, char** argv) {
  begin();
  data();
  if (argc > 1 && strcmp(argv[1], "publish") == 0)
    published();
  events();
  lists();
  questions();
  if (me.rank == 0)
    printf("memory: %u clients\n", job_size);
  fflush(stdout);
  end();
  return 0;
}
