/* Groups by invitation: who joins, who declines, who is silent, who dies, and
 * what handlers say about it. Rank 0 invites unless a case says otherwise. */

#include "client.h"

#ifndef PMIX_GROUP_ADD_MEMBERS
#  define PMIX_GROUP_ADD_MEMBERS "pmix.grp.add"
#endif

/* -- what a process has seen ------------------------------------------------
 */

enum { code_count = 10 };
static const pmix_status_t codes_of_groups[code_count] = {
  PMIX_GROUP_INVITED,         PMIX_GROUP_LEFT,
  PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,
  PMIX_GROUP_INVITE_FAILED,   PMIX_GROUP_MEMBERSHIP_UPDATE,
  PMIX_GROUP_CONSTRUCT_ABORT, PMIX_GROUP_CONSTRUCT_COMPLETE,
  PMIX_GROUP_LEADER_SELECTED, PMIX_GROUP_LEADER_FAILED};

_Static_assert(PMIX_GROUP_INVITED == -159 && PMIX_GROUP_LEFT == -160
                 && PMIX_GROUP_INVITE_ACCEPTED == -161
                 && PMIX_GROUP_INVITE_DECLINED == -162
                 && PMIX_GROUP_INVITE_FAILED == -163
                 && PMIX_GROUP_MEMBERSHIP_UPDATE == -164
                 && PMIX_GROUP_CONSTRUCT_ABORT == -165
                 && PMIX_GROUP_CONSTRUCT_COMPLETE == -166
                 && PMIX_GROUP_LEADER_SELECTED == -167
                 && PMIX_GROUP_LEADER_FAILED == -168,
               "what is seen has the numbers of the Standard");

static struct pending seen[code_count] = {PENDING, PENDING, PENDING, PENDING,
                                          PENDING, PENDING, PENDING, PENDING,
                                          PENDING, PENDING};

static struct pending* seen_of(pmix_status_t code) {
  for (int i = 0; i < code_count; ++i)
    if (codes_of_groups[i] == code)
      return &seen[i];
  fail("an event of another code: %s", PMIx_Error_string(code));
}

static bool sees(pmix_status_t code, int times, double seconds) {
  return happens(seen_of(code), times, seconds);
}

static bool saw(pmix_status_t code) {
  return seen_of(code)->happened > 0;
}

static const pmix_info_t* find(const pmix_info_t* infos, size_t n,
                               const char* key) {
  for (size_t i = 0; i < n; ++i)
    if (PMIX_CHECK_KEY(&infos[i], key))
      return &infos[i];
  return NULL;
}

/* -- what its handlers do ---------------------------------------------------
 */

/* What they return, for events of this code. */
static pmix_status_t asked_code = 0;
static pmix_status_t verdict = PMIX_EVENT_NO_ACTION_TAKEN;
static pmix_info_t results[2];
static size_t result_count = 0;

static void answer(pmix_status_t code, pmix_status_t status,
                   const pmix_info_t* result) {
  asked_code = code;
  verdict = status;
  result_count = result != NULL ? 1 : 0;
  if (result != NULL)
    results[0] = *result;
}

/* How an invitation to a group is answered: in the handler, or never. */
enum reply { say_nothing, accept_it, decline_it };
static enum reply (*reply_to)(const char* group) = NULL;

static char invited_to[64];
static pmix_proc_t inviter;
static struct pending joined = PENDING;
static pmix_info_t join_directives[1];
static size_t join_directive_count = 0;

static char members_text[256];

/* The members in infos, as "0 2 3". */
static const char* members_in(const pmix_info_t* infos, size_t n) {
  const pmix_info_t* x = find(infos, n, PMIX_GROUP_MEMBERSHIP);
  members_text[0] = '\0';
  if (x == NULL || x->value.type != PMIX_DATA_ARRAY)
    return "none";
  const pmix_data_array_t* array = x->value.data.darray;
  const pmix_proc_t* procs = array->array;
  for (size_t i = 0; i < array->size; ++i) {
    char one[16];
    snprintf(one, sizeof one, "%s%u", i > 0 ? " " : "", procs[i].rank);
    strncat(members_text, one, sizeof members_text - strlen(members_text) - 1);
  }
  return members_text;
}

static char last_members[256];
static char last_group[64];

static void on_group(pmix_status_t status, pmix_info_t* infos, size_t n,
                     void* data, pmix_release_cbfunc_t release,
                     void* release_data) {
  snprintf(last_members, sizeof last_members, "%s", members_in(infos, n));
  const pmix_info_t* id = find(infos, n, PMIX_GROUP_ID);
  snprintf(last_group, sizeof last_group, "%s",
           id != NULL ? id->value.data.string : "");
  if (release != NULL)
    release(release_data);
  happen(data, status);
}

static pmix_status_t in_handler = PMIX_SUCCESS;

/* The context identifier of the last group that was complete. */
static size_t context = 0;

static void on_event(size_t id UNUSED, pmix_status_t status,
                     const pmix_proc_t* source, pmix_info_t* infos, size_t n,
                     pmix_info_t* earlier UNUSED, size_t earlier_count UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void* data) {
  const pmix_info_t* group = find(infos, n, PMIX_GROUP_ID);
  if (status == PMIX_GROUP_INVITED && reply_to != NULL) {
    demand(group != NULL && group->value.type == PMIX_STRING,
           "an invitation names its group");
    snprintf(invited_to, sizeof invited_to, "%s", group->value.data.string);
    inviter = *source;
    const enum reply how = reply_to(invited_to);
    if (how == accept_it) {
      in_handler = PMIx_Group_join(invited_to, source, PMIX_GROUP_ACCEPT, NULL,
                                   0, NULL, NULL);
      succeed(PMIx_Group_join_nb(invited_to, source, PMIX_GROUP_ACCEPT,
                                 join_directives, join_directive_count,
                                 on_group, &joined),
              "join_nb in a handler");
    } else if (how == decline_it) {
      struct pending* ignored = malloc(sizeof *ignored);
      *ignored = (struct pending)PENDING;
      succeed(PMIx_Group_join_nb(invited_to, source, PMIX_GROUP_DECLINE, NULL,
                                 0, on_group, ignored),
              "declining in a handler");
    }
  }
  const pmix_info_t* number = find(infos, n, PMIX_GROUP_CONTEXT_ID);
  if (status == PMIX_GROUP_CONSTRUCT_COMPLETE && number != NULL)
    context = number->value.data.size;
  happen(seen_of(status), status);
  if (status == asked_code)
    done(verdict, results, result_count, NULL, NULL, data);
  else
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Registers for all events of groups, and waits until all have. */
static void listen_all(void) {
  begin();
  pmix_status_t codes[code_count];
  memcpy(codes, codes_of_groups, sizeof codes);
  handle(codes, code_count, on_event);
  meet();
}

static enum reply accept_all(const char* group UNUSED) {
  return accept_it;
}

/* -- calls ------------------------------------------------------------------
 */

static void make_procs(pmix_proc_t* procs, size_t n, const pmix_rank_t* ranks) {
  for (size_t i = 0; i < n; ++i)
    procs[i] = rank_of(ranks[i]);
}

#define RANKS(...)                                                             \
  (const pmix_rank_t[]) {                                                      \
    __VA_ARGS__                                                                \
  }

/* Invites ranks and waits. */
static pmix_status_t invite(const char* group, size_t n,
                            const pmix_rank_t* ranks,
                            const pmix_info_t* directives, size_t count) {
  pmix_proc_t procs[8];
  make_procs(procs, n, ranks);
  pmix_info_t* infos = NULL;
  size_t found = 0;
  const pmix_status_t status =
    PMIx_Group_invite(group, procs, n, directives, count, &infos, &found);
  snprintf(last_members, sizeof last_members, "%s", members_in(infos, found));
  if (infos != NULL)
    PMIX_INFO_FREE(infos, found);
  return status;
}

static void expect_members(const char* wanted) {
  if (strcmp(last_members, wanted) != 0)
    fail("the members are \"%s\", expected \"%s\"", last_members, wanted);
}

static void expect_joined(pmix_status_t wanted, const char* members) {
  demand(happens(&joined, 1, 20), "the join is answered");
  expect(joined.outcome, wanted, "join");
  if (members != NULL)
    expect_members(members);
}

static pmix_status_t fence_of(const char* group) {
  const pmix_proc_t all = proc_in(group, PMIX_RANK_WILDCARD);
  const pmix_info_t patience = int_info(PMIX_TIMEOUT, 10);
  return PMIx_Fence(&all, 1, &patience, 1);
}

/* -- everybody joins --------------------------------------------------------
 */

/* Blocking invite, join in the handler; then the group is used by its name.
 * Handlers that end the chain do not hide the answers from the library, and are
 * called. */
static void all_join(void) {
  reply_to = accept_all;
  listen_all();
  char text[32];
  snprintf(text, sizeof text, "of %u", me.rank);
  post("groups_invite.card", text);
  if (me.rank == 0) {
    succeed(invite("all", 3, RANKS(0, 2, 1), NULL, 0), "invite");
    expect_members("0 2 1");
    demand(sees(PMIX_GROUP_INVITE_ACCEPTED, 2, 5), "handlers see answers");
  } else if (me.rank < 3) {
    expect_joined(PMIX_SUCCESS, "0 2 1");
    demand(strcmp(last_group, "all") == 0, "the join names its group");
    expect(in_handler, PMIX_ERR_WOULD_BLOCK, "blocking join in a handler");
  }
  if (me.rank < 3) {
    demand(sees(PMIX_GROUP_CONSTRUCT_COMPLETE, 1, 5), "all hear of the end");
    const pmix_proc_t second = proc_in("all", 1);
    expect_string(&second, "groups_invite.card", "of 2", 5);
    succeed(fence_of("all"), "fence over the group");
    succeed(PMIx_Group_destruct("all", NULL, 0), "destruct");
  } else {
    demand(!saw(PMIX_GROUP_INVITED), "nobody else is invited");
  }
  meet();
  end();
}

/* Nobody waits in a call: invite_nb, and a blocking join on its own thread. */
static enum reply later(const char* group UNUSED) {
  return say_nothing;
}

static void without_waiting(void) {
  reply_to = later;
  listen_all();
  if (me.rank == 0) {
    pmix_proc_t procs[3];
    make_procs(procs, 3, RANKS(0, 1, 2));
    struct pending done = PENDING;
    succeed(PMIx_Group_invite_nb("nb", procs, 3, NULL, 0, on_group, &done),
            "invite_nb");
    demand(happens(&done, 1, 20), "the callback comes");
    succeed(done.outcome, "invite_nb");
    expect_members("0 1 2");
    demand(strcmp(last_group, "nb") == 0, "the callback names the group");
  } else if (me.rank < 3) {
    demand(sees(PMIX_GROUP_INVITED, 1, 20), "the invitation comes");
    const pmix_proc_t wrong = rank_of(2 - me.rank + 1);
    expect(
      PMIx_Group_join("nb", &wrong, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
      PMIX_ERR_BAD_PARAM, "join with another leader");
    expect(PMIx_Group_join("other", &inviter, PMIX_GROUP_ACCEPT, NULL, 0, NULL,
                           NULL),
           PMIX_ERR_NOT_FOUND, "join without an invitation");
    pmix_info_t* infos = NULL;
    size_t n = 0;
    succeed(
      PMIx_Group_join("nb", &inviter, PMIX_GROUP_ACCEPT, NULL, 0, &infos, &n),
      "join");
    snprintf(last_members, sizeof last_members, "%s", members_in(infos, n));
    PMIX_INFO_FREE(infos, n);
    expect_members("0 1 2");
  }
  if (me.rank < 3)
    succeed(fence_of("nb"), "fence over the group");
  meet();
  end();
}

/* -- not everybody joins ----------------------------------------------------
 */

static enum reply decline_odd(const char* group UNUSED) {
  return me.rank == 1 ? decline_it : accept_it;
}

static void declined(void) {
  reply_to = decline_odd;
  listen_all();
  if (me.rank == 0) {
    expect(invite("no", 3, RANKS(0, 1, 2), NULL, 0), PMIX_GROUP_CONSTRUCT_ABORT,
           "invite when one declines");
    demand(sees(PMIX_GROUP_INVITE_DECLINED, 1, 5), "the decline is seen");
  } else if (me.rank == 2) {
    expect_joined(PMIX_GROUP_CONSTRUCT_ABORT, NULL);
  }
  if (me.rank == 1 || me.rank == 2)
    demand(sees(PMIX_GROUP_CONSTRUCT_ABORT, 1, 5), "all invited hear of it");
  meet();
  joined = (struct pending)PENDING;
  meet();
  if (me.rank == 0) {
    const pmix_info_t optional = flag_info(PMIX_GROUP_OPTIONAL);
    succeed(invite("maybe", 3, RANKS(0, 1, 2), &optional, 1),
            "optional invite");
    expect_members("0 2");
    demand(sees(PMIX_GROUP_INVITE_FAILED, 2, 5), "and its failure each time");
  } else if (me.rank == 2) {
    expect_joined(PMIX_SUCCESS, "0 2");
  }
  if (me.rank == 0 || me.rank == 2)
    succeed(fence_of("maybe"), "fence over those who are in");
  meet();
  end();
}

static void on_card(pmix_status_t outcome, pmix_value_t* value, void* data) {
  demand(outcome != PMIX_SUCCESS || strcmp(value->data.string, "card 0") == 0,
         "the card of the inviter");
  happen(data, outcome);
}

/* What members have put, and not committed, for other nodes: all of them find it
 * by the context identifier, without a question to whoever has put it. */
static void exchanged(void) {
  reply_to = accept_all;
  listen_all();
  char text[32];
  snprintf(text, sizeof text, "card %u", me.rank);
  put_string(PMIX_REMOTE, "card", text);
  meet();
  if (me.rank == 0) {
    const pmix_info_t numbered = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    succeed(invite("cards", 4, RANKS(0, 1, 2, 3), &numbered, 1), "invite");
  } else {
    expect_joined(PMIX_SUCCESS, "0 1 2 3");
  }
  demand(sees(PMIX_GROUP_CONSTRUCT_COMPLETE, 1, 10), "the group is complete");
  demand(context != 0, "its context identifier is told");
  pmix_info_t how[2] = {flag_info(PMIX_OPTIONAL), flag_info(PMIX_OPTIONAL)};
  PMIX_INFO_LOAD(&how[0], PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
  PMIX_INFO_SET_QUALIFIER(&how[0]);
  for (pmix_rank_t i = 0; i < 4; ++i) {
    const pmix_proc_t peer = rank_of(i);
    pmix_value_t* value = NULL;
    succeed(PMIx_Get(&peer, "card", how, 2, &value), "the card of a member");
    snprintf(text, sizeof text, "card %u", i);
    demand(strcmp(value->data.string, text) == 0, "the right one");
    PMIX_VALUE_RELEASE(value);
    expect(try_get(&peer, "no card", how, 2), PMIX_ERR_NOT_FOUND,
           "another key");
  }
  const pmix_proc_t first = rank_of(0);
  struct pending found = PENDING;
  succeed(PMIx_Get_nb(&first, "card", how, 2, on_card, &found), "get_nb");
  demand(happens(&found, 1, 10), "the callback comes");
  succeed(found.outcome, "get_nb of the card");
  struct pending missed = PENDING;
  succeed(PMIx_Get_nb(&first, "no card", how, 2, on_card, &missed), "get_nb");
  demand(happens(&missed, 1, 10), "the callback comes");
  expect(missed.outcome, PMIX_ERR_NOT_FOUND, "get_nb of another key");
  how[0].value.data.size = context + 1;
  if (me.rank != 0)
    expect(try_get(&first, "card", how, 2), PMIX_ERR_NOT_FOUND,
           "another context identifier");
  how[0].value.data.size = context;
  meet();
  succeed(PMIx_Group_destruct("cards", NULL, 0), "destruct");
  if (me.rank != 0)
    expect(try_get(&first, "card", how, 2), PMIX_ERR_NOT_FOUND,
           "when the group is over");
  meet();
  end();
}

/* The inviter's handler names a replacement. */
static void replaced(void) {
  reply_to = decline_odd;
  listen_all();
  if (me.rank == 0) {
    pmix_proc_t other = rank_of(3);
    pmix_data_array_t array = {.type = PMIX_PROC, .size = 1, .array = &other};
    pmix_info_t add;
    PMIX_INFO_LOAD(&add, PMIX_GROUP_ADD_MEMBERS, &array, PMIX_DATA_ARRAY);
    answer(PMIX_GROUP_INVITE_DECLINED, PMIX_EVENT_ACTION_COMPLETE, &add);
    succeed(invite("new", 3, RANKS(0, 1, 2), NULL, 0), "invite");
    expect_members("0 2 3");
  } else if (me.rank != 1) {
    expect_joined(PMIX_SUCCESS, "0 2 3");
  }
  if (me.rank != 1)
    succeed(fence_of("new"), "fence over the group");
  meet();
  end();
}

/* The inviter's handlers go on with fewer, and abort. */
static void decided(void) {
  reply_to = decline_odd;
  listen_all();
  if (me.rank == 0) {
    const pmix_info_t fewer = flag_info(PMIX_GROUP_OPTIONAL);
    answer(PMIX_GROUP_INVITE_DECLINED, PMIX_EVENT_NO_ACTION_TAKEN, &fewer);
    succeed(invite("less", 3, RANKS(0, 1, 2), NULL, 0), "invite");
    expect_members("0 2");
    answer(PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_CONSTRUCT_ABORT, NULL);
    expect(invite("stop", 2, RANKS(0, 2), NULL, 0), PMIX_GROUP_CONSTRUCT_ABORT,
           "invite when a handler aborts");
  } else if (me.rank == 2) {
    demand(happens(&joined, 2, 20), "both joins are answered");
    expect(joined.outcome, PMIX_GROUP_CONSTRUCT_ABORT, "the second join");
  }
  meet();
  end();
}

/* -- several at once --------------------------------------------------------
 */

static enum reply accept_b(const char* group) {
  return strcmp(group, "b") == 0 ? accept_it : decline_it;
}

/* Two invitations to one process with opposite answers. */
static void overlapping(void) {
  reply_to = accept_b;
  listen_all();
  if (me.rank == 0) {
    const pmix_info_t optional = flag_info(PMIX_GROUP_OPTIONAL);
    pmix_proc_t procs[2];
    make_procs(procs, 2, RANKS(0, 1));
    struct pending a = PENDING;
    struct pending b = PENDING;
    succeed(PMIx_Group_invite_nb("a", procs, 2, &optional, 1, on_group, &a),
            "invite to a");
    succeed(PMIx_Group_invite_nb("b", procs, 2, &optional, 1, on_group, &b),
            "invite to b");
    demand(happens(&a, 1, 20) && happens(&b, 1, 20), "both are answered");
    succeed(a.outcome, "a");
    succeed(b.outcome, "b");
    succeed(fence_of("a"), "fence of the only member of a");
  }
  if (me.rank == 1) {
    expect_joined(PMIX_SUCCESS, "0 1");
    demand(strcmp(last_group, "b") == 0, "it is a member of b");
    demand(PMIx_Group_leave("a", NULL, 0) != PMIX_SUCCESS,
           "it is no member of a");
  }
  if (me.rank < 2)
    succeed(fence_of("b"), "fence over b");
  meet();
  end();
}

/* Two leaders invite to groups of the same name. */
static void same_name(void) {
  reply_to = accept_all;
  listen_all();
  if (me.rank == 0)
    succeed(invite("same", 2, RANKS(0, 2), NULL, 0), "the first");
  else if (me.rank == 1)
    succeed(invite("same", 2, RANKS(1, 3), NULL, 0), "the second");
  else
    expect_joined(PMIX_SUCCESS, me.rank == 2 ? "0 2" : "1 3");
  succeed(fence_of("same"), "fence over the group");
  meet();
  end();
}

/* -- silence ----------------------------------------------------------------
 */

static void silent(void) {
  reply_to = later;
  listen_all();
  pmix_info_t directives[2] = {int_info(PMIX_TIMEOUT, 1),
                               flag_info(PMIX_GROUP_OPTIONAL)};
  if (me.rank == 0) {
    const double start = now();
    expect(invite("quiet", 2, RANKS(0, 1), directives, 1), PMIX_ERR_TIMEOUT,
           "invite of one who is silent");
    demand(now() - start >= 0.9 && now() - start < 5, "in time");
    demand(sees(PMIX_GROUP_INVITE_FAILED, 1, 5), "the silence is told");
    succeed(invite("rest", 2, RANKS(0, 1), directives, 2), "optional");
    expect_members("0");
  } else if (me.rank == 1) {
    demand(sees(PMIX_GROUP_CONSTRUCT_ABORT, 1, 20), "the end is told");
    const pmix_proc_t leader = rank_of(0);
    expect(
      PMIx_Group_join("quiet", &leader, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
      PMIX_GROUP_CONSTRUCT_ABORT, "join after the end");
  } else if (me.rank == 2) {
    pmix_proc_t procs[2];
    make_procs(procs, 2, RANKS(1, 3));
    succeed(PMIx_Group_invite_nb("never", procs, 2, NULL, 0, NULL, NULL),
            "invite without a callback");
  } else {
    demand(sees(PMIX_GROUP_INVITED, 1, 20), "the invitation comes");
    demand(fence_of("never") != PMIX_SUCCESS, "no use before it is complete");
    const double start = now();
    expect(PMIx_Group_join("never", &inviter, PMIX_GROUP_ACCEPT, directives, 1,
                           NULL, NULL),
           PMIX_ERR_TIMEOUT, "join of what never completes");
    demand(now() - start >= 0.9 && now() - start < 5, "in time");
    demand(fence_of("never") != PMIX_SUCCESS, "nor while it is not");
  }
  meet();
  end();
}

/* -- bad calls --------------------------------------------------------------
 */

static void refused(void) {
  listen_all();
  const pmix_proc_t other = rank_of(1);
  char longest[257];
  memset(longest, 'x', 256);
  longest[256] = '\0';
  const char* names[] = {NULL, "", longest, me.nspace};
  for (size_t i = 0; i < 4; ++i) {
    expect(PMIx_Group_invite(names[i], &other, 1, NULL, 0, NULL, NULL),
           PMIX_ERR_BAD_PARAM, "invite to a bad name");
    expect(
      PMIx_Group_join(names[i], &other, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
      PMIX_ERR_BAD_PARAM, "join by a bad name");
    expect(PMIx_Group_construct(names[i], &me, 1, NULL, 0, NULL, NULL),
           PMIX_ERR_BAD_PARAM, "construct with a bad name");
  }
  expect(PMIx_Group_invite("g", NULL, 0, NULL, 0, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "invite of nobody");
  expect(PMIx_Group_invite("g", NULL, 1, NULL, 0, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "invite of null");
  expect(PMIx_Group_join("g", &other, (pmix_group_opt_t)7, NULL, 0, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "join neither way");
  pmix_info_t bad;
  const uint32_t number = 42;
  PMIX_INFO_LOAD(&bad, "pmix.grp.info", &number, PMIX_UINT32);
  expect(PMIx_Group_construct("g", &me, 1, &bad, 1, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "infos that are a number");
  memset(&bad, 0, sizeof bad);
  PMIX_LOAD_KEY(bad.key, "pmix.grp.info");
  bad.value.type = PMIX_DATA_ARRAY;
  expect(PMIx_Group_construct("g", &me, 1, &bad, 1, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "infos that are null");
  PMIX_INFO_LOAD(&bad, PMIX_TIMEOUT, "soon", PMIX_STRING);
  expect(PMIx_Group_invite("g", &other, 1, &bad, 1, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "a time that is a text");
  expect(PMIx_Group_construct("g", NULL, 1, NULL, 0, NULL, NULL),
         PMIX_ERR_BAD_PARAM, "construct of null");
  const pmix_status_t not_a_member = -66; /* PMIX_ERR_NOT_A_MEMBER */
  const pmix_proc_t stranger = rank_of((me.rank + 1) % job_size);
  expect(PMIx_Group_construct("g", &stranger, 1, NULL, 0, NULL, NULL),
         not_a_member, "construct without ourselves");
  meet();
  end();
}

/* The end of a case in which somebody dies: the script counts those who come
 * that far. */
static void outlive(void) {
  end();
  puts("outlived");
}

/* -- deaths -----------------------------------------------------------------
 */

static enum reply die_if_one(const char* group UNUSED) {
  if (me.rank == 1)
    raise(SIGKILL);
  return accept_it;
}

/* An invitee dies before it answers: its inviter hears of it and goes on. */
static void dead_invitee(void) {
  reply_to = die_if_one;
  listen_all();
  if (me.rank == 0) {
    expect(invite("dead", 3, RANKS(0, 1, 2), NULL, 0),
           PMIX_GROUP_CONSTRUCT_ABORT, "invite when one dies");
    demand(sees(PMIX_GROUP_INVITE_FAILED, 1, 5), "the failure is told");
    pmix_info_t optional = flag_info(PMIX_GROUP_OPTIONAL);
    answer(PMIX_GROUP_INVITE_FAILED, PMIX_EVENT_ACTION_COMPLETE, &optional);
    succeed(invite("alive", 2, RANKS(0, 2), NULL, 0), "invite of the others");
  } else if (me.rank == 2) {
    demand(happens(&joined, 2, 20), "both joins are answered");
    expect_members("0 2");
  }
  if (me.rank == 1)
    sees(PMIX_GROUP_LEFT, 1, 20); /* It dies meanwhile. */
  if (me.rank == 0 || me.rank == 2)
    succeed(fence_of("alive"), "fence over the group");
  outlive();
}

/* The inviter dies; rank 1 says that it leads. */
static enum reply accept_but_three(const char* group UNUSED) {
  return me.rank == 3 ? say_nothing : accept_it;
}

static void dead_inviter(void) {
  reply_to = accept_but_three;
  listen_all();
  if (me.rank == 0) {
    pmix_proc_t procs[4];
    make_procs(procs, 4, RANKS(0, 1, 2, 3));
    succeed(PMIx_Group_invite_nb("orphan", procs, 4, NULL, 0, NULL, NULL),
            "invite");
    demand(sees(PMIX_GROUP_INVITE_ACCEPTED, 2, 20), "two accept");
    raise(SIGKILL);
  }
  if (me.rank == 1) {
    const pmix_info_t lead = flag_info(PMIX_GROUP_LEADER);
    answer(PMIX_GROUP_LEADER_FAILED, PMIX_EVENT_ACTION_COMPLETE, &lead);
  }
  demand(sees(PMIX_GROUP_LEADER_FAILED, 1, 20), "the failure is told");
  demand(sees(PMIX_GROUP_LEADER_SELECTED, 1, 20), "the new leader is told");
  if (me.rank == 3)
    succeed(PMIx_Group_join("orphan", &inviter, PMIX_GROUP_ACCEPT, NULL, 0,
                            NULL, NULL),
            "join under the new leader");
  else
    expect_joined(PMIX_SUCCESS, "1 2 3");
  succeed(fence_of("orphan"), "fence over the group");
  outlive();
}

/* The inviter dies and nobody leads, or somebody aborts. */
static void leaderless(void) {
  reply_to = accept_but_three;
  const bool aborts = case_args[0] != NULL;
  listen_all();
  if (me.rank == 0) {
    pmix_proc_t procs[4];
    make_procs(procs, 4, RANKS(0, 1, 2, 3));
    succeed(PMIx_Group_invite_nb("lost", procs, 4, NULL, 0, NULL, NULL),
            "invite");
    demand(sees(PMIX_GROUP_INVITE_ACCEPTED, 2, 20), "two accept");
    raise(SIGKILL);
  }
  if (aborts && me.rank == 2)
    answer(PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_CONSTRUCT_ABORT, NULL);
  if (me.rank < 3)
    expect_joined(
      aborts ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_GROUP_LEADER_FAILED, NULL);
  else
    demand(
      sees(aborts ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_GROUP_LEADER_SELECTED, 1,
           20),
      "the end is told");
  outlive();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"all", all_join},
    {"nb", without_waiting},
    {"declined", declined},
    {"exchanged", exchanged},
    {"replaced", replaced},
    {"decided", decided},
    {"overlapping", overlapping},
    {"same_name", same_name},
    {"silent", silent},
    {"refused", refused},
    {"dead_invitee", dead_invitee},
    {"dead_inviter", dead_inviter},
    {"leaderless", leaderless},
  };
  return RUN_CASE(cases);
}
