/* What processes of a node do in memory that they share with their server, and
 * by messages: the same, whoever takes part. */

#include "group_client.h"

#include <sched.h>
#include <sys/wait.h>

static pmix_proc_t all;

static void start(void) {
  begin();
  all = rank_of(PMIX_RANK_WILDCARD);
}

static void fence_with(const pmix_info_t* infos, size_t n) {
  succeed(PMIx_Fence(&all, 1, infos, n), "fence");
}

/* What each rank does in its n-th fence; those who ask for more than to wait
 * have all others ask the server. */
static void fence_in_some_way(unsigned way) {
  struct pending done = PENDING;
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  const pmix_info_t timeout = int_info(PMIX_TIMEOUT, 20);
  pmix_proc_t each[64];
  switch (way) {
    case 0:
      succeed(PMIx_Fence_nb(&all, 1, NULL, 0, on_done, &done), "start");
      demand(happens(&done, 1, 20), "it completes");
      succeed(done.outcome, "fence without waiting");
      break;
    case 1:
      fence_with(&timeout, 1);
      break;
    case 2:
      for (pmix_rank_t rank = 0; rank < job_size; ++rank)
        each[rank] = rank_of(job_size - 1 - rank);
      succeed(PMIx_Fence(each, job_size, NULL, 0), "fence that names all");
      break;
    case 3:
      fence_with(&collect, 1);
      break;
    case 4:
      succeed(PMIx_Fence(NULL, 0, NULL, 0), "fence of all");
      break;
    default:
      fence_with(NULL, 0);
  }
}

static unsigned next(unsigned* seed) {
  *seed = *seed * 1103515245u + 12345u;
  return *seed >> 16;
}

/* Each round all post what they have seen; nobody is a round ahead, and nobody
 * sees less than all have posted. */
static void rounds(void) {
  start();
  const int count = atoi(case_args[0]);
  unsigned seed = me.rank * 7919u + 1;
  char key[32], text[32];
  for (int i = 0; i < count; ++i) {
    snprintf(key, sizeof key, "round.%d", i);
    snprintf(text, sizeof text, "%d of %u", i, me.rank);
    post(key, text);
    if (next(&seed) % 64 == 0)
      pause_ms(1);
    fence_in_some_way(next(&seed) % 24);
    for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
      const pmix_proc_t whom = rank_of(rank);
      snprintf(text, sizeof text, "%d of %u", i, rank);
      if (next(&seed) % 4 == 0)
        expect_string(&whom, key, text, 0);
    }
    fence_in_some_way(next(&seed) % 24);
  }
  end();
}

/* Two threads of each process are in fences at once; there are as many calls of
 * each, and all return. */
static void* half(void* arg) {
  unsigned seed = me.rank * 31u + (unsigned)(size_t)arg;
  for (int i = 0; i < 300; ++i)
    fence_in_some_way(next(&seed) % 12);
  return NULL;
}

static void threads(void) {
  start();
  pthread_t other;
  demand(pthread_create(&other, NULL, half, (void*)1) == 0, "a thread starts");
  half((void*)2);
  demand(pthread_join(other, NULL) == 0, "it ends");
  end();
}

/* The last rank is killed while the others wait for it, in the midst of many
 * fences: they get the same. */
static void killed(void) {
  start();
  const int survivors = (int)job_size - 1;
  if ((int)me.rank == survivors) {
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      pause_ms(30 + getppid() % 40);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
  }
  for (int i = 0; i < 1000000; ++i) {
    const pmix_status_t code = PMIx_Fence(&all, 1, NULL, 0);
    if (code == PMIX_SUCCESS)
      continue;
    expect(code, PMIX_ERR_LOST_CONNECTION, "fence with a dead process");
    /* All others are there still. */
    pmix_proc_t rest[64];
    for (int rank = 0; rank < survivors; ++rank)
      rest[rank] = rank_of((pmix_rank_t)rank);
    char text[32];
    snprintf(text, sizeof text, "%d", i);
    post("failed", text);
    succeed(PMIx_Fence(rest, (size_t)survivors, NULL, 0), "fence of the rest");
    for (int rank = 0; rank < survivors; ++rank)
      expect_string(&rest[rank], "failed", text, 5);
    end();
    return;
  }
  fail("nobody died");
}

/* One is stopped for a while: the others wait. */
static void stopped(void) {
  start();
  meet();
  if (me.rank == 0) {
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      for (int i = 0; i < 20; ++i) {
        kill(getppid(), SIGSTOP);
        pause_ms(5);
        kill(getppid(), SIGCONT);
        pause_ms(5);
      }
      _exit(0);
    }
    for (int i = 0; i < 2000; ++i)
      meet();
    waitpid(child, NULL, 0);
  } else {
    for (int i = 0; i < 2000; ++i)
      meet();
  }
  end();
}

/* A time-out of one ends the fence for all; the next ones work. */
static void times_out(void) {
  start();
  meet();
  const pmix_info_t timeout = int_info(PMIX_TIMEOUT, 1);
  if (me.rank == 0)
    expect(PMIx_Fence(&all, 1, &timeout, 1), PMIX_ERR_TIMEOUT, "fence");
  else if (me.rank + 1 < job_size)
    expect(PMIx_Fence(&all, 1, NULL, 0), PMIX_ERR_TIMEOUT, "fence");
  else {
    pause_ms(1500);
    expect(PMIx_Fence(&all, 1, NULL, 0), PMIX_ERR_TIMEOUT, "late fence");
  }
  for (int i = 0; i < 100; ++i)
    meet();
  end();
}

/* A child that does not exec is of the same rank: it leads a life of its own. */
static void forks(void) {
  start();
  for (int i = 0; i < 10; ++i)
    meet();
  post("parent", "here");
  const pid_t child = fork();
  demand(child >= 0, "fork");
  if (child == 0) {
    begin();
    const pmix_proc_t own = rank_of(me.rank);
    expect_string(&own, "parent", "here", 5);
    post("child", "here");
    end();
    _exit(0);
  }
  int how = 0;
  waitpid(child, &how, 0);
  demand(how == 0, "the child ends well");
  for (int i = 0; i < 10; ++i)
    meet();
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    expect_string(&whom, "child", "here", 5);
    expect_string(&whom, "parent", "here", 5);
  }
  end();
}

/* Leaves and comes back, while the others wait. */
static void returns(void) {
  for (int i = 0; i < 20; ++i) {
    start();
    for (int n = 0; n < 20; ++n)
      meet();
    end();
  }
}

/* More than there is room for in the memory. */
static void much(void) {
  start();
  char* text = malloc(300001);
  for (int i = 0; i < 12; ++i) {
    char key[32];
    snprintf(key, sizeof key, "much.%d", i);
    memset(text, 'a' + (int)(me.rank + (unsigned)i) % 26, 300000);
    text[300000] = 0;
    post(key, text);
    meet();
    for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
      const pmix_proc_t whom = rank_of(rank);
      memset(text, 'a' + (int)(rank + (unsigned)i) % 26, 300000);
      expect_string(&whom, key, text, 0);
    }
    meet();
  }
  free(text);
  end();
}

/* What others may see of what one has posted. */
static void scopes(void) {
  start();
  put_string(PMIX_LOCAL, "local", "l");
  put_string(PMIX_REMOTE, "remote", "r");
  put_string(PMIX_GLOBAL, "global", "g");
  put_string(PMIX_INTERNAL, "internal", "i");
  const pmix_proc_t next_one = rank_of((me.rank + 1) % job_size);
  const pmix_info_t at_once = flag_info(PMIX_IMMEDIATE);
  meet();
  printf("before the commit %d\n",
         try_get(&next_one, "global", &at_once, 1) == PMIX_SUCCESS);
  meet();
  succeed(PMIx_Commit(), "commit");
  meet();
  const char* keys[] = {"local", "remote", "global", "internal", "nothing"};
  for (int i = 0; i < 5; ++i)
    printf("%s: %s, %s\n", keys[i],
           PMIx_Error_string(try_get(&next_one, keys[i], &at_once, 1)),
           PMIx_Error_string(try_get(&me, keys[i], &at_once, 1)));
  meet();
  end();
}

/* Shows what is known of a process, or of a job, without asking anybody. */
static void show(const pmix_proc_t* whom, const char* key) {
  const pmix_info_t optional = flag_info(PMIX_OPTIONAL);
  pmix_value_t* value = NULL;
  const pmix_status_t code = PMIx_Get(whom, key, &optional, 1, &value);
  if (code != PMIX_SUCCESS) {
    printf("%u: %s of %d: %s\n", me.rank, key, (int)whom->rank,
           PMIx_Error_string(code));
    return;
  }
  if (value->type == PMIX_STRING) {
    printf("%u: %s of %d: %s\n", me.rank, key, (int)whom->rank,
           value->data.string);
  } else {
    uint32_t number = 0;
    pmix_status_t outcome;
    PMIX_VALUE_GET_NUMBER(outcome, value, number, uint32_t);
    succeed(outcome, key);
    printf("%u: %s of %d: %u\n", me.rank, key, (int)whom->rank, number);
  }
  PMIX_VALUE_RELEASE(value);
}

/* What each is told of its job when it starts; nobody waits for others. */
static void placed(void) {
  start();
  static const char* const of_job[] = {
    PMIX_JOB_SIZE,  PMIX_LOCAL_SIZE, PMIX_LOCAL_PEERS, PMIX_NODE_LIST,
    PMIX_NUM_NODES, PMIX_UNIV_SIZE,  PMIX_JOB_NUM_APPS};
  static const char* const of_ranks[] = {
    PMIX_HOSTNAME,  PMIX_NODEID,      PMIX_APPNUM,   PMIX_LOCAL_RANK,
    PMIX_NODE_RANK, PMIX_GLOBAL_RANK, PMIX_APP_RANK, PMIX_REINCARNATION};
  for (size_t i = 0; i < sizeof of_job / sizeof of_job[0]; ++i)
    show(&all, of_job[i]);
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    for (size_t i = 0; i < sizeof of_ranks / sizeof of_ranks[0]; ++i)
      show(&whom, of_ranks[i]);
  }
  end();
}

/* Waits for what a neighbour has not posted yet. */
static void waits(void) {
  start();
  for (int i = 0; i < 50; ++i) {
    char key[32];
    snprintf(key, sizeof key, "wait.%d", i);
    const pmix_proc_t last = rank_of(job_size - 1);
    if (me.rank + 1 == job_size) {
      if (i % 5 == 0)
        pause_ms(3);
      post(key, "there");
    } else {
      expect_string(&last, key, "there", 20);
    }
  }
  meet();
  end();
}

/* Each round all replace what they have posted, and a fence brings it to the
 * others, wherever they are. They find it without asking their server ("here"),
 * or only by asking ("asked", for one round). Then no more is posted than comes with
 * a fence; soon more ("much"): what came with the fences before is old. */
static void fenced(void) {
  start();
  const bool is_here = strcmp(case_args[0], "here") == 0;
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  const pmix_info_t optional = flag_info(PMIX_OPTIONAL);
  const bool is_much = strcmp(case_args[0], "much") == 0;
  char key[32], text[32];
  for (int i = 0; i < (is_here ? 200 : is_much ? 60 : 1); ++i) {
    if (is_much && i == 3) {
      char much[2048];
      memset(much, 'x', sizeof much);
      much[sizeof much - 1] = '\0';
      put_string(PMIX_GLOBAL, "much", much);
    }
    snprintf(key, sizeof key, "fenced.%d", i % 16);
    snprintf(text, sizeof text, "%d of %u", i, me.rank);
    put_string(PMIX_GLOBAL, key, text);
    post("fenced", text);
    fence_with(&collect, 1);
    /* Down: who reads up is given the next ones with an answer. */
    for (pmix_rank_t rank = job_size; rank-- > 0;) {
      if (rank == me.rank)
        continue;
      const pmix_proc_t whom = rank_of(rank);
      const pmix_status_t code = try_get(&whom, "fenced", &optional, 1);
      demand(is_much || code == (is_here ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND),
             "it is there without asking, or is not");
      snprintf(text, sizeof text, "%d of %u", i, rank);
      expect_string(&whom, "fenced", text, 0);
      const int before = i > 0 ? i - 1 : 0;
      snprintf(key, sizeof key, "fenced.%d", before % 16);
      snprintf(text, sizeof text, "%d of %u", before, rank);
      expect_string(&whom, key, text, 0);
    }
    meet();
  }
  end();
}

/* -- fences of parts ---------------------------------------------------------- */

enum { num_parts = 6 };

/* Parts of the job that overlap: the lower half, the upper one, even ranks, odd
 * ones, all but the first, and the last alone with the first. */
static bool is_in_part(int part, pmix_rank_t rank) {
  switch (part) {
    case 0:
      return rank < (job_size + 1) / 2;
    case 1:
      return rank >= job_size / 2;
    case 2:
      return rank % 2 == 0;
    case 3:
      return rank % 2 == 1;
    case 4:
      return rank > 0;
    default:
      return rank == 0 || rank + 1 == job_size;
  }
}

static size_t list_part(int part, pmix_proc_t* to) {
  size_t n = 0;
  for (pmix_rank_t rank = 0; rank < job_size; ++rank)
    if (is_in_part(part, rank))
      to[n++] = rank_of(rank);
  return n;
}

static void fence_part(int part, unsigned way) {
  struct pending done = PENDING;
  const pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  const pmix_info_t timeout = int_info(PMIX_TIMEOUT, 20);
  pmix_proc_t procs[64];
  const size_t n = list_part(part, procs);
  switch (way) {
    case 0:
      succeed(PMIx_Fence_nb(procs, n, NULL, 0, on_done, &done), "start");
      demand(happens(&done, 1, 20), "it completes");
      succeed(done.outcome, "fence of a part without waiting");
      break;
    case 1:
      succeed(PMIx_Fence(procs, n, &timeout, 1), "fence of a part in time");
      break;
    case 2:
      succeed(PMIx_Fence(procs, n, &collect, 1), "collecting fence of a part");
      break;
    default:
      succeed(PMIx_Fence(procs, n, NULL, 0), "fence of a part");
  }
}

/* As `rounds`, in one part after the other, and now and then all. */
static void parts(void) {
  start();
  const int count = atoi(case_args[0]);
  unsigned seed = me.rank * 7919u + 1;
  unsigned common = 1;
  char key[32], text[32];
  for (int i = 0; i < count; ++i) {
    const int part = (int)(next(&common) % num_parts);
    if (next(&common) % 16 == 0)
      meet();
    if (!is_in_part(part, me.rank))
      continue;
    snprintf(key, sizeof key, "part.%d", i);
    snprintf(text, sizeof text, "%d of %u", i, me.rank);
    post(key, text);
    if (next(&seed) % 64 == 0)
      pause_ms(1);
    fence_part(part, next(&seed) % 48);
    for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
      const pmix_proc_t whom = rank_of(rank);
      snprintf(text, sizeof text, "%d of %u", i, rank);
      if (is_in_part(part, rank) && next(&seed) % 4 == 0)
        expect_string(&whom, key, text, 0);
    }
    fence_part(part, next(&seed) % 48);
  }
  end();
}

/* Two threads of each process are in fences of two parts at once. */
static void* fence_evens(void* arg) {
  const int part = me.rank % 2 == 0 ? 2 : 3;
  unsigned seed = me.rank + 5u;
  (void)arg;
  for (int i = 0; i < 200; ++i)
    fence_part(part, next(&seed) % 24);
  return NULL;
}

static void part_threads(void) {
  start();
  pthread_t other;
  demand(pthread_create(&other, NULL, fence_evens, NULL) == 0,
         "a thread starts");
  unsigned seed = me.rank + 9u;
  for (int i = 0; i < 200; ++i) {
    for (int part = 0; part < 2; ++part)
      if (is_in_part(part, me.rank))
        fence_part(part, next(&seed) % 24);
  }
  demand(pthread_join(other, NULL) == 0, "it ends");
  end();
}

/* All but the first fence, and go on while their server is stopped. */
static void part_alone(void) {
  start();
  for (int i = 0; i < 4; ++i)
    if (is_in_part(4, me.rank))
      fence_part(4, 9);
  meet();
  if (me.rank == 0) {
    const pid_t server = getppid();
    /* Whatever becomes of this one, the server goes on. */
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      kill(server, SIGSTOP);
      pause_ms(2000);
      kill(server, SIGCONT);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  } else {
    pause_ms(500);
    const double before = now();
    for (int i = 0; i < 200; ++i)
      fence_part(4, 9);
    demand(now() - before < 1.0, "they do without the server");
  }
  meet();
  end();
}

/* The last rank is killed in the midst of fences of a part with it: the others get
 * the same, and those of parts without it go on. */
static void part_killed(void) {
  start();
  pmix_proc_t procs[64], rest[64];
  const size_t n = list_part(4, procs);
  for (size_t i = 0; i + 1 < n; ++i)
    rest[i] = procs[i];
  if (me.rank + 1 == job_size) {
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      pause_ms(30 + getppid() % 40);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
  }
  if (me.rank == 0) {
    end();
    return;
  }
  char text[32];
  for (int i = 0; i < 1000000; ++i) {
    const pmix_status_t code = PMIx_Fence(procs, n, NULL, 0);
    if (code == PMIX_SUCCESS)
      continue;
    expect(code, PMIX_ERR_LOST_CONNECTION, "fence with a dead process");
    snprintf(text, sizeof text, "%d", i);
    post("failed", text);
    for (int k = 0; k < 100; ++k)
      succeed(PMIx_Fence(rest, n - 1, NULL, 0), "fence of the rest");
    for (size_t k = 0; k + 1 < n; ++k)
      expect_string(&rest[k], "failed", text, 5);
    end();
    return;
  }
  fail("nobody died");
}

/* A time-out of one of a part; the next ones work. */
static void part_times_out(void) {
  start();
  for (int i = 0; i < 4; ++i)
    if (is_in_part(4, me.rank))
      fence_part(4, 9);
  if (me.rank > 0) {
    pmix_proc_t procs[64];
    const size_t n = list_part(4, procs);
    const pmix_info_t timeout = int_info(PMIX_TIMEOUT, 1);
    if (me.rank + 1 == job_size)
      pause_ms(1500);
    expect(PMIx_Fence(procs, n, &timeout, me.rank == 1 ? 1 : 0),
           PMIX_ERR_TIMEOUT, "fence");
    for (int i = 0; i < 100; ++i)
      fence_part(4, 9);
  }
  meet();
  end();
}

/* -- groups of all ------------------------------------------------------------ */

/* Each rank makes a group of all in some way; those who ask for more than that have
 * all others ask the server. */
static struct built make_in_some_way(const char* id, unsigned way) {
  pmix_info_t infos[2] = {flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID),
                          int_info(PMIX_TIMEOUT, 20)};
  pmix_proc_t each[64];
  for (pmix_rank_t rank = 0; rank < job_size; ++rank)
    each[rank] = rank_of(rank);
  switch (way) {
    case 0:
      return await_built(construct_later(id, &all, 1, infos, 1), id);
    case 1:
      return construct(id, &all, 1, infos, 2);
    case 2:
      return construct(id, each, job_size, infos, 1);
    default:
      return construct(id, &all, 1, infos, 1);
  }
}

static void end_in_some_way(const char* id, unsigned way) {
  struct pending done = PENDING;
  if (way > 0) {
    destruct(id);
    return;
  }
  succeed(PMIx_Group_destruct_nb(id, NULL, 0, on_done, &done), "start");
  demand(happens(&done, 1, 20), "it ends");
  succeed(done.outcome, "destruct without waiting");
}

/* What asks the server for a group finds it at once. */
static void use_group(const char* id, unsigned way) {
  const pmix_proc_t members = proc_in(id, PMIX_RANK_WILDCARD);
  const pmix_proc_t last = proc_in(id, job_size - 1);
  char text[32];
  switch (way) {
    case 0:
      succeed(PMIx_Fence(&members, 1, NULL, 0), "fence of a group");
      break;
    case 1:
      snprintf(text, sizeof text, "i am %u", job_size - 1);
      expect_string(&last, "who", text, 5);
      break;
    case 2: {
      pmix_query_t query;
      PMIX_QUERY_CONSTRUCT(&query);
      pmix_status_t outcome;
      PMIX_ARGV_APPEND(outcome, query.keys, PMIX_QUERY_GROUP_NAMES);
      pmix_info_t* infos = NULL;
      size_t n = 0;
      outcome = PMIx_Query_info(&query, 1, &infos, &n);
      succeed(outcome, "query");
      bool is_there = false;
      for (size_t i = 0; i < n; ++i) {
        const pmix_data_array_t* array = infos[i].value.data.darray;
        for (size_t k = 0; array != NULL && k < array->size; ++k)
          is_there |= strcmp(((char**)array->array)[k], id) == 0;
      }
      demand(is_there, "the server knows the group");
      PMIX_INFO_FREE(infos, n);
      PMIX_QUERY_DESTRUCT(&query);
      break;
    }
    default:
      break;
  }
}

static void group_rounds(void) {
  start();
  const int count = atoi(case_args[0]);
  unsigned seed = me.rank * 7919u + 1;
  unsigned common = 1;
  char id[64], key[64], text[64];
  snprintf(text, sizeof text, "i am %u", me.rank);
  post("who", text);
  for (int i = 0; i < count; ++i) {
    /* Some stay for a while. */
    snprintf(id, sizeof id, "app.%d", i % 7);
    if (next(&seed) % 64 == 0)
      pause_ms(1);
    const struct built x = make_in_some_way(id, next(&seed) % 24);
    succeed(x.outcome, id);
    demand(x.has_context && x.context != 0, "a context identifier");
    if (x.num_members > 0) {
      demand(x.num_members == job_size, "all are in it");
      for (pmix_rank_t rank = 0; rank < job_size; ++rank)
        demand(x.members[rank].rank == rank, "in their order");
    }
    if (next(&common) % 8 == 0) {
      snprintf(key, sizeof key, "context.%d", i);
      snprintf(text, sizeof text, "%zu", x.context);
      agree(key, text);
    }
    use_group(id, next(&common) % 6);
    if (next(&common) % 3 == 0)
      meet();
    if (i >= 3) {
      snprintf(id, sizeof id, "app.%d", (i - 3) % 7);
      end_in_some_way(id, next(&seed) % 24);
    }
    if (i % 50 == 49) {
      /* One of all, and one without the last. */
      snprintf(id, sizeof id, "app.leaves.%d", i);
      succeed(make_in_some_way(id, 3).outcome, id);
      if (me.rank + 1 == job_size && job_size > 1)
        succeed(PMIx_Group_leave(id, NULL, 0), "leave");
      else
        destruct(id);
    }
  }
  end();
}

/* The last rank is killed in the midst of many groups: the others get the same. */
static void group_killed(void) {
  start();
  const int survivors = (int)job_size - 1;
  if ((int)me.rank == survivors) {
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      pause_ms(30 + getppid() % 40);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
  }
  char id[64], text[64];
  for (int i = 0; i < 1000000; ++i) {
    snprintf(id, sizeof id, "app.%d", i);
    const struct built x = construct(id, &all, 1, NULL, 0);
    const bool is_made = x.outcome == PMIX_SUCCESS;
    if (is_made && PMIx_Group_destruct(id, NULL, 0) == PMIX_SUCCESS)
      continue;
    /* All others are there still. */
    pmix_proc_t rest[64];
    for (int rank = 0; rank < survivors; ++rank)
      rest[rank] = rank_of((pmix_rank_t)rank);
    snprintf(text, sizeof text, "%d %d", i, is_made);
    post("failed", text);
    succeed(construct("app.rest", rest, (size_t)survivors, NULL, 0).outcome,
            "a group of the rest");
    for (int rank = 0; rank < survivors; ++rank)
      expect_string(&rest[rank], "failed", text, 5);
    destruct("app.rest");
    end();
    return;
  }
  fail("nobody died");
}

/* -- beside each other ---------------------------------------------------------- */

/* Meets others in fences and for a group, then waits until somebody has looked at its
 * server: makes the first file, with the server's number, and waits for the second. */
static void held(void) {
  start();
  for (int i = 0; i < 50; ++i)
    fence_with(NULL, 0);
  succeed(construct("app.held", &all, 1, NULL, 0).outcome, "app.held");
  destruct("app.held");
  meet();
  if (me.rank == 0) {
    char name[256];
    snprintf(name, sizeof name, "%s.new", case_args[0]);
    FILE* file = fopen(name, "w");
    demand(file != NULL, name);
    fprintf(file, "%d\n", (int)getppid());
    demand(fclose(file) == 0 && rename(name, case_args[0]) == 0, name);
    for (int i = 0; access(case_args[1], F_OK) != 0; ++i) {
      demand(i < 3000, "somebody looks");
      pause_ms(10);
    }
  }
  meet();
  end();
}

/* Sets of processes that a thread of each process meets: all, who has the same
 * parity, a neighbour or nobody, all but the last. */
struct set {
  unsigned number;
  pmix_proc_t procs[64];
  size_t n;
};

static bool is_member(unsigned number, pmix_rank_t rank) {
  switch (number) {
    case 1:
      return rank % 2 == me.rank % 2;
    case 2:
      return rank / 2 == me.rank / 2;
    case 3:
      return rank + 1 < job_size;
    default:
      return true;
  }
}

/* Each round a member posts its number, and finds those of the others. */
static void* meet_set(void* arg) {
  const struct set* x = arg;
  char key[32], text[32];
  for (int i = 0; i < 100; ++i) {
    snprintf(key, sizeof key, "set.%u.%d", x->number, i);
    snprintf(text, sizeof text, "%d", i);
    post(key, text);
    succeed(PMIx_Fence(x->procs, x->n, NULL, 0), key);
    for (size_t k = 0; k < x->n && i % 8 == 0; ++k)
      expect_string(&x->procs[k], key, text, 0);
  }
  return NULL;
}

/* Fences of several sets go on at once, a thread of each process in each. */
static void overlap(void) {
  start();
  static struct set sets[4];
  pthread_t threads[4];
  bool runs[4] = {false};
  for (unsigned number = 0; number < 4; ++number) {
    struct set* x = &sets[number];
    x->number = number;
    for (pmix_rank_t rank = 0; rank < job_size; ++rank)
      if (is_member(number, rank))
        x->procs[x->n++] = rank_of(rank);
    runs[number] = is_member(number, me.rank);
    if (runs[number])
      demand(pthread_create(&threads[number], NULL, meet_set, x) == 0,
             "a thread starts");
  }
  for (unsigned number = 0; number < 4; ++number)
    if (runs[number])
      demand(pthread_join(threads[number], NULL) == 0, "it ends");
  meet();
  end();
}

/* Starts the same program with another case; it has the same library. */
static void spawn_same(const char* name, int procs, char* nspace) {
  pmix_app_t app;
  PMIX_APP_CONSTRUCT(&app);
  app.cmd = strdup(self_path);
  pmix_status_t outcome;
  PMIX_ARGV_APPEND(outcome, app.argv, self_path);
  PMIX_ARGV_APPEND(outcome, app.argv, name);
  const char* path = getenv("LD_LIBRARY_PATH");
  if (path != NULL) {
    char variable[4096];
    snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%s", path);
    PMIX_ARGV_APPEND(outcome, app.env, variable);
  }
  succeed(outcome, "arguments");
  app.maxprocs = procs;
  const pmix_info_t info = string_info(PMIX_MAPBY, "slot:OVERSUBSCRIBE");
  succeed(PMIx_Spawn(&info, 1, &app, 1, nspace), "spawn");
  PMIX_APP_DESTRUCT(&app);
}

/* A job that a process of another has started: it meets as any, then with the one
 * that has started it. */
static void spawned(void) {
  start();
  char key[32], text[32];
  for (int i = 0; i < 200; ++i) {
    snprintf(key, sizeof key, "spawned.%d", i);
    snprintf(text, sizeof text, "%d of %u", i, me.rank);
    post(key, text);
    meet();
    const pmix_proc_t next_one = rank_of((me.rank + 1) % job_size);
    snprintf(text, sizeof text, "%d of %u", i, next_one.rank);
    expect_string(&next_one, key, text, 0);
  }
  const pmix_proc_t both[] = {all, parent()};
  succeed(PMIx_Connect(both, 2, NULL, 0), "connect");
  expect_string(&both[1], "parent", "here", 20);
  succeed(PMIx_Disconnect(both, 2, NULL, 0), "disconnect");
  end();
}

static void* spawn_some(void* unused UNUSED) {
  for (int i = 0; i < 3; ++i) {
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    spawn_same("spawned", 3, nspace);
    const pmix_proc_t both[] = {proc_in(nspace, PMIX_RANK_WILDCARD), me};
    succeed(PMIx_Connect(both, 2, NULL, 0), "connect");
    const pmix_proc_t last = proc_in(nspace, 2);
    expect_string(&last, "spawned.199", "199 of 2", 20);
    succeed(PMIx_Disconnect(both, 2, NULL, 0), "disconnect");
  }
  return NULL;
}

/* The first starts other jobs while the fences of all go on. */
static void spawns(void) {
  start();
  post("parent", "here");
  pthread_t other;
  if (me.rank == 0)
    demand(pthread_create(&other, NULL, spawn_some, NULL) == 0,
           "a thread starts");
  for (int i = 0; i < 600; ++i) {
    meet();
    if (i % 8 == 0)
      pause_ms(1);
  }
  if (me.rank == 0)
    demand(pthread_join(other, NULL) == 0, "it ends");
  meet();
  end();
}

/* The last aborts the job while the others wait for it. */
static void aborts(void) {
  start();
  for (int i = 0; i < 20; ++i)
    meet();
  if (me.rank + 1 == job_size) {
    pause_ms(50);
    PMIx_Abort(7, "on purpose", NULL, 0);
  } else {
    PMIx_Fence(&all, 1, NULL, 0);
  }
  pause_ms(20000);
  fail("nobody ends this process");
}

/* The last is killed, and fences that are tolerant go on: before, with it, after. */
static void tolerant(void) {
  start();
  const pmix_info_t goes_on = flag_info(PMIX_GROUP_FT_COLLECTIVE);
  for (int i = 0; i < 20; ++i)
    meet();
  for (int i = 0; i < 20; ++i)
    fence_with(&goes_on, 1);
  if (me.rank + 1 == job_size) {
    pause_ms(50);
    kill(getpid(), SIGKILL);
  }
  for (int i = 0; i < 20; ++i)
    fence_with(&goes_on, 1);
  end();
}

/* The last calls nothing while the others wait for it: it leaves at last, or ends
 * without a word. What they get. */
static void mute(void) {
  const bool leaves = strcmp(case_args[0], "leaves") == 0;
  start();
  meet();
  if (me.rank + 1 == job_size) {
    pause_ms(300);
    if (leaves)
      end();
    _exit(0);
  }
  printf("%u: %s\n", me.rank, PMIx_Error_string(PMIx_Fence(&all, 1, NULL, 0)));
  pmix_proc_t rest[64];
  for (pmix_rank_t rank = 0; rank + 1 < job_size; ++rank)
    rest[rank] = rank_of(rank);
  for (int i = 0; i < 100; ++i)
    succeed(PMIx_Fence(rest, job_size - 1, NULL, 0), "fence of the rest");
  end();
}

/* The last posts again and again, and is stopped now and then: the others read what
 * it has posted, and meet, whatever it was doing. */
static void beside(void) {
  start();
  post("count", "0");
  meet();
  const pmix_rank_t last = job_size - 1;
  if (me.rank == last) {
    const pid_t child = fork();
    demand(child >= 0, "fork");
    if (child == 0) {
      for (int i = 0; i < 20; ++i) {
        pause_ms(3);
        kill(getppid(), SIGSTOP);
        pause_ms(20);
        kill(getppid(), SIGCONT);
      }
      _exit(0);
    }
    char text[32];
    for (int i = 1; waitpid(child, NULL, WNOHANG) == 0; ++i) {
      snprintf(text, sizeof text, "%d", i);
      post("count", text);
    }
    meet();
    end();
    return;
  }
  pmix_proc_t rest[64];
  for (pmix_rank_t rank = 0; rank < last; ++rank)
    rest[rank] = rank_of(rank);
  const pmix_proc_t whom = rank_of(last);
  long before = 0;
  for (int i = 0; i < 300; ++i) {
    const double begin = now();
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&whom, "count", NULL, 0, &value), "count");
    demand(value->type == PMIX_STRING, "it is a string");
    const long count = atol(value->data.string);
    PMIX_VALUE_RELEASE(value);
    demand(count >= before, "nothing comes back that was replaced");
    before = count;
    succeed(PMIx_Fence(rest, last, NULL, 0), "fence of the rest");
    demand(now() - begin < 5, "nobody waits for who is stopped");
    if (i % 8 == 0)
      pause_ms(5);
  }
  meet();
  end();
}

/* Their server is stopped for a while: those of one node go on meanwhile. */
static void serverless(void) {
  start();
  for (int i = 0; i < 20; ++i)
    meet();
  const pid_t server = getppid();
  if (me.rank == 0)
    kill(server, SIGSTOP);
  char key[32], text[32];
  for (int i = 0; i < 200; ++i) {
    snprintf(key, sizeof key, "alone.%d", i % 4);
    snprintf(text, sizeof text, "%d", i);
    post(key, text);
    meet();
    const pmix_proc_t next_one = rank_of((me.rank + 1) % job_size);
    expect_string(&next_one, key, text, 0);
    meet();
  }
  if (me.rank == 0)
    kill(server, SIGCONT);
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"rounds", rounds},
    {"threads", threads},
    {"killed", killed},
    {"stopped", stopped},
    {"times_out", times_out},
    {"forks", forks},
    {"returns", returns},
    {"much", much},
    {"scopes", scopes},
    {"placed", placed},
    {"waits", waits},
    {"fenced", fenced},
    {"parts", parts},
    {"part_threads", part_threads},
    {"part_alone", part_alone},
    {"part_killed", part_killed},
    {"part_times_out", part_times_out},
    {"groups", group_rounds},
    {"group_killed", group_killed},
    {"held", held},
    {"overlap", overlap},
    {"spawned", spawned},
    {"spawns", spawns},
    {"aborts", aborts},
    {"tolerant", tolerant},
    {"mute", mute},
    {"beside", beside},
    {"serverless", serverless},
  };
  return RUN_CASE(cases);
}
