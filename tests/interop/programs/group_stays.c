/* Groups that stay for others to see: 4 processes.
 *
 *   app.shown    3 1 0, with a context identifier, led by 1, until the file
 *                `leave` is there: then 1 leaves; until `end` is there
 *   app.late     0 and 2, of which 2 calls when `call` is there
 *
 * Ends when `go` is there. */

#include "group_client.h"

#include <unistd.h>

static void await_file(const char* name) {
  for (int i = 0; i < 30000 && access(name, F_OK) != 0; ++i)
    pause_ms(10);
  demand(access(name, F_OK) == 0, name);
}

static void stays(void) {
  begin();
  demand(job_size == 4, "4 processes");
  pmix_proc_t procs[3];
  if (me.rank != 2) {
    pmix_info_t infos[2];
    infos[0] = flag_info(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    infos[1] = flag_info(PMIX_GROUP_LEADER);
    const struct built x =
      construct("app.shown", procs, ranks(procs, 3, 3, 1, 0), infos,
                me.rank == 1 ? 2 : 1);
    succeed(x.outcome, "app.shown");
  }
  meet();
  if (me.rank == 0 || me.rank == 2) {
    if (me.rank == 2)
      await_file("call");
    built_of("app.late", procs, ranks(procs, 2, 0, 2));
    destruct("app.late");
  }
  if (me.rank == 1) {
    await_file("leave");
    succeed(PMIx_Group_leave("app.shown", NULL, 0), "leave");
  }
  await_file("end");
  if (me.rank == 0 || me.rank == 3)
    destruct("app.shown");
  await_file("go");
  end();
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {{"stays", stays}};
  return RUN_CASE(cases);
}
