/* Text that would command a terminal and look like lines of others, wherever a
 * process may leave some.
 *
 *   foreign_text abort      as the text of PMIx_Abort
 *   foreign_text event      as that of an event, until there is a file `go`
 *   foreign_text group      as the name of a group, until there is a file `go`
 *   foreign_text handler    as that of a handler of events that does not complete */

#include "client.h"

static const char text[] = "\x1b]0;owned\x07\nforged: all is well\r\x7f\xc2\x9b"
                           "31m";

static void abort_with_text(void) {
  begin();
  PMIx_Abort(3, text, NULL, 0);
  for (;;)
    pause();
}

static void stay(void) {
  while (access("go", F_OK) != 0)
    pause_ms(20);
}

static void notify(void) {
  begin();
  pmix_info_t infos[2] = {string_info(PMIX_EVENT_TEXT_MESSAGE, text),
                          string_info("forged.\x1b[2J", text)};
  succeed(PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 1, &me, PMIX_RANGE_SESSION,
                            infos, 2, NULL, NULL),
          "notify");
  stay();
  end();
}

static void construct(void) {
  begin();
  pmix_proc_t all = rank_of(PMIX_RANK_WILDCARD);
  pmix_info_t* results = NULL;
  size_t n = 0;
  const pmix_status_t outcome =
    PMIx_Group_construct(text, &all, 1, NULL, 0, &results, &n);
  printf("group: %d\n", outcome);
  fflush(stdout);
  if (outcome == PMIX_SUCCESS)
    stay();
  end();
}

static void never_completes(size_t id UNUSED, pmix_status_t code UNUSED,
                            const pmix_proc_t* source UNUSED,
                            pmix_info_t* info UNUSED, size_t n UNUSED,
                            pmix_info_t* results UNUSED, size_t nresults UNUSED,
                            pmix_event_notification_cbfunc_fn_t done UNUSED,
                            void* data UNUSED) {}

static void register_named(void) {
  begin();
  pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 1;
  pmix_info_t name = string_info(PMIX_EVENT_HDLR_NAME, text);
  struct pending done = PENDING;
  PMIx_Register_event_handler(&code, 1, &name, 1, never_completes,
                              on_registered, &done);
  demand(happens(&done, 1, 10), "the registration is answered");
  succeed(
    PMIx_Notify_event(code, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL),
    "notify");
  stay();
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
    {"abort", abort_with_text},
    {"event", notify},
    {"group", construct},
    {"handler", register_named},
  };
  return RUN_CASE(cases);
}
