/* Publish, lookup and unpublish: ranges, persistence, waiting. */

#include "client.h"

static pmix_status_t publish(const char* key, const char* text,
                             pmix_data_range_t range,
                             pmix_persistence_t persistence) {
  pmix_info_t infos[3];
  PMIX_INFO_LOAD(&infos[0], key, text, PMIX_STRING);
  infos[1] = range_info(range);
  PMIX_INFO_LOAD(&infos[2], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
  return PMIx_Publish(infos, 3);
}

static pmix_status_t lookup(const char* key, const char* wanted,
                            const pmix_info_t* infos, size_t n) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, key);
  const pmix_status_t outcome = PMIx_Lookup(&data, 1, infos, n);
  if (outcome == PMIX_SUCCESS
      && (data.value.type != PMIX_STRING
          || strcmp(data.value.data.string, wanted) != 0))
    fail("%s is not \"%s\"", key, wanted);
  PMIX_PDATA_DESTRUCT(&data);
  return outcome;
}

static void there(const char* key, const char* wanted) {
  succeed(lookup(key, wanted, NULL, 0), key);
}

static void absent(const char* key) {
  expect(lookup(key, "", NULL, 0), PMIX_ERR_NOT_FOUND, key);
}

/* -- ranges ---------------------------------------------------------------- */

static void ranges(void) {
  begin();
  if (me.rank == 0) {
    succeed(publish("p.self", "1", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP),
            "self");
    succeed(publish("p.node", "2", PMIX_RANGE_LOCAL, PMIX_PERSIST_APP), "node");
    succeed(publish("p.job", "3", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP),
            "job");
    succeed(publish("p.session", "4", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
            "session");
    succeed(publish("p.all", "5", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), "all");
    there("p.self", "1");
  }
  meet();
  if (me.rank != 0) {
    absent("p.self");
    there("p.node", "2");
    there("p.job", "3");
    there("p.session", "4");
    there("p.all", "5");
  }
  meet();
  if (me.rank == 0) {
    char child[PMIX_MAX_NSLEN + 1];
    spawn_case("other_job", 1, child);
    await_end(child, 20);
  }
  meet();
  end();
}

/* Another job of the same user. */
static void other_job(void) {
  begin();
  absent("p.self");
  absent("p.job");
  there("p.session", "4");
  there("p.all", "5");
  pmix_info_t mine = range_info(PMIX_RANGE_NAMESPACE);
  expect(lookup("p.session", "4", &mine, 1), PMIX_ERR_NOT_FOUND,
         "a lookup among my job's");
  expect(publish("p.session", "6", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
         PMIX_ERR_DUPLICATE_KEY, "a key that is taken");
  end();
}

/* -- persistence ----------------------------------------------------------- */

static void persistence(void) {
  begin();
  char child[PMIX_MAX_NSLEN + 1];
  spawn_case("publisher", 2, child);
  pmix_info_t wait[2] = {flag_info(PMIX_WAIT), int_info(PMIX_TIMEOUT, 20)};
  succeed(lookup("keep.ready", "yes", wait, 2), "the child publishes");
  there("keep.app", "app");
  there("keep.session", "session");
  there("keep.read", "read");
  absent("keep.read");
  post("seen", "yes");
  await_end(child, 20);
  absent("keep.proc");
  absent("keep.app");
  there("keep.session", "session");
  there("keep.for.ever", "ever");
  end();
}

/* Its rank 1 ends early. */
static void publisher(void) {
  begin();
  const pmix_proc_t from = parent();
  if (me.rank == 1) {
    succeed(publish("keep.proc", "p", PMIX_RANGE_SESSION, PMIX_PERSIST_PROC),
            "of the process");
    meet();
    end();
    return;
  }
  succeed(publish("keep.app", "app", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
          "of the program");
  succeed(publish("keep.session", "session", PMIX_RANGE_SESSION,
                  PMIX_PERSIST_SESSION),
          "of the session");
  succeed(
    publish("keep.for.ever", "ever", PMIX_RANGE_SESSION, PMIX_PERSIST_INDEF),
    "for ever");
  succeed(
    publish("keep.read", "read", PMIX_RANGE_SESSION, PMIX_PERSIST_FIRST_READ),
    "until it is read");
  meet();
  succeed(publish("keep.ready", "yes", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
          "ready");
  expect_string(&from, "seen", "yes", 20);
  end();
}

/* -- waiting --------------------------------------------------------------- */

static void waits(void) {
  begin();
  if (me.rank == 0) {
    pause_ms(300); /* So that somebody waits already. */
    succeed(publish("w.1", "one", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), "1");
    succeed(publish("w.2", "two", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), "2");
  } else {
    pmix_info_t directives[2];
    directives[0] = int_info(PMIX_WAIT, 0);
    directives[1] = int_info(PMIX_TIMEOUT, 20);
    pmix_pdata_t data[2];
    PMIX_PDATA_CONSTRUCT(&data[0]);
    PMIX_PDATA_CONSTRUCT(&data[1]);
    PMIX_LOAD_KEY(data[0].key, "w.1");
    PMIX_LOAD_KEY(data[1].key, "w.2");
    const double start = now();
    succeed(PMIx_Lookup(data, 2, directives, 2), "lookup");
    demand(now() - start < 10, "it ends when both keys are there");
    demand(data[0].value.type == PMIX_STRING
             && data[1].value.type == PMIX_STRING,
           "both came");
    demand(data[1].proc.rank == 0, "the publisher is named");
  }
  meet();
  end();
}

static void times_out(void) {
  begin();
  pmix_info_t directives[2] = {flag_info(PMIX_WAIT), int_info(PMIX_TIMEOUT, 1)};
  const double start = now();
  expect(lookup("never", "", directives, 2), PMIX_ERR_TIMEOUT, "lookup");
  const double took = now() - start;
  demand(took > 0.8 && took < 4, "it takes the time asked for");
  const double again = now();
  absent("never");
  demand(now() - again < 1.5, "without PMIX_WAIT the answer comes at once");
  end();
}

/* -- unpublish ------------------------------------------------------------- */

static void unpublish(void) {
  begin();
  char* both[] = {(char*)"u.1", (char*)"u.2", NULL};
  char* second[] = {(char*)"u.2", NULL};
  if (me.rank == 0) {
    succeed(publish("u.1", "1", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), "1");
    succeed(publish("u.2", "2", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), "2");
    succeed(publish("u.3", "3", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), "3");
  }
  meet();
  if (me.rank == 1)
    demand(PMIx_Unpublish(both, NULL, 0) != PMIX_SUCCESS,
           "others' keys cannot be withdrawn");
  meet();
  there("u.1", "1");
  meet();
  if (me.rank == 0) {
    succeed(PMIx_Unpublish(second, NULL, 0), "unpublish");
    succeed(publish("u.2", "again", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
            "publish again");
    succeed(PMIx_Unpublish(both, NULL, 0), "unpublish both");
  }
  meet();
  absent("u.1");
  absent("u.2");
  there("u.3", "3");
  meet();
  if (me.rank == 0)
    succeed(PMIx_Unpublish(NULL, NULL, 0), "unpublish everything");
  meet();
  absent("u.3");
  meet();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"ranges", ranges},
    {"other_job", other_job},
    {"persistence", persistence},
    {"publisher", publisher},
    {"waits", waits},
    {"times_out", times_out},
    {"unpublish", unpublish},
  };
  return RUN_CASE(cases);
}
