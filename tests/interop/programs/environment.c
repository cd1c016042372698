/* What happens to nodes.
 *
 *   environment hears RANK COUNT CODE...   rank RANK registers for the codes,
 *                                          all meet, RANK prints `ready`, and
 *                                          all end once it has heard of COUNT
 *                                          events and of nothing more for half
 *                                          a second
 *   environment late COUNT FILE CODE...    rank 0 does; rank 1 registers once
 *                                          FILE is there, which the script
 *                                          makes after the last event
 *   environment default COUNT CODE         the same as `hears 0`, with a
 *                                          default handler besides, which must
 *                                          not be called
 *
 *   environment nothing SECONDS CODE...    rank 0 registers and must hear of
 *                                          nothing
 *
 * Each event is a line of its number and its infos, `-32236 host=n2 node=1
 * device=net1`. Numbers of codes stand for themselves: a library of any release
 * takes them. */

#include "client.h"

#include <sys/stat.h>

enum { max_codes = 16 };

static struct pending heard = PENDING;
static struct pending mistaken = PENDING;

static void print_info(const pmix_info_t* x) {
  static const struct {
    const char* key;
    const char* name;
  } names[] = {
    {PMIX_HOSTNAME, "host"},           {PMIX_NODEID, "node"},
    {"troupe.event.device", "device"}, {"troupe.event.label", "label"},
    {"troupe.event.value", "value"},   {"troupe.event.limit", "limit"},
    {"troupe.event.count", "count"},   {PMIX_EVENT_TIMESTAMP, "time"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (!PMIX_CHECK_KEY(x, names[i].key))
      continue;
    if (x->value.type == PMIX_STRING)
      printf(" %s=%s", names[i].name, x->value.data.string);
    else if (x->value.type == PMIX_DOUBLE)
      printf(" %s=%.1f", names[i].name, x->value.data.dval);
    else if (x->value.type == PMIX_UINT32)
      printf(" %s=%u", names[i].name, x->value.data.uint32);
    else if (x->value.type == PMIX_UINT64)
      printf(" %s=%llu", names[i].name,
             (unsigned long long)x->value.data.uint64);
    else if (x->value.type == PMIX_TIME)
      printf(" %s=%s", names[i].name, x->value.data.time > 0 ? "some" : "none");
    else
      printf(" %s=?%d", names[i].name, x->value.type);
  }
}

static void on_event(size_t id UNUSED, pmix_status_t code,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* results UNUSED, size_t nresults UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  flockfile(stdout);
  printf("%u: %d", me.rank, code);
  for (size_t i = 0; i < n; ++i)
    print_info(&infos[i]);
  if (source != NULL && source->nspace[0] != '\0')
    printf(" source=%s", source->nspace);
  printf("\n");
  funlockfile(stdout);
  happen(&heard, PMIX_SUCCESS);
  if (done != NULL)
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, data);
}

static void on_any(size_t id UNUSED, pmix_status_t code,
                   const pmix_proc_t* source UNUSED, pmix_info_t* infos UNUSED,
                   size_t n UNUSED, pmix_info_t* results UNUSED,
                   size_t nresults UNUSED,
                   pmix_event_notification_cbfunc_fn_t done, void* data) {
  printf("%u: default handler: %d\n", me.rank, code);
  happen(&mistaken, PMIX_SUCCESS);
  if (done != NULL)
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, data);
}

static size_t listen_to(char** codes) {
  pmix_status_t list[max_codes];
  size_t n = 0;
  for (; codes[n] != NULL; ++n) {
    demand(n < max_codes, "not so many codes");
    list[n] = atoi(codes[n]);
  }
  demand(n > 0, "codes");
  handle(list, n, on_event);
  return n;
}

static void await(int count) {
  if (!happens(&heard, count, 60))
    fail("heard of %d events of %d in 60 s", heard.happened, count);
  if (happens(&heard, count + 1, 0.5))
    fail("heard of more than %d events", count);
}

static void say_ready(void) {
  printf("ready\n");
}

static void hears(void) {
  setlinebuf(stdout);
  begin();
  demand(case_args[0] != NULL && case_args[1] != NULL, "RANK COUNT CODE...");
  const bool is_listener = (int)me.rank == atoi(case_args[0]);
  if (is_listener)
    listen_to(case_args + 2);
  meet();
  if (is_listener) {
    say_ready();
    await(atoi(case_args[1]));
  }
  meet();
  demand(is_listener || heard.happened == 0, "the others hear nothing");
  end();
}

static void late(void) {
  setlinebuf(stdout);
  begin();
  demand(case_args[0] != NULL && case_args[1] != NULL, "COUNT FILE CODE...");
  if (me.rank == 0)
    listen_to(case_args + 2);
  meet();
  if (me.rank == 0)
    say_ready();
  struct stat s;
  const double deadline = now() + 60;
  while (stat(case_args[1], &s) != 0) {
    demand(now() < deadline, "the file gets there in time");
    pause_ms(5);
  }
  if (me.rank == 1)
    listen_to(case_args + 2);
  if (me.rank < 2)
    await(atoi(case_args[0]));
  meet();
  end();
}

static void with_default(void) {
  setlinebuf(stdout);
  begin();
  demand(case_args[0] != NULL, "COUNT CODE");
  listen_to(case_args + 1);
  handle(NULL, 0, on_any);
  meet();
  if (me.rank == 0)
    say_ready();
  await(atoi(case_args[0]));
  demand(mistaken.happened == 0, "the default handler is left alone");
  meet();
  end();
}

static void nothing(void) {
  begin();
  demand(case_args[0] != NULL, "SECONDS CODE...");
  listen_to(case_args + 1);
  demand(!happens(&heard, 1, atof(case_args[0])), "nothing happens");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"hears", hears},
                                           {"late", late},
                                           {"default", with_default},
                                           {"nothing", nothing}};
  return RUN_CASE(cases);
}
