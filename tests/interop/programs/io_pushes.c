/* A tool that pushes input to the processes it starts, and pulls what they say
 * about it. The server is in IO_SERVER, the daemon's number in IO_DAEMON.
 * usage: io_pushes CASE */

#include "io_api.h"

enum { most_ranks = 3, text_size = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char texts[most_ranks][text_size];
static int ends[most_ranks];

static void take(size_t id UNUSED, pmix_iof_channel_t channel UNUSED,
                 pmix_proc_t* source, pmix_byte_object_t* payload,
                 pmix_info_t infos[] UNUSED, size_t n UNUSED) {
  demand(source->rank < most_ranks, "one of the processes");
  pthread_mutex_lock(&mutex);
  char* text = texts[source->rank];
  if (payload == NULL || payload->size == 0)
    ++ends[source->rank];
  else if (strlen(text) + payload->size < text_size)
    strncat(text, payload->bytes, payload->size);
  pthread_mutex_unlock(&mutex);
}

/* Starts readers and asks for what they say. */
static void read_pattern(int procs, const char* pause, char* nspace) {
  char word[32];
  snprintf(word, sizeof word, "%s", pause);
  char* args[] = {"reader", word, NULL};
  start(procs, args, nspace);
  const pmix_proc_t all = proc_in(nspace, PMIX_RANK_WILDCARD);
  demand(
    PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, take, NULL, NULL)
      >= 0,
    "PMIx_IOF_pull");
}

static void await_words(int procs, size_t size) {
  char wanted[text_size];
  snprintf(wanted, sizeof wanted, "%zu right\n", size);
  const double deadline = now() + 40;
  for (int i = 0; i < procs;) {
    pthread_mutex_lock(&mutex);
    const bool is_over = ends[i] > 0;
    if (is_over && strcmp(texts[i], wanted) != 0)
      fail("rank %d has read %s, not %s", i, texts[i], wanted);
    pthread_mutex_unlock(&mutex);
    if (is_over)
      ++i;
    else
      pause_ms(2);
    if (now() > deadline)
      fail("rank %d says %s and does not end", i, texts[i]);
  }
}

/* Pushes and waits for the answer. Libraries of 4.2 free what a call without
 * callback waits for. */
static pmix_status_t push_with(const pmix_proc_t* whom, char* bytes,
                               size_t size, pmix_info_t* infos, size_t n) {
  struct pending done = PENDING;
  pmix_byte_object_t object = {bytes, size};
  if (getenv("IO_OWN") != NULL)
    return PMIx_IOF_push(whom, 1, &object, infos, n, NULL, NULL);
  const pmix_status_t code =
    PMIx_IOF_push(whom, 1, &object, infos, n, on_done, &done);
  if (code != PMIX_SUCCESS)
    return code;
  demand(happens(&done, 1, 30), "the push is answered");
  return done.outcome;
}

static pmix_status_t push(const pmix_proc_t* whom, char* bytes, size_t size) {
  return push_with(whom, bytes, size, NULL, 0);
}

/* -- cases ----------------------------------------------------------------- */

/* All at once, then the end, to one process or all. */
static void to(pmix_rank_t rank, int procs) {
  const size_t size = 20 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  read_pattern(procs, "0", nspace);
  const pmix_proc_t whom = proc_in(nspace, rank);
  char* bytes = make_pattern(7, size);
  succeed(push(&whom, bytes, size), "PMIx_IOF_push");
  succeed(push(&whom, NULL, 0), "the end of the input");
  await_words(procs, size);
  await_end(nspace, 10);
  const long server = peak_memory(getenv("IO_DAEMON"));
  printf("the daemon's peak is %ld KiB\n", server);
  demand(server < 64 << 10, "the daemon needs less than 64 MiB");
  end_tool();
}

static void whole(void) {
  to(0, 1);
}

static void to_all(void) {
  to(PMIX_RANK_WILDCARD, 3);
}

/* The last bytes say that they are the last; who can be pushed to is said as
 * tools say it. */
static void complete(void) {
  const size_t size = 3 << 20;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  input_key = PMIX_FWD_STDIN;
  read_pattern(2, "0", nspace);
  const pmix_proc_t whom = proc_in(nspace, PMIX_RANK_WILDCARD);
  char* bytes = make_pattern(7, size);
  succeed(push(&whom, bytes, size / 2), "PMIx_IOF_push");
  static struct pending done = PENDING;
  pmix_info_t is_last = flag_info(PMIX_IOF_COMPLETE);
  pmix_byte_object_t rest = {bytes + size / 2, size - size / 2};
  succeed(PMIx_IOF_push(&whom, 1, &rest, &is_last, 1, on_done, &done),
          "PMIx_IOF_push");
  demand(happens(&done, 1, 30), "the push is answered");
  succeed(done.outcome, "the last push");
  await_words(2, size);
  await_end(nspace, 10);
  end_tool();
}

/* Many that are not waited for, to a process that begins late. */
static void pieces(void) {
  enum { count = 320 };
  static struct pending done = PENDING;
  const size_t size = 1 << 16;
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  read_pattern(1, "1000", nspace);
  const pmix_proc_t whom = proc_in(nspace, 0);
  char* bytes = make_pattern(7, count * size);
  static pmix_byte_object_t objects[count + 1];
  for (int i = 0; i < count; ++i) {
    objects[i].bytes = bytes + (size_t)i * size;
    objects[i].size = size;
  }
  for (int i = 0; i <= count; ++i) {
    const pmix_status_t code =
      PMIx_IOF_push(&whom, 1, &objects[i], NULL, 0, on_done, &done);
    if (code != PMIX_SUCCESS && code != PMIX_OPERATION_SUCCEEDED)
      fail("PMIx_IOF_push: %s", PMIx_Error_string(code));
  }
  await_words(1, count * size);
  demand(happens(&done, count + 1, 10), "each push is answered");
  succeed(done.outcome, "the last push");
  const long server = peak_memory(getenv("IO_DAEMON"));
  printf("the daemon's peak is %ld KiB\n", server);
  demand(server < 64 << 10, "the daemon needs less than 64 MiB");
  end_tool();
}

/* Bytes that stand nowhere, or are for nobody, disturb nobody. */
static void wrong(void) {
  const size_t size = 1 << 20;
  const uint64_t offsets[] = {1, size, UINT64_MAX - 1, UINT64_MAX};
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  read_pattern(1, "0", nspace);
  pmix_proc_t whom = proc_in(nspace, 0);
  char* bytes = make_pattern(7, size);
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, IO_OFFSET, &offsets[i], PMIX_UINT64);
    demand(push_with(&whom, bytes, 100, &info, 1) < 0, "a gap is refused");
  }
  const struct {
    const char* nspace;
    pmix_rank_t rank;
  } nobody[] = {{nspace, 1}, {nspace, PMIX_RANK_UNDEF}, {"nobody", 0}};
  for (size_t i = 0; i < sizeof nobody / sizeof *nobody; ++i) {
    const pmix_proc_t who = proc_in(nobody[i].nspace, nobody[i].rank);
    demand(push_with(&who, bytes, 100, NULL, 0) < 0, "nobody reads");
  }
  succeed(push(&whom, bytes, size), "PMIx_IOF_push");
  succeed(push(&whom, NULL, 0), "the end of the input");
  demand(push(&whom, bytes, 100) < 0, "nothing comes after the end");
  await_words(1, size);
  await_end(nspace, 10);
  end_tool();
}

/* Our own standard input. usage: io_pushes stdin SIZE PAUSE */
static void own_input(void) {
  const size_t size = strtoull(case_args[0], NULL, 10);
  char nspace[PMIX_MAX_NSLEN + 1];
  begin_tool();
  const long before = peak_memory("self");
  read_pattern(1, case_args[1], nspace);
  const pmix_proc_t whom = proc_in(nspace, 0);
  pmix_info_t directive = flag_info(PMIX_IOF_PUSH_STDIN);
  const pmix_status_t code =
    PMIx_IOF_push(&whom, 1, NULL, &directive, 1, NULL, NULL);
  if (code != PMIX_OPERATION_SUCCEEDED)
    succeed(code, "PMIx_IOF_push");
  await_words(1, size);
  demand_little_memory(before);
  end_tool();
}

/* Writes what own_input is to read. usage: io_pushes pattern SIZE */
static void pattern(void) {
  const size_t size = strtoull(case_args[0], NULL, 10);
  write_all(STDOUT_FILENO, make_pattern(7, size), size);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"writer", writer},   {"reader", reader},     {"whole", whole},
    {"all", to_all},      {"pieces", pieces},     {"stdin", own_input},
    {"pattern", pattern}, {"complete", complete}, {"wrong", wrong},
  };
  return RUN_CASE(cases);
}
