/* What the programs about groups share, besides client.h. */

#ifndef TROUPE_INTEROP_GROUP_CLIENT_H
#define TROUPE_INTEROP_GROUP_CLIENT_H

#include "client.h"

#include <stdarg.h>
#include <stdatomic.h>

/* Of later headers. */
#ifndef PMIX_ERR_NOT_A_MEMBER
#  define PMIX_ERR_NOT_A_MEMBER -66
#endif
#ifndef PMIX_GROUP_FINAL_MEMBERSHIP_ORDER
#  define PMIX_GROUP_FINAL_MEMBERSHIP_ORDER "pmix.grp.finord"
#endif

enum { most_members = 64 };

/* -- what a call gives ------------------------------------------------------
 */

struct built {
  pmix_status_t outcome;

  /* In the order of the result; none if the library does not tell. */
  pmix_proc_t members[most_members];
  size_t num_members;
  bool has_context;
  size_t context;
  double took;
};

static inline void take_results(struct built* x, const pmix_info_t* infos,
                                size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_CONTEXT_ID)) {
      pmix_status_t outcome;
      PMIX_VALUE_GET_NUMBER(outcome, &infos[i].value, x->context, size_t);
      succeed(outcome, "a context identifier is a number");
      x->has_context = true;
    } else if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_MEMBERSHIP)) {
      const pmix_data_array_t* array = infos[i].value.data.darray;
      demand(infos[i].value.type == PMIX_DATA_ARRAY && array->type == PMIX_PROC
               && array->size <= most_members,
             "a membership is an array of processes");
      x->num_members = array->size;
      memcpy(x->members, array->array, array->size * sizeof(pmix_proc_t));
    }
  }
}

static inline struct built construct(const char* id, const pmix_proc_t* procs,
                                     size_t n, const pmix_info_t* infos,
                                     size_t num_infos) {
  struct built result;
  memset(&result, 0, sizeof result);
  pmix_info_t* results = NULL;
  size_t num_results = 0;
  const double begin = now();
  result.outcome = PMIx_Group_construct(id, procs, n, infos, num_infos,
                                        &results, &num_results);
  result.took = now() - begin;
  if (results != NULL) {
    take_results(&result, results, num_results);
    PMIX_INFO_FREE(results, num_results);
  }
  return result;
}

static inline struct built built_of(const char* id, const pmix_proc_t* procs,
                                    size_t n) {
  const struct built result = construct(id, procs, n, NULL, 0);
  succeed(result.outcome, id);
  return result;
}

static inline pmix_status_t timed_destruct(const char* id, double* took) {
  const double begin = now();
  const pmix_status_t result = PMIx_Group_destruct(id, NULL, 0);
  *took = now() - begin;
  return result;
}

static inline void destruct(const char* id) {
  succeed(PMIx_Group_destruct(id, NULL, 0), id);
}

/* These ranks of the own job. */
static inline size_t ranks(pmix_proc_t* procs, size_t n, ...) {
  va_list list;
  va_start(list, n);
  for (size_t i = 0; i < n; ++i)
    procs[i] = rank_of(va_arg(list, pmix_rank_t));
  va_end(list);
  return n;
}

/* A call that calls back. */
struct later {
  struct pending done;
  struct built what;
};

static inline void on_constructed(pmix_status_t outcome, pmix_info_t* infos,
                                  size_t n, void* data,
                                  pmix_release_cbfunc_t release, void* token) {
  struct later* x = data;
  x->what.outcome = outcome;
  take_results(&x->what, infos, n);
  if (release != NULL)
    release(token);
  happen(&x->done, outcome);
}

static inline struct later* construct_later(const char* id,
                                            const pmix_proc_t* procs, size_t n,
                                            const pmix_info_t* infos,
                                            size_t num_infos) {
  struct later* x = calloc(1, sizeof *x);
  const struct pending fresh = PENDING;
  x->done = fresh;
  succeed(
    PMIx_Group_construct_nb(id, procs, n, infos, num_infos, on_constructed, x),
    id);
  return x;
}

static inline struct built await_built(struct later* x, const char* what) {
  demand(happens(&x->done, 1, 10), what);
  pause_ms(20); /* It would be called again now. */
  demand(x->done.happened == 1, what);
  return x->what;
}

/* -- agreement --------------------------------------------------------------
 */

/* All processes of the job say the same. */
static inline void agree(const char* key, const char* text) {
  post(key, text);
  meet();
  for (uint32_t i = 0; i < job_size; ++i) {
    const pmix_proc_t other = rank_of(i);
    expect_string(&other, key, text, 5);
  }
  meet();
}

static inline const char* spelt(const struct built* x) {
  static char text[4096];
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < x->num_members && used < sizeof text - 300; ++i)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%u",
                             i == 0 ? "" : " ", x->members[i].rank);
  return text;
}

/* Members of the own job, in this order. Libraries before 5 do not say who is
 * in a group. */
static inline void expect_members(const struct built* x, const char* wanted) {
  if (x->num_members > 0 && strcmp(spelt(x), wanted) != 0)
    fail("the members are %s, expected %s", spelt(x), wanted);
}

/* -- events of groups -------------------------------------------------------
 */

enum { most_group_events = 512 };

struct group_event {
  pmix_status_t code;
  char group[PMIX_MAX_NSLEN + 1];
  pmix_proc_t source;
  pmix_proc_t affected;
  bool has_affected;
};

static struct group_event group_events[most_group_events];
static atomic_int num_group_events;

static inline void on_group_event(size_t id UNUSED, pmix_status_t code,
                                  const pmix_proc_t* source, pmix_info_t* infos,
                                  size_t n, pmix_info_t* results UNUSED,
                                  size_t num_results UNUSED,
                                  pmix_event_notification_cbfunc_fn_t done,
                                  void* data) {
  struct group_event x;
  memset(&x, 0, sizeof x);
  x.code = code;
  x.source = *source;
  for (size_t i = 0; i < n; ++i) {
    if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_ID)) {
      PMIX_LOAD_NSPACE(x.group, infos[i].value.data.string);
    } else if (PMIX_CHECK_KEY(&infos[i], PMIX_EVENT_AFFECTED_PROC)) {
      x.affected = *infos[i].value.data.proc;
      x.has_affected = true;
    }
  }
  const int at = atomic_load(&num_group_events);
  demand(at < most_group_events, "a number of events");
  group_events[at] = x;
  atomic_store(&num_group_events, at + 1);
  if (done != NULL)
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* How often an event of a group has come about a process of the own job. */
static inline int heard_of(pmix_status_t code, const char* group,
                           pmix_rank_t affected) {
  int result = 0;
  const int n = atomic_load(&num_group_events);
  for (int i = 0; i < n; ++i)
    result += group_events[i].code == code
              && strcmp(group_events[i].group, group) == 0
              && group_events[i].has_affected
              && group_events[i].affected.rank == affected
              && strcmp(group_events[i].affected.nspace, me.nspace) == 0;
  return result;
}

static inline void await_heard(pmix_status_t code, const char* group,
                               pmix_rank_t affected, const char* what) {
  const double deadline = now() + 5;
  while (heard_of(code, group, affected) == 0) {
    if (now() > deadline) {
      const int n = atomic_load(&num_group_events);
      for (int i = 0; i < n; ++i)
        fprintf(stderr, "heard: %s of %s about %u\n",
                PMIx_Error_string(group_events[i].code), group_events[i].group,
                group_events[i].affected.rank);
      fail("%s: no %s of %s about %u", what, PMIx_Error_string(code), group,
           affected);
    }
    pause_ms(2);
  }
}

#endif
