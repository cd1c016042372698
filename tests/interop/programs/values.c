/* Job data, and what processes put, commit and get. */

#include "client.h"

#include <limits.h>

/* -- job data -------------------------------------------------------------- */

static void check_rank_data(pmix_rank_t rank, const char* host) {
  const pmix_proc_t whom = rank_of(rank);
  demand(number_of(&whom, PMIX_LOCAL_RANK) == rank, "local rank");
  demand(number_of(&whom, PMIX_NODE_RANK) == rank, "node rank");
  demand(number_of(&whom, PMIX_GLOBAL_RANK) == rank, "global rank");
  demand(number_of(&whom, PMIX_APP_RANK) == rank, "rank in the program");
  demand(number_of(&whom, PMIX_APPNUM) == 0, "number of the program");
  demand(number_of(&whom, PMIX_NODEID) == 0, "number of the node");
  expect_string(&whom, PMIX_HOSTNAME, host, 0);
}

static void job_data(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  demand(job_size == (uint32_t)atoi(case_args[0]), "job size");
  demand(number_of(&all, PMIX_LOCAL_SIZE) == job_size, "local size");
  demand(number_of(&all, PMIX_UNIV_SIZE) >= job_size, "universe size");
  demand(number_of(&all, PMIX_MAX_PROCS) >= job_size, "most processes");
  demand(number_of(&all, PMIX_NUM_NODES) == 1, "number of nodes");
  demand(number_of(&all, PMIX_JOB_NUM_APPS) == 1, "number of programs");
  expect_string(&all, PMIX_JOBID, me.nspace, 0);
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  expect_string(&all, PMIX_NODE_LIST, host, 0);
  char peers[256] = "0";
  for (uint32_t i = 1; i < job_size; ++i)
    snprintf(peers + strlen(peers), sizeof peers - strlen(peers), ",%u", i);
  expect_string(&all, PMIX_LOCAL_PEERS, peers, 0);
  for (pmix_rank_t rank = 0; rank < job_size; ++rank)
    check_rank_data(rank, host);
  pmix_info_t of_node[2] = {flag_info(PMIX_NODE_INFO),
                            string_info(PMIX_HOSTNAME, host)};
  succeed(try_get(&all, PMIX_LOCAL_SIZE, of_node, 2), "data of the node");
  pmix_info_t of_app = flag_info(PMIX_APP_INFO);
  succeed(try_get(&all, PMIX_APP_SIZE, &of_app, 1), "data of the program");
  end();
}

/* -- scopes ---------------------------------------------------------------- */

static void scopes(void) {
  begin();
  put_string(PMIX_LOCAL, "scope.local", "l");
  put_string(PMIX_REMOTE, "scope.remote", "r");
  put_string(PMIX_GLOBAL, "scope.global", "g");
  put_string(PMIX_INTERNAL, "scope.internal", "i");
  succeed(PMIx_Commit(), "commit");
  meet();
  expect_string(&me, "scope.local", "l", 0);
  expect_string(&me, "scope.global", "g", 0);
  expect_string(&me, "scope.internal", "i", 0);
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  expect_string(&next, "scope.local", "l", 0);
  expect_string(&next, "scope.global", "g", 0);
  pmix_info_t now_only = flag_info(PMIX_IMMEDIATE);
  expect(try_get(&next, "scope.remote", &now_only, 1), PMIX_ERR_NOT_FOUND,
         "a remote value is not for processes of this node");
  expect(try_get(&next, "scope.internal", &now_only, 1), PMIX_ERR_NOT_FOUND,
         "an internal value is for nobody else");
  end();
}

/* -- types ----------------------------------------------------------------- */

/* Fills `values` with one of each common type; returns how many. */
static size_t sample_values(pmix_value_t* values) {
  static struct timeval moment = {12, 34};
  static pmix_byte_object_t bytes = {(char*)"a\0b", 3};
  static uint64_t numbers[3] = {1, UINT64_MAX, 3};
  static pmix_data_array_t array = {PMIX_UINT64, 3, numbers};
  static pmix_envar_t variable = {(char*)"NAME", (char*)"value", ':'};
  static pmix_proc_t somebody = {"somewhere", 7};
  const bool yes = true;
  const int8_t i8 = INT8_MIN;
  const uint8_t u8 = UINT8_MAX;
  const int16_t i16 = INT16_MIN;
  const uint16_t u16 = UINT16_MAX;
  const int32_t i32 = INT32_MIN;
  const uint32_t u32 = UINT32_MAX;
  const int64_t i64 = INT64_MIN;
  const uint64_t u64 = UINT64_MAX;
  const int number = -5;
  const size_t size = SIZE_MAX;
  const float one_half = 0.5F;
  const double third = 1.0 / 3;
  const pid_t pid = 4711;
  const pmix_status_t code = PMIX_ERR_TIMEOUT;
  const pmix_rank_t rank = 3;
  size_t n = 0;
#define ADD(from, type)                                                        \
  succeed(PMIx_Value_load(&values[n++], from, type), #type)
  ADD(&yes, PMIX_BOOL);
  ADD(&i8, PMIX_INT8);
  ADD(&u8, PMIX_UINT8);
  ADD(&i16, PMIX_INT16);
  ADD(&u16, PMIX_UINT16);
  ADD(&i32, PMIX_INT32);
  ADD(&u32, PMIX_UINT32);
  ADD(&i64, PMIX_INT64);
  ADD(&u64, PMIX_UINT64);
  ADD(&number, PMIX_INT);
  ADD(&size, PMIX_SIZE);
  ADD(&one_half, PMIX_FLOAT);
  ADD(&third, PMIX_DOUBLE);
  ADD(&pid, PMIX_PID);
  ADD(&code, PMIX_STATUS);
  ADD(&rank, PMIX_PROC_RANK);
  ADD("text with \xc3\xa9", PMIX_STRING);
  ADD(&moment, PMIX_TIMEVAL);
  ADD(&bytes, PMIX_BYTE_OBJECT);
  ADD(&array, PMIX_DATA_ARRAY);
  ADD(&variable, PMIX_ENVAR);
  ADD(&somebody, PMIX_PROC);
#undef ADD
  return n;
}

static bool same(const pmix_value_t* x, const pmix_value_t* y) {
  if (x->type != y->type)
    return false;
  if (x->type == PMIX_DATA_ARRAY)
    return x->data.darray->size == y->data.darray->size
           && memcmp(x->data.darray->array, y->data.darray->array,
                     x->data.darray->size * sizeof(uint64_t))
                == 0;
  if (x->type == PMIX_FLOAT)
    return x->data.fval > 0.499F && x->data.fval < 0.501F;
  if (x->type == PMIX_DOUBLE)
    return x->data.dval > 0.33333 && x->data.dval < 0.33334;
  if (x->type == PMIX_ENVAR)
    return strcmp(x->data.envar.envar, y->data.envar.envar) == 0
           && strcmp(x->data.envar.value, y->data.envar.value) == 0
           && x->data.envar.separator == y->data.envar.separator;
  return PMIx_Value_compare((pmix_value_t*)x, (pmix_value_t*)y) == PMIX_EQUAL;
}

static void types(void) {
  begin();
  pmix_value_t values[32];
  const size_t n = sample_values(values);
  char key[32];
  for (size_t i = 0; i < n; ++i) {
    snprintf(key, sizeof key, "type.%zu", i);
    succeed(PMIx_Put(PMIX_GLOBAL, key, &values[i]), key);
  }
  succeed(PMIx_Commit(), "commit");
  meet();
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  for (size_t i = 0; i < n; ++i) {
    snprintf(key, sizeof key, "type.%zu", i);
    pmix_value_t* got = NULL;
    succeed(PMIx_Get(&next, key, NULL, 0, &got), key);
    if (!same(got, &values[i]))
      fail("%s: a %s came back changed", key,
           PMIx_Data_type_string(values[i].type));
    PMIX_VALUE_RELEASE(got);
  }
  end();
}

static void large(void) {
  begin();
  const size_t size = (size_t)1 << 20;
  char* bytes = malloc(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = (char)(i * 7 + me.rank);
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = bytes;
  value.data.bo.size = size;
  succeed(PMIx_Put(PMIX_GLOBAL, "large", &value), "put");
  succeed(PMIx_Commit(), "commit");
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t collect = flag_info(PMIX_COLLECT_DATA);
  succeed(PMIx_Fence(&all, 1, &collect, 1), "fence");
  for (pmix_rank_t rank = 0; rank < job_size; ++rank) {
    const pmix_proc_t whom = rank_of(rank);
    pmix_value_t* got = NULL;
    succeed(PMIx_Get(&whom, "large", NULL, 0, &got), "get");
    demand(got->type == PMIX_BYTE_OBJECT && got->data.bo.size == size, "size");
    for (size_t i = 0; i < size; ++i)
      if (got->data.bo.bytes[i] != (char)(i * 7 + rank))
        fail("byte %zu of rank %u is wrong", i, rank);
    PMIX_VALUE_RELEASE(got);
  }
  free(bytes);
  end();
}

static void again(void) {
  begin();
  char text[32];
  for (int i = 0; i < 5; ++i) {
    snprintf(text, sizeof text, "round %d", i);
    char key[32];
    snprintf(key, sizeof key, "again.%d", i);
    post(key, text);
    meet();
    const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
    expect_string(&next, key, text, 0);
    meet();
  }
  end();
}

/* -- ways to get ----------------------------------------------------------- */

static void expect_quickly(pmix_status_t got, double since, const char* what) {
  expect(got, PMIX_ERR_NOT_FOUND, what);
  demand(now() - since < 1.5, "the answer comes at once");
}

static void immediate(void) {
  begin();
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  pmix_info_t now_only = flag_info(PMIX_IMMEDIATE);
  const double start = now();
  expect_quickly(try_get(&next, "later", &now_only, 1), start,
                 "not yet posted");
  meet();
  put_string(PMIX_GLOBAL, "later", "x");
  meet();
  const double put = now();
  expect_quickly(try_get(&next, "later", &now_only, 1), put,
                 "put but not committed");
  meet();
  succeed(PMIx_Commit(), "commit");
  meet();
  succeed(try_get(&next, "later", &now_only, 1), "committed");
  end();
}

static void optional(void) {
  begin();
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  pmix_info_t only_here = flag_info(PMIX_OPTIONAL);
  const double start = now();
  expect_quickly(try_get(&next, "later", &only_here, 1), start,
                 "not yet posted");
  meet();
  post("later", "x");
  meet();
  expect_string(&next, "later", "x", 0);
  succeed(try_get(&next, "later", &only_here, 1), "fetched before");
  end();
}

static void waits(void) {
  begin();
  if (me.rank == 0) {
    const pmix_proc_t one = rank_of(1);
    const double start = now();
    expect_string(&one, "later", "x", 20);
    demand(now() - start < 10, "the value comes when it is committed");
  } else if (me.rank == 1) {
    pause_ms(300); /* So that somebody waits already. */
    post("later", "x");
  }
  meet();
  end();
}

static void times_out(void) {
  begin();
  const pmix_proc_t next = rank_of((me.rank + 1) % job_size);
  pmix_info_t limit = int_info(PMIX_TIMEOUT, 1);
  const double start = now();
  expect(try_get(&next, "never", &limit, 1), PMIX_ERR_TIMEOUT, "get");
  const double took = now() - start;
  demand(took > 0.8 && took < 3.5, "it takes the time asked for");
  meet();
  end();
}

static void wildcard(void) {
  begin();
  const pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  demand(number_of(&all, PMIX_JOB_SIZE) == job_size, "job size");
  const double start = now();
  expect_quickly(try_get(&all, "nothing.like.this", NULL, 0), start,
                 "a key that the job does not have");
  const pmix_proc_t mine = proc_in("", PMIX_RANK_WILDCARD);
  demand(number_of(&mine, PMIX_JOB_SIZE) == job_size, "no namespace: mine");
  end();
}

static void unknown(void) {
  begin();
  const pmix_proc_t beyond = rank_of(job_size + 5);
  const pmix_proc_t elsewhere = proc_in("no-such-namespace", 0);
  double start = now();
  demand(try_get(&beyond, "key", NULL, 0) != PMIX_SUCCESS, "no such rank");
  demand(now() - start < 5, "the answer about a rank comes");
  start = now();
  demand(try_get(&elsewhere, "key", NULL, 0) != PMIX_SUCCESS, "no such job");
  demand(now() - start < 5, "the answer about a job comes");
  start = now();
  demand(try_get(&elsewhere, PMIX_JOB_SIZE, NULL, 0) != PMIX_SUCCESS,
         "no such job's size");
  demand(now() - start < 5, "the answer about a job's size comes");
  end();
}

/* -- another job ----------------------------------------------------------- */

static void other_job(void) {
  begin();
  post("from.parent", "hello child");
  char child[PMIX_MAX_NSLEN + 1];
  spawn_case("child", 2, child);
  const pmix_proc_t all = proc_in(child, PMIX_RANK_WILDCARD);
  demand(number_of(&all, PMIX_JOB_SIZE) == 2, "size of the child's job");
  for (pmix_rank_t rank = 0; rank < 2; ++rank) {
    const pmix_proc_t whom = proc_in(child, rank);
    demand(number_of(&whom, PMIX_LOCAL_RANK) == rank, "its local rank");
    expect_string(&whom, "from.child", "hello parent", 20);
  }
  post("parent.done", "yes");
  await_end(child, 20);
  end();
}

static void child(void) {
  begin();
  const pmix_proc_t from = parent();
  post("from.child", "hello parent");
  expect_string(&from, "from.parent", "hello child", 20);
  expect_string(&from, "parent.done", "yes", 20);
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"job_data", job_data}, {"scopes", scopes},   {"types", types},
    {"large", large},       {"again", again},     {"immediate", immediate},
    {"optional", optional}, {"waits", waits},     {"times_out", times_out},
    {"wildcard", wildcard}, {"unknown", unknown}, {"other_job", other_job},
    {"child", child},
  };
  return RUN_CASE(cases);
}
