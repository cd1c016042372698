/* Two processes of a job whose resource manager forwards their standard
 * streams: rank 1 gives rank 0 its input and pulls what it says about it.
 * usage: io_peers peers */

#include "io_api.h"

enum { size = 3 << 20, limit = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[100];
static bool has_ended = false;

static void take(size_t id UNUSED, pmix_iof_channel_t channel,
                 pmix_proc_t* source, pmix_byte_object_t* payload,
                 pmix_info_t infos[] UNUSED, size_t n UNUSED) {
  demand(channel == PMIX_FWD_STDOUT_CHANNEL && source->rank == 0, "the stream");
  pthread_mutex_lock(&mutex);
  if (payload == NULL || payload->size == 0)
    has_ended = true;
  else if (strlen(text) + payload->size < sizeof text)
    strncat(text, payload->bytes, payload->size);
  pthread_mutex_unlock(&mutex);
}

static bool is_over(void) {
  pthread_mutex_lock(&mutex);
  const bool result = has_ended;
  pthread_mutex_unlock(&mutex);
  return result;
}

static void push(const pmix_proc_t* whom, char* bytes, size_t n) {
  struct pending done = PENDING;
  pmix_byte_object_t object = {bytes, n};
  const pmix_status_t code =
    PMIx_IOF_push(whom, 1, &object, NULL, 0, on_done, &done);
  if (code == PMIX_OPERATION_SUCCEEDED)
    return;
  succeed(code, "PMIx_IOF_push");
  demand(happens(&done, 1, 30), "the push is answered");
  succeed(done.outcome, "the push");
}

static void talk(void) {
  const pmix_proc_t other = proc_in(me.nspace, 0);
  demand(
    PMIx_IOF_pull(&other, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, take, NULL, NULL)
      >= 0,
    "PMIx_IOF_pull");
  push(&other, make_pattern(7, size), size);
  push(&other, NULL, 0);
  const double deadline = now() + limit;
  while (!is_over()) {
    demand(now() < deadline, "the output of the other ends");
    pause_ms(2);
  }
  char wanted[sizeof text];
  snprintf(wanted, sizeof wanted, "%d right\n", size);
  if (strcmp(text, wanted) != 0)
    fail("rank 0 says %s, not %s", text, wanted);
  printf("pulled: %s", text);
}

static void peers(void) {
  char none[] = "0";
  char* no_pause[] = {none, NULL};
  succeed(PMIx_Init(&me, NULL, 0), "PMIx_Init");
  if (me.rank == 0) {
    case_args = no_pause;
    reader();
    fclose(stdout);
  } else {
    talk();
  }
  succeed(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {
    {"writer", writer}, {"reader", reader}, {"peers", peers}};
  return RUN_CASE(cases);
}
