// What a death, a status, a lost node or an abort does to a job and to those
// that are connected to it: the failure policy, as a table.

#include "actors/jobs/dvm_jobs.hpp"

#include "messages/attributes.hpp"
#include "messages/mesh_payload.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <csignal>
#include <deque>

using namespace troupe;

namespace {

using texts = std::vector<std::string>;

const auto one = std::string{"dvm@1"};
const auto two = std::string{"dvm@2"};

info with(std::string_view key, value val) {
  return {std::string{key}, 0, std::move(val)};
}

/// A DVM of three nodes, on each of which a job has one process.
struct world {
  texts log;
  std::deque<std::function<void()>> later;
  dvm_jobs::time clock{0};
  job_locations places;
  std::set<uint32_t> live{0, 1, 2};

  /// Questions to nodes who runs there; answered by `answer_questions`.
  std::vector<dvm_jobs::completion<host_reply>> questions;

  /// Whether nodes answer when they have started their share.
  bool starts = true;
  std::vector<dvm_jobs::completion<host_reply>> starting;

  /// Whether nodes answer that they have heard of ends; who has not, and events.
  bool hears = true;
  std::vector<std::pair<uint32_t, dvm_jobs::completion<host_reply>>> hearing;
  std::vector<event> raised;
  std::vector<caf::expected<spawn_result>> replies;

  /// What nodes were told of where jobs run.
  std::vector<job_map> maps;

  /// Who asks for jobs.
  uint32_t uid = 7;

  /// Events for certain processes, and these.
  std::vector<event> told;
  texts told_to;
  std::map<std::string, job_ended> over;
  dvm_jobs uut{config(), nodes(), places, means()};

  static dvm_jobs::settings config() {
    auto result = dvm_jobs::settings{};
    result.nspace = "dvm";
    result.has_hook = [](site_hook) { return false; };
    return result;
  }

  static dvm_nodes nodes() {
    auto result = dvm_nodes::table{};
    for (uint32_t rank = 0; rank < 3; ++rank) {
      auto& x = result[rank];
      x.name = "n" + std::to_string(rank);
      x.slots = 8;
      x.state = node_state::live;
      x.incarnation = 1;
    }
    return dvm_nodes{std::move(result)};
  }

  void answer(uint32_t node, host_question& what,
              const dvm_jobs::completion<host_reply>& then) {
    const auto at = " on n" + std::to_string(node);
    if (const auto* x = std::get_if<prepare_share>(&what)) {
      maps.push_back(unpack_map(x->packed_map).value_or(job_map{}));
      CAF_CHECK(x->map.shares.empty());
      then(host_reply{job_map{x->map.nspace, x->map.number, {}}});
    } else if (std::holds_alternative<start_share>(what)) {
      if (starts)
        then(host_reply{spawn_result{}});
      else
        starting.push_back(then);
    } else if (const auto* y = std::get_if<end_share>(&what)) {
      log.push_back("signal " + std::to_string(y->how.signal) + " to "
                    + y->how.nspace + at);
      then(host_reply{ack{}});
    } else if (const auto* z = std::get_if<signal_process>(&what)) {
      log.push_back("signal " + std::to_string(z->signal) + " to "
                    + to_string(z->proc) + at);
      then(host_reply{ack{}});
    } else if (std::holds_alternative<control_procs>(what)) {
      questions.push_back(then);
    } else if (std::holds_alternative<procs_gone>(what) && !hears) {
      hearing.emplace_back(node, then);
    } else {
      then(host_reply{ack{}});
    }
  }

  dvm_jobs::effects means() {
    auto out = dvm_jobs::effects{};
    out.can_serve = [] { return true; };
    out.ask = [this](uint32_t node, host_question what,
                     dvm_jobs::completion<host_reply> then) {
      answer(node, what, then);
    };
    out.live = [this] {
      return std::vector<uint32_t>{live.begin(), live.end()};
    };
    out.is_live = [this](uint32_t node) { return live.count(node) > 0; };
    out.now = [this] { return clock; };
    out.call_later = [this](dvm_jobs::time, std::function<void()> then) {
      later.push_back(std::move(then));
    };
    out.raise = [this](const event& x, const std::vector<std::string>&) {
      raised.push_back(x);
    };
    out.raise_for = [](const event&, const std::vector<proc_id>&) {};
    out.raise_for_askers = [](const event&) {};
    out.notify = [this](const event& what, const std::vector<proc_id>& targets,
                        const dvm_jobs::completion<ack>& then) {
      told.push_back(what);
      for (const auto& x : targets)
        told_to.push_back(to_string(x));
      then(ack{});
    };
    out.watchers = [](const job_record&, const spawn_request&) {
      return std::vector<io_watcher>{};
    };
    out.proc_gone = [](const proc_id&) {};
    out.job_over = [](const std::string&) {};
    return out;
  }

  /// @param is_spread Whether each node gets a process.
  void begin(std::vector<info> infos = {}, bool is_spread = true) {
    auto order = job_order{};
    order.who.creds.uid = uid;
    order.who.proc = {"debugger", 0};
    order.who.role = peer_role::tool_with_identity;
    order.request.job_infos = std::move(infos);
    if (is_spread)
      order.request.job_infos.push_back(
        with(attr::mapby, value::string("node")));
    auto& x = order.request.apps.emplace_back();
    x.cmd = "./app";
    x.max_procs = 3;
    order.observer = [this](const job_news& news) {
      if (const auto* x = std::get_if<job_ended>(&news))
        over[x->nspace] = *x;
    };
    order.reply = [this](caf::expected<spawn_result> x) {
      replies.push_back(std::move(x));
    };
    uut.begin(std::move(order));
  }

  /// Process `rank` of a job runs on node `rank`.
  void change(const std::string& nspace, uint32_t rank, proc_state state,
              int32_t exit_code = 0, int32_t signal = 0) {
    uut.note_progress(
      rank, {nspace, {{{nspace, rank}, state, 100 + rank, exit_code, signal}}});
  }

  void run(const std::string& nspace = one) {
    for (uint32_t rank = 0; rank < 3; ++rank)
      change(nspace, rank, proc_state::running);
  }

  void exit(uint32_t rank, int32_t code, const std::string& nspace = one) {
    change(nspace, rank,
           code == 0 ? proc_state::terminated : proc_state::term_non_zero,
           code);
  }

  void kill(uint32_t rank, const std::string& nspace = one) {
    change(nspace, rank, proc_state::aborted_by_sig, 0, SIGKILL);
  }

  void lose(uint32_t node) {
    live.erase(node);
    uut.change_member({0, node, "", 1, node_state::lost});
  }

  /// The nodes say who runs there.
  void answer_questions() {
    for (const auto& then : std::exchange(questions, {}))
      then(host_reply{procs_controlled{}});
  }

  /// A node says that it has heard of ends.
  void hear(uint32_t node) {
    for (auto i = hearing.begin(); i != hearing.end(); ++i)
      if (i->first == node) {
        const auto then = i->second;
        hearing.erase(i);
        then(host_reply{ack{}});
        return;
      }
    CAF_FAIL("node " << node << " has not been told");
  }

  /// What has been said of a rank, in order.
  std::vector<status> said_of(uint32_t rank) const {
    auto result = std::vector<status>{};
    for (const auto& x : raised)
      if (const auto* whom = find(x.infos, attr::event_affected_proc))
        if (whom->proc() != nullptr && whom->proc()->rank == rank)
          result.push_back(x.code);
    return result;
  }

  void wait() {
    for (const auto& then : std::exchange(later, {}))
      then();
  }

  void connect() {
    CAF_REQUIRE(uut.note_connection(
      0, {{{one, rank_wildcard}, {two, rank_wildcard}}, true}));
  }

  caf::expected<ack> abort(uint32_t uid, std::vector<proc_id> procs = {}) {
    auto who = requester{};
    who.proc = {one, 1};
    who.creds.uid = uid;
    return uut.abort(who, {5, "no", std::move(procs)});
  }

  /// A process waits for a debugger.
  void stop(uint32_t rank, const std::string& where = "pmix-init") {
    uut.hear({status::ready_for_debug,
              {one, rank},
              data_range::rm,
              {with(attr::breakpoint, value::string(where))}});
  }

  /// What a debugger hears, by the places that it hears of.
  texts stops() const {
    auto result = texts{};
    for (const auto& x : told)
      if (x.code == status::ready_for_debug && find(x.infos, attr::breakpoint))
        result.push_back(*text(x.infos, attr::nspace) + " "
                         + *text(x.infos, attr::breakpoint));
    return result;
  }

  /// All shares of a job end.
  void finish(const std::string& nspace = one) {
    for (uint32_t node = 0; node < 3; ++node)
      uut.note_share_ended(node, nspace);
  }

  /// Jobs whose processes are told to end.
  texts ended() {
    auto result = texts{};
    for (const auto& x : log)
      if (x.compare(0, 10, "signal 15 ") == 0)
        result.push_back(x.substr(10));
    return result;
  }
};

uint64_t gauge_of(const dvm_jobs& jobs, const std::string& name) {
  for (const auto& x : jobs.gauges())
    if (x.name == name)
      return x.value;
  CAF_FAIL("no gauge " << name);
  return 0;
}

/// Three processes run on three nodes; something happens, then all shares end.
struct failure_case {
  const char* title;
  std::vector<info> infos;
  std::function<void(world&)> happens;

  /// Nodes that are told to end their share.
  texts ended;
  int32_t exit_status;
  const char* reason;
};

const auto everywhere =
  texts{"to dvm@1 on n0", "to dvm@1 on n1", "to dvm@1 on n2"};

std::vector<failure_case> failures() {
  const auto recoverable =
    std::vector{with(attr::job_recoverable, value::boolean(true))};
  auto any_status =
    std::vector{with(attr::abort_non_zero_term, value::boolean(false))};
  return {
    {"all end well",
     {},
     [](world& x) {
       for (uint32_t rank = 0; rank < 3; ++rank)
         x.exit(rank, 0);
     },
     {},
     0,
     ""},
    {"a death ends the job at once",
     {},
     [](world& x) { x.kill(1); },
     everywhere,
     137,
     "rank 1 (./app, pid 101 on n1) was killed by signal 9"},
    {"a status waits for the other nodes",
     {},
     [](world& x) { x.exit(1, 3); },
     {},
     3,
     "rank 1 (./app, pid 101 on n1) exited with status 3"},
    {"a status ends the job when the others run",
     {},
     [](world& x) {
       x.exit(1, 3);
       x.answer_questions();
     },
     everywhere,
     3,
     "rank 1 (./app, pid 101 on n1) exited with status 3"},
    {"a status ends the job when nobody answers for long",
     {},
     [](world& x) {
       x.exit(1, 3);
       x.wait();
     },
     everywhere,
     3,
     "rank 1 (./app, pid 101 on n1) exited with status 3"},
    {"who was killed is the cause and not the status before",
     {},
     [](world& x) {
       x.exit(1, 3);
       x.kill(2);
       x.answer_questions();
     },
     everywhere,
     137,
     "rank 2 (./app, pid 102 on n2) was killed by signal 9"},
    {"a status that counts as no failure is reported all the same",
     any_status,
     [](world& x) {
       x.exit(1, 3);
       x.answer_questions();
     },
     {},
     3,
     "rank 1 (./app, pid 101 on n1) exited with status 3"},
    {"a recoverable job goes on after a death",
     recoverable,
     [](world& x) { x.kill(1); },
     {},
     137,
     "rank 1 (./app, pid 101 on n1) was killed by signal 9"},
    {"what control has killed does not end the job",
     {},
     [](world& x) { x.change(one, 1, proc_state::killed_by_cmd, 0, SIGKILL); },
     {},
     137,
     "rank 1 (./app, pid 101 on n1) was killed by signal 9"},
    {"a lost node ends the job",
     {},
     [](world& x) { x.lose(2); },
     {"to dvm@1 on n0", "to dvm@1 on n1"},
     1,
     "node n2 was lost with 1 process"},
    {"a recoverable job goes on without a node",
     recoverable,
     [](world& x) { x.lose(2); },
     {},
     1,
     "node n2 was lost with 1 process"},
    {"a node whose processes have ended is not missed",
     {},
     [](world& x) {
       x.exit(2, 0);
       x.uut.note_share_ended(2, one);
       x.lose(2);
     },
     {},
     0,
     ""},
    {"an abort ends the job",
     {},
     [](world& x) { CAF_CHECK(x.abort(7)); },
     everywhere,
     5,
     "rank 1 (./app, pid 101 on n1) called PMIx_Abort"},
    {"an abort of another user is refused",
     {},
     [](world& x) { CAF_CHECK(!x.abort(8)); },
     {},
     0,
     ""},
    {"an abort of the administrator counts",
     {},
     [](world& x) { CAF_CHECK(x.abort(0)); },
     everywhere,
     5,
     "rank 1 (./app, pid 101 on n1) called PMIx_Abort"},
    {"attack X41: a node says that a process of another has died",
     {},
     [](world& x) {
       x.uut.note_progress(
         2, {one, {{{one, 1}, proc_state::aborted_by_sig, 1, 0, SIGKILL}}});
     },
     {},
     0,
     ""},
    {"the user ends it",
     {},
     [](world& x) {
       CAF_CHECK(x.uut.end({one, "interrupted", 130, SIGTERM, {}}));
     },
     everywhere,
     130,
     "interrupted"},
  };
}

} // namespace

CAF_TEST(what failures do to a job) {
  for (const auto& x : failures()) {
    CAF_MESSAGE(x.title);
    world w;
    w.begin(x.infos);
    w.run();
    CAF_REQUIRE_EQUAL(w.replies.size(), 1u);
    CAF_CHECK(w.replies.front());
    x.happens(w);
    CAF_CHECK_EQUAL(w.ended(), x.ended);
    CAF_CHECK(w.over.empty());
    w.finish();
    CAF_REQUIRE_EQUAL(w.over.count(one), 1u);
    const auto& outcome = w.over[one];
    CAF_CHECK_EQUAL(outcome.exit_status, x.exit_status);
    const auto wanted = std::string{x.reason};
    CAF_CHECK_EQUAL(outcome.reason.substr(0, wanted.size()), wanted);
    CAF_CHECK_EQUAL(outcome.reason.empty(), wanted.empty());
    CAF_CHECK(w.uut.all().empty());
  }
}

CAF_TEST(SPW-3 whoever asked for a job hears once that all of it has stopped) {
  world w;
  w.begin({with(attr::debug_stop_in_init, value::boolean(true)),
           with(attr::debug_stop_in_app, value::boolean(true))});
  w.run();
  w.stop(2);
  w.stop(0);
  w.stop(0);
  w.stop(9);
  CAF_CHECK(w.stops().empty());
  w.stop(1);
  CAF_CHECK_EQUAL(w.stops(), (texts{one + " pmix-init"}));
  CAF_CHECK_EQUAL(w.told_to, (texts{"debugger:0"}));
  CAF_CHECK(w.told.front().source.nspace.empty());
  CAF_CHECK(flag(w.told.front().infos, attr::event_non_default));
  // One goes on, and stops where its program has a place for it.
  w.stop(1, "main");
  w.stop(2, "main");
  CAF_CHECK_EQUAL(w.stops().size(), 1u);
  w.stop(0, "main");
  CAF_CHECK_EQUAL(w.stops(), (texts{one + " pmix-init", one + " main"}));
}

CAF_TEST(SPW-3 only the rank that is to stop counts) {
  world w;
  w.begin({with(attr::debug_stop_in_init, value::rank(1))});
  w.run();
  w.stop(0);
  w.stop(2);
  w.stop(1, "main");
  CAF_CHECK(w.stops().empty());
  w.stop(1);
  CAF_CHECK_EQUAL(w.stops(), (texts{one + " pmix-init"}));
}

CAF_TEST(SPW-3 nobody waits for those that have ended before they stop) {
  world w;
  w.begin({with(attr::debug_stop_in_init, value::boolean(true)),
           with(attr::job_recoverable, value::boolean(true))});
  w.run();
  w.exit(0, 0);
  w.stop(1);
  CAF_CHECK(w.stops().empty());
  w.kill(2);
  CAF_CHECK_EQUAL(w.stops(), (texts{one + " pmix-init"}));
}

CAF_TEST(SPW-3 nobody hears of a stop when the last process has ended) {
  world w;
  w.begin({with(attr::debug_stop_in_init, value::boolean(true)),
           with(attr::job_recoverable, value::boolean(true))});
  w.run();
  w.stop(0);
  w.exit(0, 0);
  w.exit(1, 0);
  w.exit(2, 0);
  CAF_CHECK(w.stops().empty());
}

CAF_TEST(SPW-3 a job that is not to stop tells nobody) {
  world w;
  w.begin();
  w.run();
  for (uint32_t rank = 0; rank < 3; ++rank)
    w.stop(rank);
  CAF_CHECK(w.stops().empty());
  CAF_CHECK(dvm_jobs::listens_to(status::ready_for_debug));
  CAF_CHECK(!dvm_jobs::listens_to(status::debugger_release));
}

CAF_TEST(SPW-4 daemons of a debugger are put beside their target by its user) {
  world w;
  w.begin();
  w.run();
  const auto daemons =
    std::vector<info>{with(attr::debugger_daemons, value::boolean(true)),
                      with(attr::debug_target, value::of_proc({one, 1})),
                      with(attr::debug_daemons_per_proc, value::uint16(2))};
  w.begin(daemons, false);
  CAF_REQUIRE_EQUAL(w.replies.size(), 2u);
  CAF_REQUIRE(w.replies.back());
  const auto* job = w.uut.find(two);
  CAF_REQUIRE(job != nullptr);
  CAF_REQUIRE_EQUAL(job->map.shares.size(), 1u);
  CAF_CHECK_EQUAL(job->map.shares.front().hostname, "n1");
  CAF_CHECK_EQUAL(job->map.shares.front().procs.size(), 2u);
  w.uid = 8;
  w.begin(daemons, false);
  CAF_REQUIRE_EQUAL(w.replies.size(), 3u);
  CAF_CHECK_EQUAL(status_of(w.replies.back().error()), status::no_permissions);
}

CAF_TEST(jobs that are connected end together) {
  struct row {
    const char* title;
    bool is_recoverable;
    std::function<void(world&)> happens;
    bool ends_other;
  };
  const auto rows = std::vector<row>{
    {"a death", false, [](world& x) { x.kill(0); }, true},
    {"a recoverable job survives", true, [](world& x) { x.kill(0); }, false},
    {"a good end", false, [](world& x) { x.exit(0, 0); }, false},
    {"an abort", false, [](world& x) { x.abort(7); }, true},
    {"a status", false,
     [](world& x) {
       x.exit(0, 3);
       x.answer_questions();
     },
     true},
    {"the user ends one", false,
     [](world& x) {
       x.uut.end({one, "enough", 1, SIGTERM, {}});
     },
     false},
    {"they have disconnected", false,
     [](world& x) {
       x.uut.note_connection(
         0, {{{two, rank_wildcard}, {one, rank_wildcard}}, false});
       x.kill(0);
     },
     false},
  };
  for (const auto& x : rows) {
    CAF_MESSAGE(x.title);
    world w;
    w.begin();
    w.begin({with(attr::job_recoverable, value::boolean(x.is_recoverable))});
    w.run(one);
    w.run(two);
    w.connect();
    x.happens(w);
    const auto ended = w.ended();
    const auto ends_other =
      std::count(ended.begin(), ended.end(), "to dvm@2 on n1") > 0;
    CAF_CHECK_EQUAL(ends_other, x.ends_other);
    if (!ends_other)
      continue;
    w.finish(two);
    CAF_CHECK_EQUAL(w.over[two].reason.substr(0, 51),
                    "job dvm@1, to which it was connected, failed: rank ");
  }
}

CAF_TEST(a node speaks of connections of its own processes only) {
  world w;
  w.begin();
  w.begin();
  const auto both = std::vector<proc_id>{{one, 1}, {two, 1}};
  CAF_CHECK(!w.uut.note_connection(0, {both, true}));
  CAF_CHECK(w.uut.note_connection(1, {both, true}));
}

CAF_TEST(a job that cannot start is answered and forgotten) {
  world w;
  w.starts = false;
  w.begin();
  CAF_REQUIRE_EQUAL(w.starting.size(), 3u);
  w.starting[0](host_reply{spawn_result{}});
  w.starting[1](make_error(status::job_exe_not_found, "no such program"));
  CAF_REQUIRE_EQUAL(w.replies.size(), 1u);
  CAF_CHECK_EQUAL(reason_of(w.replies.front().error()),
                  "node n1: no such program");
  CAF_CHECK_EQUAL(w.log,
                  (texts{"signal 9 to dvm@1 on n0", "signal 9 to dvm@1 on n1",
                         "signal 9 to dvm@1 on n2"}));
  w.finish();
  CAF_CHECK_EQUAL(w.over[one].exit_status, 127);
}

CAF_TEST(a node that is lost while a job starts ends the start) {
  world w;
  w.starts = false;
  w.begin({with(attr::job_recoverable, value::boolean(true))});
  w.lose(1);
  CAF_REQUIRE_EQUAL(w.replies.size(), 1u);
  CAF_CHECK_EQUAL(reason_of(w.replies.front().error()),
                  "node n1 was lost while the job started; troupe nodes lists "
                  "those left, start it again");
}

CAF_TEST(LOAD-2 what has become of jobs is counted) {
  world w;
  w.begin();
  w.begin();
  w.run(one);
  w.run(two);
  w.exit(0, 0, one);
  w.change(two, 2, proc_state::restart, 0, SIGKILL);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs"), 2u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.processes_alive"), 5u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs_ended"), 0u);
  w.exit(1, 0, one);
  w.exit(2, 0, one);
  w.finish(one);
  w.kill(0, two);
  w.finish(two);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs"), 0u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs_begun"), 2u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs_ended"), 2u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.jobs_failed"), 1u);
  CAF_CHECK_EQUAL(gauge_of(w.uut, "root.restarts"), 1u);
}

CAF_TEST(RST-2 a restart is told when all nodes have forgotten the life before) {
  using codes = std::vector<status>;
  world w;
  w.begin();
  w.run();
  w.hears = false;
  w.change(one, 2, proc_state::restart, 0, SIGKILL);
  CAF_REQUIRE_EQUAL(w.hearing.size(), 2u);
  CAF_CHECK(w.said_of(2).empty());
  w.hear(1);
  CAF_CHECK(w.said_of(2).empty());
  w.hear(0);
  CAF_CHECK(w.said_of(2) == codes{status::proc_restart});
  // One that is lost, or a job that is over, is not waited for.
  w.change(one, 2, proc_state::running);
  w.change(one, 2, proc_state::restart, 0, SIGKILL);
  CAF_CHECK_EQUAL(w.said_of(2).size(), 1u);
  w.finish();
  const auto said = w.said_of(2);
  CAF_CHECK_EQUAL(said.at(1), status::proc_restart);
}

CAF_TEST(RST-2 a restart is told before the end of the next life) {
  world w;
  w.begin();
  w.run();
  w.hears = false;
  w.change(one, 2, proc_state::restart, 0, SIGKILL);
  w.change(one, 2, proc_state::running);
  w.kill(2);
  const auto said = w.said_of(2);
  CAF_REQUIRE(said.size() >= 2);
  CAF_CHECK_EQUAL(said[0], status::proc_restart);
  CAF_CHECK_EQUAL(said[1], status::proc_aborted_by_sig);
  w.hear(0);
  w.hear(1);
  CAF_CHECK_EQUAL(std::count(said.begin(), said.end(), status::proc_restart),
                  1);
  CAF_CHECK_EQUAL(w.said_of(2).size(), said.size());
}

CAF_TEST(RST-2 of two restarts that come at once each waits for its own life) {
  world w;
  w.begin();
  w.run();
  w.hears = false;
  const auto becomes = [](proc_state x) {
    return proc_changed{{one, 2}, x, 102, 0, SIGKILL};
  };
  w.uut.note_progress(
    2, {one,
        {becomes(proc_state::restart), becomes(proc_state::running),
         becomes(proc_state::restart)}});
  CAF_CHECK(w.said_of(2).empty());
  for (size_t told = 1; told <= 2; ++told) {
    w.hear(0);
    w.hear(1);
    CAF_CHECK_EQUAL(w.said_of(2).size(), told);
  }
}

CAF_TEST(a limit of the start is forgotten once the job has started) {
  world w;
  w.begin({with(attr::timeout, value::integer(86400))});
  w.run();
  CAF_CHECK_EQUAL(w.later.size(), 1u);
  w.clock += std::chrono::seconds{10};
  w.wait();
  CAF_CHECK(w.later.empty());
  CAF_CHECK(w.log.empty());
}

CAF_TEST(a limit of the start holds while the job has not started) {
  world w;
  w.starts = false;
  w.begin({with(attr::timeout, value::integer(30))});
  for (auto i = 0; i < 3; ++i) {
    CAF_CHECK(w.replies.empty());
    w.clock += std::chrono::seconds{10};
    w.wait();
  }
  CAF_REQUIRE_EQUAL(w.replies.size(), 1u);
  CAF_CHECK_EQUAL(status_of(w.replies.front().error()), status::timeout);
}

CAF_TEST(a limit of a job is forgotten once the job is over) {
  world w;
  w.begin({with(attr::job_timeout, value::integer(86400))});
  w.run();
  w.clock += std::chrono::seconds{10};
  w.wait();
  CAF_CHECK_EQUAL(w.later.size(), 1u);
  for (uint32_t rank = 0; rank < 3; ++rank)
    w.exit(rank, 0);
  w.finish();
  w.wait();
  CAF_CHECK(w.later.empty());
}

CAF_TEST(jobs end before the DVM does and none begins then) {
  world w;
  w.begin();
  auto done = false;
  w.uut.end_all({"", "shut down", 1, SIGTERM, {}},
                [&](const caf::expected<ack>&) { done = true; });
  w.begin();
  CAF_REQUIRE_EQUAL(w.replies.size(), 2u);
  CAF_CHECK_EQUAL(reason_of(w.replies.back().error()),
                  "the DVM is ending; start another one");
  CAF_CHECK(!done);
  w.finish();
  CAF_CHECK(done);
}

CAF_TEST(an abort of some processes ends only these) {
  world w;
  w.begin();
  w.run();
  CAF_CHECK(w.abort(7, {{one, 0}, {one, 9}}));
  CAF_CHECK_EQUAL(w.log, (texts{"signal 9 to dvm@1:0 on n0"}));
}

CAF_TEST(nodes are told in bytes where all of a job runs) {
  world w;
  w.begin();
  CAF_REQUIRE_EQUAL(w.maps.size(), 3u);
  for (const auto& map : w.maps) {
    CAF_CHECK_EQUAL(map.nspace, one);
    CAF_CHECK(map.shares == w.uut.find(one)->map.shares);
  }
}
