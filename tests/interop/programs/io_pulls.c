/* A tool that pulls the output of the processes it starts. The server is in
 * IO_SERVER, the daemon's number in IO_DAEMON. With IO_OWN our own memory
 * counts as well. usage: io_pulls CASE */

#include "io_api.h"

enum { max_handlers = 2, max_ranks = 4, max_channels = 3 };

struct stream {
  size_t next;   /* the byte that is expected */
  size_t bytes;  /* what has come */
  size_t missed; /* what will never come */
  size_t calls;
  int ends;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct stream streams[max_handlers][max_ranks][max_channels];
static char go[256];

/* How long the first call of a handler takes. */
static long first_pause;

static uint64_t number_in(const pmix_info_t* infos, size_t n, const char* key,
                          uint64_t otherwise) {
  for (size_t i = 0; i < n; ++i)
    if (strcmp(infos[i].key, key) == 0) {
      demand(infos[i].value.type == PMIX_UINT64, key);
      return infos[i].value.data.uint64;
    }
  return otherwise;
}

static void take(int handler, pmix_iof_channel_t channel, pmix_proc_t* source,
                 pmix_byte_object_t* payload, pmix_info_t* infos, size_t n) {
  demand(channel == PMIX_FWD_STDOUT_CHANNEL
           || channel == PMIX_FWD_STDERR_CHANNEL,
         "one channel");
  demand(source->rank < max_ranks, "one of the processes");
  const int column = channel == PMIX_FWD_STDOUT_CHANNEL ? 1 : 2;
  const unsigned tag = source->rank + (column == 1 ? 0 : 100);
  pthread_mutex_lock(&mutex);
  struct stream* x = &streams[handler][source->rank][column];
  const long pause = x->calls++ == 0 ? first_pause : 0;
  const uint64_t missed = number_in(infos, n, IO_MISSED, 0);
  const uint64_t offset = number_in(infos, n, IO_OFFSET, x->next + missed);
  if (offset != x->next + missed)
    fail("a gap of %zu is said to be one of %zu", (size_t)offset - x->next,
         (size_t)missed);
  demand(x->ends == 0, "nothing after the end");
  const size_t size = payload != NULL ? payload->size : 0;
  if (size == 0)
    ++x->ends;
  else if (!is_pattern(tag, offset, payload->bytes, size))
    fail("stream %u is not what was written at %zu", tag, (size_t)offset);
  x->missed += missed;
  x->bytes += size;
  x->next = offset + size;
  pthread_mutex_unlock(&mutex);
  if (pause > 0)
    pause_ms(pause);
}

static void take_0(size_t id UNUSED, pmix_iof_channel_t channel,
                   pmix_proc_t* source, pmix_byte_object_t* payload,
                   pmix_info_t infos[], size_t n) {
  take(0, channel, source, payload, infos, n);
}

static void take_1(size_t id UNUSED, pmix_iof_channel_t channel,
                   pmix_proc_t* source, pmix_byte_object_t* payload,
                   pmix_info_t infos[], size_t n) {
  take(1, channel, source, payload, infos, n);
}

static struct stream look(int handler, unsigned rank, int column) {
  pthread_mutex_lock(&mutex);
  const struct stream result = streams[handler][rank][column];
  pthread_mutex_unlock(&mutex);
  return result;
}

static void await_end_of(int handler, unsigned rank, int column, size_t size) {
  const double deadline = now() + 40;
  while (look(handler, rank, column).ends == 0) {
    if (now() > deadline)
      fail("handler %d, stream %d of rank %u: %zu of %zu bytes came, no end",
           handler, column, rank, look(handler, rank, column).bytes, size);
    pause_ms(2);
  }
  const struct stream x = look(handler, rank, column);
  if (x.bytes + x.missed != size || x.ends != 1)
    fail("%zu bytes came and %zu are missed, of %zu; %d ends", x.bytes,
         x.missed, size, x.ends);
}

static void expect_nothing(int handler, unsigned rank, int column) {
  const struct stream x = look(handler, rank, column);
  if (x.bytes > 0 || x.ends > 0)
    fail("handler %d got %zu bytes of stream %d of rank %u", handler, x.bytes,
         column, rank);
}

static pmix_status_t pull(const char* nspace, pmix_rank_t rank,
                          pmix_iof_channel_t channels, pmix_iof_cbfunc_t f,
                          pmix_info_t* infos, size_t n) {
  const pmix_proc_t source = proc_in(nspace, rank);
  const pmix_status_t id =
    PMIx_IOF_pull(&source, 1, infos, n, channels, f, NULL, NULL);
  if (id < 0)
    fail("PMIx_IOF_pull: %s", PMIx_Error_string(id));
  return id;
}

/* Starts writers of `all` bytes that wait after the first. */
static void write_pattern(int procs, size_t first, size_t all, char* nspace) {
  char a[32], b[32];
  snprintf(a, sizeof a, "%zu", first);
  snprintf(b, sizeof b, "%zu", all);
  snprintf(go, sizeof go, "go.%d", (int)getpid());
  unlink(go);
  char* args[] = {"writer", a, b, go, NULL};
  start(procs, args, nspace);
}

static void set_number(pmix_info_t* x, const char* key, uint32_t value) {
  PMIX_INFO_LOAD(x, key, &value, PMIX_UINT32);
}

/* -- cases ----------------------------------------------------------------- */

static void one_process(void) {
  const size_t size = 3 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(3, 0, size, nspace);
  pull(nspace, 1, PMIX_FWD_STDOUT_CHANNEL, take_0, NULL, 0);
  touch(go);
  await_end_of(0, 1, 1, size);
  await_end(nspace, 10);
  for (unsigned rank = 0; rank < 3; ++rank) {
    expect_nothing(0, rank, 2);
    if (rank != 1)
      expect_nothing(0, rank, 1);
  }
  end_tool();
}

static struct pending registered = PENDING;
static size_t registered_id;

static void on_pull(pmix_status_t outcome, size_t id, void* data) {
  registered_id = id;
  happen(data, outcome);
}

static void whole_namespace(void) {
  const size_t size = 1 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(4, 0, size, nspace);
  const pmix_proc_t all = proc_in(nspace, PMIX_RANK_WILDCARD);
  succeed(PMIx_IOF_pull(&all, 1, NULL, 0,
                        PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL,
                        take_0, on_pull, &registered),
          "PMIx_IOF_pull");
  demand(happens(&registered, 1, 10), "the pull is answered");
  succeed(registered.outcome, "the pull");
  touch(go);
  for (unsigned rank = 0; rank < 4; ++rank) {
    await_end_of(0, rank, 1, size);
    await_end_of(0, rank, 2, size / 4);
  }
  end_tool();
}

/* Two that want the same stream, and one of them others as well. */
static void two_masks(void) {
  const size_t size = 2 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(2, 0, size, nspace);
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, NULL, 0);
  pull(nspace, PMIX_RANK_WILDCARD,
       PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, take_1, NULL, 0);
  touch(go);
  await_end_of(0, 0, 1, size);
  for (unsigned rank = 0; rank < 2; ++rank) {
    await_end_of(1, rank, 1, size);
    await_end_of(1, rank, 2, size / 4);
  }
  expect_nothing(0, 1, 1);
  expect_nothing(0, 0, 2);
  end_tool();
}

/* What was written before somebody asked is still there. */
static void tail(void) {
  const size_t size = 100000;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, size / 2, size, nspace);
  pause_ms(200);
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, NULL, 0);
  const double deadline = now() + 10;
  while (look(0, 0, 1).bytes < size / 2 && now() < deadline)
    pause_ms(2);
  demand(look(0, 0, 1).bytes == size / 2, "the tail came");
  touch(go);
  await_end_of(0, 0, 1, size);
  end_tool();
}

static void deregister(void) {
  const size_t size = 40 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, 0, size, nspace);
  const pmix_status_t id =
    pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, NULL, 0);
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_1, NULL, 0);
  touch(go);
  const double deadline = now() + 10;
  while (look(0, 0, 1).bytes < 1 << 20 && now() < deadline)
    pause_ms(1);
  /* Libraries of 4.2 free what a call without callback waits for. */
  static struct pending done = PENDING;
  if (getenv("IO_OWN") != NULL) {
    succeed(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL),
            "PMIx_IOF_deregister");
  } else {
    succeed(PMIx_IOF_deregister((size_t)id, NULL, 0, on_done, &done),
            "PMIx_IOF_deregister");
    demand(happens(&done, 1, 10), "the deregistration is answered");
    succeed(done.outcome, "the deregistration");
  }
  const struct stream before = look(0, 0, 1);
  demand(before.bytes < size, "in the middle of the stream");
  await_end_of(1, 0, 1, size);
  demand(look(0, 0, 1).calls == before.calls, "nothing after that");
  end_tool();
}

/* What is kept together comes before the end of the subscription. */
static void kept(void) {
  const size_t size = 1000;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, size, 2 * size, nspace);
  pmix_info_t info;
  set_number(&info, PMIX_IOF_BUFFERING_SIZE, 1 << 20);
  const pmix_status_t id =
    pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, &info, 1);
  pause_ms(300);
  demand(look(0, 0, 1).calls == 0, "nothing came yet");
  succeed(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL),
          "PMIx_IOF_deregister");
  demand(look(0, 0, 1).bytes == size, "what was kept came");
  touch(go);
  await_end(nspace, 10);
  demand(look(0, 0, 1).bytes == size, "and nothing else");
  end_tool();
}

/* A handler that sleeps holds the process up, not the memory. */
static void slow(void) {
  const size_t size = 100 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  const long own_before = peak_memory("self");
  write_pattern(1, 0, size, nspace);
  first_pause = 1000;
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, NULL, 0);
  touch(go);
  /* Others are not held up. */
  const double before = now();
  nspace_exists(nspace);
  if (getenv("IO_OWN") == NULL)
    demand(now() - before < 5, "a query is answered");
  await_end_of(0, 0, 1, size);
  demand_little_memory(own_before);
  end_tool();
}

/* A process that is not held up: what is lost is said to the byte. */
static void drop(const char* policy) {
  const size_t size = 20 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, 0, size, nspace);
  first_pause = 1000;
  pmix_info_t infos[3];
  set_number(&infos[0], PMIX_IOF_CACHE_SIZE, 1 << 16);
  infos[1] = flag_info(policy);
  infos[2] = flag_info(IO_OFFSETS);
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL, take_0, infos, 3);
  touch(go);
  await_end_of(0, 0, 1, size);
  const struct stream x = look(0, 0, 1);
  printf("%zu bytes came, %zu are missed\n", x.bytes, x.missed);
  demand(x.missed > 0, "something is missed");
  demand(x.bytes >= 1 << 16, "what fits came");
  end_tool();
}

static void oldest(void) {
  drop(PMIX_IOF_DROP_OLDEST);
}

static void newest(void) {
  drop(PMIX_IOF_DROP_NEWEST);
}

/* Output that no function takes goes to our own. */
static void unhandled(void) {
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, 0, 320000, nspace);
  pull(nspace, 0, PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, NULL, NULL,
       0);
  touch(go);
  await_end(nspace, 20);
  pause_ms(200);
  end_tool();
}

static void ignore(size_t id UNUSED, pmix_iof_channel_t channel UNUSED,
                   pmix_proc_t* source UNUSED,
                   pmix_byte_object_t* payload UNUSED,
                   pmix_info_t infos[] UNUSED, size_t n UNUSED) {
  /* It may be formatted. */
}

/* What is required is acted upon, or refused. */
static void required(void) {
  static const struct {
    const char* key;
    pmix_status_t outcome;
  } wanted[] = {
    {PMIX_IOF_COPY, PMIX_SUCCESS},
    {PMIX_IOF_TAG_OUTPUT, PMIX_SUCCESS},
    {PMIX_IOF_DROP_OLDEST, PMIX_SUCCESS},
    {PMIX_IOF_REDIRECT, PMIX_ERR_NOT_SUPPORTED},
    {PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_ERR_NOT_SUPPORTED},
    {"somebody.elses", PMIX_ERR_NOT_SUPPORTED},
  };
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, 0, line_size, nspace);
  const pmix_proc_t whom = proc_in(nspace, 0);
  int calls = 0;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
    for (int is_required = 0; is_required < 2; ++is_required) {
      pmix_info_t info = flag_info(wanted[i].key);
      if (is_required)
        PMIX_INFO_REQUIRED(&info);
      succeed(PMIx_IOF_pull(&whom, 1, &info, 1, PMIX_FWD_STDERR_CHANNEL, ignore,
                            on_pull, &registered),
              "PMIx_IOF_pull");
      demand(happens(&registered, ++calls, 10), "the pull is answered");
      expect(registered.outcome, is_required ? wanted[i].outcome : PMIX_SUCCESS,
             wanted[i].key);
    }
  touch(go);
  await_end(nspace, 10);
  end_tool();
}

static void refused(void) {
  begin_tool();
  const pmix_proc_t whom = proc_in("nobody", 0);
  expect(PMIx_IOF_pull(&whom, 1, NULL, 0, PMIX_FWD_STDIN_CHANNEL, take_0, NULL,
                       NULL),
         PMIX_ERR_NOT_SUPPORTED, "a pull of input");
  if (getenv("IO_OWN") != NULL) {
    expect(PMIx_IOF_pull(NULL, 0, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, take_0,
                         NULL, NULL),
           PMIX_ERR_BAD_PARAM, "a pull of nobody");
    expect(PMIx_IOF_deregister(4711, NULL, 0, NULL, NULL), PMIX_ERR_NOT_FOUND,
           "an unknown handler");
  }
  end_tool();
}

/* More than anybody may have; all of them get a stream, and it goes on. */
static void many(void) {
  enum { most = 1024, count = 5000 };
  const size_t size = 1 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  write_pattern(1, 0, size, nspace);
  const pmix_proc_t source = proc_in(nspace, 0);
  size_t taken = 0;
  for (int i = 0; i < count; ++i) {
    const pmix_status_t code =
      PMIx_IOF_pull(&source, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                    i == 0 ? take_0 : ignore, NULL, NULL);
    if (code >= 0)
      ++taken;
    else
      expect(code, PMIX_ERR_OUT_OF_RESOURCE, "a pull too many");
  }
  demand(taken > 0 && taken <= most, "there is a limit to pulls");
  touch(go);
  await_end_of(0, 0, 1, size);
  await_end(nspace, 30);
  const long server = peak_memory(getenv("IO_DAEMON"));
  printf("%zu of %d pulls; the daemon's memory peak is %ld KiB\n", taken, count,
         server);
  demand(server < 64 << 10, "the daemon needs less than 64 MiB");
  end_tool();
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"writer", writer},
    {"reader", reader},
    {"process", one_process},
    {"namespace", whole_namespace},
    {"masks", two_masks},
    {"tail", tail},
    {"deregister", deregister},
    {"slow", slow},
    {"oldest", oldest},
    {"newest", newest},
    {"unhandled", unhandled},
    {"refused", refused},
    {"required", required},
    {"kept", kept},
    {"many", many},
  };
  return RUN_CASE(cases);
}
