/* Groups as Open MPI 5 uses them for MPI sessions and for communicators: each
 * communicator is a group of its own that lives until it has its context id;
 * what its processes call it themselves is then asked for by that number. */

#include "client.h"

#ifndef PMIX_GROUP_INFO
#  define PMIX_GROUP_INFO "pmix.grp.info"
#endif
#ifndef PMIX_GROUP_LOCAL_CID
#  define PMIX_GROUP_LOCAL_CID "pmix.grp.lclid"
#endif
#ifndef PMIX_GROUP_ADD_MEMBERS
#  define PMIX_GROUP_ADD_MEMBERS "pmix.grp.add"
#endif
#ifndef PMIX_GROUP_BOOTSTRAP
#  define PMIX_GROUP_BOOTSTRAP "pmix.grp.btstrp"
#endif

/* A qualifier; its name is younger than the header. */
static const pmix_info_directives_t qualifier = 0x00000008;

/* What rank calls communicator number x. */
static size_t local_cid(pmix_rank_t rank, int x) {
  return 1000 * (size_t)(x + 1) + rank;
}

static pmix_info_t size_info(const char* key, size_t value) {
  pmix_info_t result;
  PMIX_INFO_LOAD(&result, key, &value, PMIX_SIZE);
  return result;
}

static size_t context_id(pmix_info_t* infos, size_t n) {
  size_t result = 0;
  pmix_status_t outcome = PMIX_ERR_NOT_FOUND;
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_CONTEXT_ID))
      PMIX_VALUE_GET_NUMBER(outcome, &infos[i].value, result, size_t);
  succeed(outcome, "the context id");
  demand(result != 0, "a context id is not 0");
  if (infos != NULL)
    PMIX_INFO_FREE(infos, n);
  return result;
}

/* A communicator's number, as ompi_comm_nextcid gets it. */
static size_t next_cid(const char* tag, const pmix_proc_t* procs, size_t n,
                       size_t mine) {
  pmix_info_t own = size_info(PMIX_GROUP_LOCAL_CID, mine);
  pmix_data_array_t array = {.type = PMIX_INFO, .size = 1, .array = &own};
  pmix_info_t directives[3];
  const uint32_t seconds = 20;
  PMIX_INFO_LOAD(&directives[0], PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
  PMIX_INFO_LOAD(&directives[1], PMIX_TIMEOUT, &seconds, PMIX_UINT32);
  PMIX_INFO_LOAD(&directives[2], PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY);
  pmix_info_t* infos = NULL;
  size_t count = 0;
  succeed(PMIx_Group_construct(tag, procs, n, directives, 3, &infos, &count),
          "construct");
  const size_t result = context_id(infos, count);
  succeed(PMIx_Group_destruct(tag, NULL, 0), "destruct");
  return result;
}

/* What a process calls a communicator, as ompi_comm_get_remote_cid asks. */
static void expect_remote_cid(pmix_rank_t rank, size_t cid, size_t wanted) {
  const pmix_proc_t proc = rank_of(rank);
  const uint32_t seconds = 20;
  pmix_info_t directives[2];
  directives[0] = size_info(PMIX_GROUP_CONTEXT_ID, cid);
  directives[0].flags |= qualifier;
  PMIX_INFO_LOAD(&directives[1], PMIX_TIMEOUT, &seconds, PMIX_UINT32);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&proc, PMIX_GROUP_LOCAL_CID, directives, 2, &value),
          "the number of another process");
  if (value->type != PMIX_SIZE || value->data.size != wanted)
    fail("rank %u calls %zu %zu, expected %zu", rank, cid, value->data.size,
         wanted);
  PMIX_VALUE_RELEASE(value);
}

enum { rounds = 4 };

static void sessions(void) {
  begin();
  pmix_proc_t all[16];
  pmix_proc_t half[16];
  size_t half_count = 0;
  demand(job_size <= 16, "the job is small");
  for (uint32_t i = 0; i < job_size; ++i) {
    all[i] = rank_of(i);
    if (i % 2 == me.rank % 2)
      half[half_count++] = all[i];
  }
  /* Communicators of all, and of every second process at the same time. */
  size_t cids[2 * rounds];
  for (int i = 0; i < rounds; ++i) {
    char tag[64];
    snprintf(tag, sizeof tag, "mpi-world-%d", i);
    cids[2 * i] = next_cid(tag, all, job_size, local_cid(me.rank, 2 * i));
    snprintf(tag, sizeof tag, "mpi-half-%d-%u", i, me.rank % 2);
    cids[2 * i + 1] =
      next_cid(tag, half, half_count, local_cid(me.rank, 2 * i + 1));
  }
  char text[256] = "";
  for (int i = 0; i < 2 * rounds; ++i) {
    char one[32];
    snprintf(one, sizeof one, "%zu ", cids[i]);
    strcat(text, one);
    for (int j = 0; j < i; ++j)
      demand(cids[i] != cids[j], "context ids are unique");
  }
  for (int i = 0; i < 2 * rounds; ++i)
    for (uint32_t j = 0; j < job_size; ++j)
      if (i % 2 == 0 || j % 2 == me.rank % 2)
        expect_remote_cid(j, cids[i], local_cid(j, i));
  post("sessions.cids", text);
  meet();
  /* All have the same numbers for the same communicators, and other numbers for
   * others. */
  const pmix_proc_t twin = rank_of((me.rank + 2) % job_size);
  if (job_size % 2 == 0)
    expect_string(&twin, "sessions.cids", text, 10);
  const pmix_proc_t other = rank_of((me.rank + 1) % job_size);
  pmix_value_t* value = NULL;
  succeed(PMIx_Get(&other, "sessions.cids", NULL, 0, &value), "the other's");
  char* rest = value->data.string;
  for (int i = 0; i < 2 * rounds; ++i) {
    const size_t theirs = strtoul(rest, &rest, 10);
    demand((theirs == cids[i]) == (i % 2 == 0), "numbers agree as groups do");
  }
  PMIX_VALUE_RELEASE(value);
  end();
}

/* Two leaders who know nothing of each other's processes bring them together,
 * as MPI_Intercomm_create_from_groups does. */
static void bootstrap(void) {
  begin();
  demand(job_size == 4, "four processes");
  pmix_info_t* infos = NULL;
  size_t n = 0;
  if (me.rank < 2) {
    pmix_proc_t follower = rank_of(me.rank + 2);
    pmix_data_array_t array = {
      .type = PMIX_PROC, .size = 1, .array = &follower};
    pmix_info_t directives[3];
    const size_t leaders = 2;
    PMIX_INFO_LOAD(&directives[0], PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_SIZE);
    PMIX_INFO_LOAD(&directives[1], PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL,
                   PMIX_BOOL);
    PMIX_INFO_LOAD(&directives[2], PMIX_GROUP_ADD_MEMBERS, &array,
                   PMIX_DATA_ARRAY);
    succeed(
      PMIx_Group_construct("intercomm", &me, 1, directives, 3, &infos, &n),
      "construct of a leader");
  } else {
    succeed(PMIx_Group_construct("intercomm", NULL, 0, NULL, 0, &infos, &n),
            "construct of a follower");
  }
  size_t members = 0;
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_MEMBERSHIP))
      members = infos[i].value.data.darray->size;
  demand(members == 4, "all are members");
  char text[32];
  snprintf(text, sizeof text, "%zu", context_id(infos, n));
  post("sessions.cid", text);
  const pmix_proc_t group = proc_in("intercomm", PMIX_RANK_WILDCARD);
  succeed(PMIx_Fence(&group, 1, NULL, 0), "fence over the group");
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t proc = rank_of(i);
    expect_string(&proc, "sessions.cid", text, 10);
  }
  succeed(PMIx_Group_destruct("intercomm", NULL, 0), "destruct");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"sessions", sessions},
                                           {"bootstrap", bootstrap}};
  return RUN_CASE(cases);
}
