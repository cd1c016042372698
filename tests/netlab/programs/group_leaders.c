/* Constructions with leaders over three nodes, whose members end: six processes,
 * of which ranks 0 and 3, 1 and 4, 2 and 5 share a node. One of a case kills
 * itself. All on our library, but for `told`, whose handlers answer nothing.
 *
 *   group_leaders told       a leader alone hears that one has failed, and it ends
 *   group_leaders untold     without a leader all hear of it
 *   group_leaders fewer      the leader goes on with fewer
 *   group_leaders replaced   the leader names a replacement
 *   group_leaders elected    the leader fails, two would lead
 *   group_leaders leaderless the leader fails, nobody would lead
 *   group_leaders aborted    the leader fails, one would lead, one aborts */

#include "../../interop/programs/group_client.h"

_Static_assert(PMIX_GROUP_MEMBERSHIP_UPDATE == -164
                 && PMIX_GROUP_INVITE_FAILED == -163
                 && PMIX_GROUP_LEADER_SELECTED == -167
                 && PMIX_GROUP_LEADER_FAILED == -168,
               "what is heard has the numbers of the Standard");

/* -- what a process hears and answers --------------------------------------- */

/* What its handlers return for a code, besides what they note. */
static struct {
  pmix_status_t code;
  pmix_status_t status;
  pmix_info_t info;
  size_t num_infos;
} answers[2];

static atomic_int selected = -1;
static struct later invited;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t* source,
                     pmix_info_t* infos, size_t n, pmix_info_t* results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                     void* data) {
  for (size_t i = 0; i < n; ++i)
    if (code == PMIX_GROUP_LEADER_SELECTED
        && PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_LEADER)
        && infos[i].value.type == PMIX_PROC)
      atomic_store(&selected, (int)infos[i].value.data.proc->rank);
  on_group_event(id, code, source, infos, n, results, nresults, NULL, NULL);
  if (code == PMIX_GROUP_INVITED)
    succeed(PMIx_Group_join_nb(group_events[num_group_events - 1].group, source,
                               PMIX_GROUP_ACCEPT, NULL, 0, on_constructed,
                               &invited),
            "join");
  for (int i = 0; i < 2; ++i) {
    if (code == answers[i].code) {
      done(answers[i].status, &answers[i].info, answers[i].num_infos, NULL,
           NULL, data);
      return;
    }
  }
  done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Before the process listens. */
static void answer(pmix_status_t code, pmix_status_t status,
                   const pmix_info_t* info) {
  const int at = answers[0].code == 0 ? 0 : 1;
  answers[at].code = code;
  answers[at].status = status;
  answers[at].num_infos = info != NULL ? 1 : 0;
  if (info != NULL)
    answers[at].info = *info;
}

static int times(pmix_status_t code) {
  int count = 0;
  const int n = atomic_load(&num_group_events);
  for (int i = 0; i < n; ++i)
    count += group_events[i].code == code
             && strcmp(group_events[i].group, "app.led") == 0;
  return count;
}

static void await_event(pmix_status_t code) {
  const double deadline = now() + 10;
  while (times(code) == 0) {
    demand(now() < deadline, PMIx_Error_string(code));
    pause_ms(2);
  }
}

/* -- a construction of ranks 0 to 3 ----------------------------------------- */

static pmix_proc_t four[4];
static const struct pending fresh = PENDING;

static void prepare(void) {
  demand(job_size == 6, "6 processes");
  invited.done = fresh;
  pmix_status_t codes[] = {
    PMIX_GROUP_INVITED,           PMIX_GROUP_INVITE_FAILED,
    PMIX_GROUP_MEMBERSHIP_UPDATE, PMIX_GROUP_CONSTRUCT_ABORT,
    PMIX_GROUP_LEADER_SELECTED,   PMIX_GROUP_LEADER_FAILED};
  handle(codes, sizeof codes / sizeof codes[0], on_event);
  ranks(four, 4, 0, 1, 2, 3);
  meet();
}

static struct later* call(bool leads) {
  const pmix_info_t lead = flag_info(PMIX_GROUP_LEADER);
  return construct_later("app.led", four, 4, &lead, leads ? 1 : 0);
}

static struct built answered(struct later* x) {
  demand(happens(&x->done, 1, 20), "construct is answered");
  return await_built(x, "once");
}

/* Those who live have a group of these, in this order, and use its name. */
static void complete(const struct built* x, const char* members) {
  demand(x->outcome == PMIX_SUCCESS || x->outcome == PMIX_ERR_PARTIAL_SUCCESS,
         "the group is complete");
  demand(x->num_members > 0, "the members are told");
  expect_members(x, members);
  await_event(PMIX_GROUP_MEMBERSHIP_UPDATE);
  const pmix_proc_t group = proc_in("app.led", PMIX_RANK_WILDCARD);
  succeed(PMIx_Fence(&group, 1, NULL, 0), "fence over the group");
  demand(times(PMIX_GROUP_MEMBERSHIP_UPDATE) == 1, "told once");
  destruct("app.led");
}

/* Those who live say so: another one has killed itself. */
static void outlive(void) {
  printf("rank %u outlived it\n", me.rank);
  fflush(stdout);
  end();
}

static void no_group(const struct built* x, pmix_status_t wanted) {
  expect(x->outcome, wanted, "construct");
  const pmix_proc_t group = proc_in("app.led", PMIX_RANK_WILDCARD);
  demand(PMIx_Fence(&group, 1, NULL, 0) != PMIX_SUCCESS, "there is no group");
}

/* -- one that is no leader fails before it calls ---------------------------- */

static void fails(bool has_leader) {
  begin();
  prepare();
  if (me.rank == 2)
    raise(SIGKILL);
  if (me.rank < 4) {
    const struct built x = answered(call(has_leader && me.rank == 0));
    no_group(&x, PMIX_GROUP_CONSTRUCT_ABORT);
    if (!has_leader || me.rank == 0)
      await_heard(PMIX_GROUP_INVITE_FAILED, "app.led", 2, "the failure");
  }
  pause_ms(300); /* More would have come by now. */
  demand(times(PMIX_GROUP_INVITE_FAILED)
           == (me.rank < 4 && (!has_leader || me.rank == 0) ? 1 : 0),
         "who hears of the failure");
  outlive();
}

static void told(void) {
  fails(true);
}

static void untold(void) {
  fails(false);
}

static void fewer(void) {
  begin();
  const pmix_info_t go_on = flag_info(PMIX_GROUP_OPTIONAL);
  if (me.rank == 0)
    answer(PMIX_GROUP_INVITE_FAILED, PMIX_EVENT_ACTION_COMPLETE, &go_on);
  prepare();
  if (me.rank == 2)
    raise(SIGKILL);
  if (me.rank < 4) {
    const struct built x = answered(call(me.rank == 0));
    complete(&x, "0 1 3");
    demand(times(PMIX_GROUP_INVITE_FAILED) == (me.rank == 0 ? 1 : 0),
           "the leader alone is told");
  } else {
    demand(times(PMIX_GROUP_MEMBERSHIP_UPDATE) == 0, "nobody else is told");
  }
  outlive();
}

static void replaced(void) {
  begin();
  pmix_proc_t other = rank_of(5);
  pmix_data_array_t array = {.type = PMIX_PROC, .size = 1, .array = &other};
  pmix_info_t add;
  PMIX_INFO_LOAD(&add, PMIX_GROUP_ADD_MEMBERS, &array, PMIX_DATA_ARRAY);
  if (me.rank == 0)
    answer(PMIX_GROUP_INVITE_FAILED, PMIX_EVENT_ACTION_COMPLETE, &add);
  prepare();
  if (me.rank == 2)
    raise(SIGKILL);
  if (me.rank < 4 || me.rank == 5) {
    const struct built x =
      answered(me.rank == 5 ? &invited : call(me.rank == 0));
    complete(&x, "0 1 5 3");
  }
  demand(times(PMIX_GROUP_INVITED) == (me.rank == 5 ? 1 : 0),
         "the replacement alone is invited");
  outlive();
}

/* -- the leader fails ------------------------------------------------------- */

/* Ranks 0 to 2 have called, 3 has not, when 0 kills itself. */
static struct later* bereft(void) {
  prepare();
  struct later* x = me.rank < 3 ? call(me.rank == 0) : NULL;
  pause_ms(150); /* All nodes know who has called. */
  meet();
  if (me.rank == 0)
    raise(SIGKILL);
  if (me.rank < 4)
    await_heard(PMIX_GROUP_LEADER_FAILED, "app.led", 0, "the failure");
  return x;
}

/* Two would lead: the lower in rank is chosen, the same by all, and leads: the
 * group is made without the dead, as its handlers say. */
static void elected(void) {
  begin();
  const pmix_info_t lead = flag_info(PMIX_GROUP_LEADER);
  const pmix_info_t go_on = flag_info(PMIX_GROUP_OPTIONAL);
  if (me.rank == 1 || me.rank == 2)
    answer(PMIX_GROUP_LEADER_FAILED, PMIX_EVENT_ACTION_COMPLETE, &lead);
  if (me.rank == 1)
    answer(PMIX_GROUP_INVITE_FAILED, PMIX_EVENT_ACTION_COMPLETE, &go_on);
  struct later* x = bereft();
  if (me.rank < 4) {
    await_event(PMIX_GROUP_LEADER_SELECTED);
    demand(atomic_load(&selected) == 1, "the lower rank is chosen");
    const struct built y = answered(me.rank == 3 ? call(false) : x);
    complete(&y, "1 2 3");
    demand(times(PMIX_GROUP_LEADER_FAILED) == 1
             && times(PMIX_GROUP_LEADER_SELECTED) == 1,
           "each is told once");
  }
  outlive();
}

static void leaderless(void) {
  begin();
  struct later* x = bereft();
  if (me.rank < 4)
    await_event(PMIX_GROUP_LEADER_SELECTED);
  demand(atomic_load(&selected) == -1, "nobody is chosen");
  if (me.rank < 3) {
    const struct built y = answered(x);
    no_group(&y, PMIX_GROUP_CONSTRUCT_ABORT);
  }
  outlive();
}

/* Who waits in the call, and who is called back. */
static void aborted(void) {
  begin();
  const pmix_info_t lead = flag_info(PMIX_GROUP_LEADER);
  if (me.rank == 1)
    answer(PMIX_GROUP_LEADER_FAILED, PMIX_EVENT_ACTION_COMPLETE, &lead);
  if (me.rank == 2)
    answer(PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_CONSTRUCT_ABORT, NULL);
  prepare();
  if (me.rank == 0) {
    call(true);
    pause_ms(300); /* The others are in their calls. */
    raise(SIGKILL);
  } else if (me.rank == 1) {
    const struct built y = construct("app.led", four, 4, NULL, 0);
    no_group(&y, PMIX_GROUP_CONSTRUCT_ABORT);
  } else if (me.rank == 2) {
    const struct built y = answered(call(false));
    no_group(&y, PMIX_GROUP_CONSTRUCT_ABORT);
  }
  if (me.rank < 4) {
    await_heard(PMIX_GROUP_LEADER_FAILED, "app.led", 0, "the failure");
    demand(atomic_load(&selected) == -1, "nobody is chosen");
  }
  outlive();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"told", told},         {"untold", untold},   {"fewer", fewer},
    {"replaced", replaced}, {"elected", elected}, {"leaderless", leaderless},
    {"aborted", aborted},
  };
  return RUN_CASE(cases);
}
