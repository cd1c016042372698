/* Rank 1 ends at some point of its life; the others wait for it in a fence and
 * accept any outcome. What counts is that everything ends in bounded time. */

#include "client.h"

static bool is_victim(void) {
  return strcmp(getenv("PMIX_RANK"), "1") == 0;
}

static void die(void) {
  kill(getpid(), SIGKILL);
}

static void others(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  PMIx_Fence(&all, 1, NULL, 0);
  PMIx_Finalize(NULL, 0);
}

static void before_init(void) {
  if (is_victim())
    die();
  begin();
  others();
}

static void after_init(void) {
  begin();
  if (is_victim())
    die();
  others();
}

static void after_commit(void) {
  begin();
  post("key", "value");
  if (is_victim())
    die();
  others();
}

/* Nobody dies. */
static void nobody(void) {
  begin();
  post("key", "value");
  meet();
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  expect_string(&next, "key", "value", 0);
  end();
}

static void* kill_soon(void* nothing) {
  pause_ms(200);
  die();
  return nothing;
}

/* Dies while its main thread is in a call that does not come back. */
static void inside(void (*call)(void)) {
  begin();
  if (is_victim()) {
    pthread_t killer;
    pthread_create(&killer, NULL, kill_soon, NULL);
    call();
    for (;;)
      pause();
  }
  others();
}

static void fence_forever(void) {
  pmix_proc_t two[2] = {rank_of(0), rank_of(1)};
  PMIx_Fence(two, 2, NULL, 0);
}

static void* kill_at_random(void* nothing) {
  pause_ms(5 + getpid() % 25);
  die();
  return nothing;
}

/* Fences without end; who meets one that fails exits at once. */
static void amid_fences(void) {
  begin();
  meet();
  pthread_t killer;
  if (is_victim())
    pthread_create(&killer, NULL, kill_at_random, NULL);
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  while (PMIx_Fence(&all, 1, NULL, 0) == PMIX_SUCCESS)
    ;
  _exit(3);
}

static void get_forever(void) {
  const pmix_proc_t zero = rank_of(0);
  try_get(&zero, "never", NULL, 0);
}

static void lookup_forever(void) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, "never");
  pmix_info_t wait = flag_info(PMIX_WAIT);
  PMIx_Lookup(&data, 1, &wait, 1);
}

static void connect_forever(void) {
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  PMIx_Connect(&all, 1, NULL, 0);
}

static void in_fence(void) {
  inside(fence_forever);
}

static void in_get(void) {
  inside(get_forever);
}

static void in_lookup(void) {
  inside(lookup_forever);
}

static void in_connect(void) {
  inside(connect_forever);
}

static void after_finalize(void) {
  begin();
  if (is_victim()) {
    end();
    die();
  }
  others();
}

static void no_finalize(void) {
  begin();
  if (is_victim())
    _exit(0);
  others();
}

static void no_finalize_3(void) {
  begin();
  if (is_victim())
    _exit(3);
  others();
}

/* Ends at once with status 0 while the others count on it. */
static void never_connects(void) {
  if (is_victim())
    _exit(0);
  begin();
  others();
}

/* The others hold gets, with and without a time-out, for what it never posts.
 */
static void awaited(void) {
  begin();
  meet();
  const pmix_proc_t one = rank_of(1);
  if (is_victim()) {
    pause_ms(300);
    die();
  }
  const double start = now();
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 30);
  demand(
    try_get(&one, "never", me.rank == 0 ? NULL : &limit, me.rank == 0 ? 0 : 1)
      != PMIX_SUCCESS,
    "a get from the dead fails");
  demand(now() - start < 10, "in bounded time");
  demand(try_get(&one, "never.either", NULL, 0) != PMIX_SUCCESS,
         "also when it is dead already");
  demand(now() - start < 10, "in bounded time");
  end();
}

/* Runs on without end; takes no notice of SIGTERM if asked to. */
static void stays(void) {
  begin();
  meet();
  printf("rank %u is there\n", me.rank);
  fflush(stdout);
  for (;;)
    pause();
}

static void stubborn(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  stays();
}

/* Has children of its own, which live on. */
static void family(void) {
  begin();
  meet();
  for (int i = 0; i < 3; ++i)
    if (fork() == 0) {
      if (i == 1)
        setsid();
      execlp("sleep", "sleep", "600", NULL);
      _exit(127);
    }
  printf("rank %u is there\n", me.rank);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"before_init", before_init},
    {"after_init", after_init},
    {"after_commit", after_commit},
    {"in_fence", in_fence},
    {"amid_fences", amid_fences},
    {"in_get", in_get},
    {"in_lookup", in_lookup},
    {"in_connect", in_connect},
    {"after_finalize", after_finalize},
    {"no_finalize", no_finalize},
    {"no_finalize_3", no_finalize_3},
    {"never_connects", never_connects},
    {"awaited", awaited},
    {"stays", stays},
    {"stubborn", stubborn},
    {"family", family},
    {"nobody", nobody},
  };
  return RUN_CASE(cases);
}
