// Checkpoints, preemption, restart and provision, as requests of job control.

#include "actors/control/checkpoint_desk.hpp"

#include "actors/control/checkpoint_records.hpp"
#include "actors/control/checkpoint_round.hpp"
#include "actors/control/control_directives.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

constexpr uint32_t owner_uid = our_uid;

/// A DVM of two nodes: ranks are dealt to them in turn. What is done to
/// processes is noted in words.
struct fixture {
  using time = control_means::time;

  struct job {
    controlled_job now;
    std::shared_ptr<const recorded_job> record;
    std::set<uint32_t> connected;
  };

  fixture() {
    auto means = control_means{};
    means.now = [this] { return clock; };
    means.call_later = [this](time delay, std::function<void()> then) {
      timers.emplace(clock + delay, std::move(then));
    };
    means.act = [this](uint32_t node, control_procs what,
                       control_means::completion<procs_controlled> then) {
      act(node, what, then);
    };
    means.end = [this](const end_job& how) {
      note("end " + how.nspace + " by " + std::to_string(how.signal));
      over(how.nspace);
    };
    means.raise = [this](const event& what, const std::vector<proc_id>& targets,
                         const control_means::completion<ack>& then) {
      auto text = "raise " + to_string(what.code) + " for "
                  + list_of_procs({targets.begin(), targets.end()});
      if (flag(what.infos, attr::event_non_default))
        text += " (not by default)";
      note(text);
      raised.push_back(what);
      then(ack{});
    };
    means.spawn = [this](const requester& who, spawn_request what,
                         const control_means::completion<spawn_result>& then) {
      spawned.push_back(std::move(what));
      note("spawn for " + std::to_string(who.creds.uid));
      auto result = spawn_result{};
      result.nspace = "job@9";
      then(std::move(result));
    };
    means.lookup.job =
      [this](const std::string& nspace) -> std::optional<controlled_job> {
      const auto i = jobs.find(nspace);
      if (i == jobs.end())
        return std::nullopt;
      return i->second.now;
    };
    means.lookup.has_ended = [](const std::string&) { return true; };
    means.record = [this](const std::string& nspace) {
      const auto i = jobs.find(nspace);
      return i != jobs.end() ? i->second.record : nullptr;
    };
    means.connected = [this](const std::string& nspace) {
      auto result = std::vector<proc_id>{};
      for (const auto rank : jobs[nspace].connected)
        result.push_back({nspace, rank});
      return result;
    };
    means.has_hook = [this](site_hook x) { return hooks.count(x) > 0; };
    means.run_hook =
      [this](uint32_t node, const run_site_hook& what,
             const control_means::completion<site_hook_result>& then) {
        auto text = "hook at n" + std::to_string(node);
        for (const auto& x : what.arguments)
          text += " " + x;
        note(text);
        then(site_hook_result{hook_status, "disk full\n"});
      };
    means.keep = [this](const std::string&, std::function<void()> then) {
      if (hangs)
        kept.push_back(std::move(then));
      else
        then();
    };
    means.log = [this](severity, const std::string& line) {
      lines.push_back(line);
    };
    means.is_administrator = [](const requester& who) {
      return who.creds.uid == owner_uid;
    };
    controller = std::make_unique<job_controller>(std::move(means));
    desk.join(*controller);
    controller->take_declarations(
      [this](const requester& who, const control_directives& what) {
        return desk.declare(who, what, jobs.count(who.proc.nspace) > 0);
      });
    add_job("job@1", 4);
  }

  void add_job(const std::string& nspace, uint32_t size,
               bool is_recoverable = false) {
    auto& x = jobs[nspace];
    auto record = std::make_shared<recorded_job>();
    record->owner = {our_uid, our_uid};
    record->is_recoverable = is_recoverable;
    record->request.apps.resize(1);
    record->request.apps[0].cmd = "prog";
    record->request.apps[0].max_procs = static_cast<int32_t>(size);
    x.now.owner = record->owner;
    for (uint32_t rank = 0; rank < size; ++rank) {
      x.now.procs.push_back({rank % 2, true});
      x.connected.insert(rank);
      record->hosts.push_back("n" + std::to_string(rank % 2));
      record->apps.push_back(0);
    }
    x.record = std::move(record);
  }

  void let_restart(const std::string& nspace) {
    auto& known = jobs.at(nspace).record;
    auto record = std::make_shared<recorded_job>(*known);
    record->restarts_in_place = true;
    known = std::move(record);
  }

  // -- what happens

  void note(std::string what) {
    log += (log.empty() ? "" : "; ") + std::move(what);
  }

  /// What was done since this was last called.
  std::string done() {
    return std::exchange(log, {});
  }

  void act(uint32_t node, const control_procs& what,
           const control_means::completion<procs_controlled>& then) {
    static constexpr const char* verbs[] = {"signal",    "pause", "resume",
                                            "terminate", "kill",  "restart"};
    auto procs = std::set<proc_id>{};
    auto reached = procs_controlled{};
    for (const auto rank : what.ranks) {
      procs.insert({what.nspace, rank});
      if (deaf.count(rank) == 0)
        reached.ranks.push_back(rank);
    }
    auto text = "n" + std::to_string(node) + " "
                + verbs[static_cast<size_t>(what.action)] + " ";
    if (what.action == control_action::signal)
      text += std::to_string(what.signal) + " ";
    note(text + list_of_procs(procs));
    then(reached);
    if (what.action == control_action::kill)
      for (const auto rank : what.ranks)
        ended({what.nspace, rank});
  }

  void ended(const proc_id& proc) {
    auto& x = jobs[proc.nspace];
    x.now.procs[proc.rank].is_running = false;
    x.connected.erase(proc.rank);
    desk.procs_ended({proc});
    controller->procs_ended({proc});
  }

  void over(const std::string& nspace) {
    auto gone = std::vector<proc_id>{};
    for (uint32_t rank = 0; rank < jobs[nspace].now.procs.size(); ++rank)
      gone.push_back({nspace, rank});
    desk.procs_ended(gone);
    controller->procs_ended(gone);
    jobs.erase(nspace);
    desk.job_over(nspace);
    controller->job_over(nspace);
  }

  void elapse(time by) {
    const auto end = clock + by;
    while (!timers.empty() && timers.begin()->first <= end) {
      clock = timers.begin()->first;
      const auto then = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      then();
    }
    clock = end;
  }

  /// A process says that it has saved its state, or is ready.
  void complete(uint32_t rank, const std::string& nspace = "job@1",
                std::vector<info> infos = {}) {
    auto what = event{};
    what.code = status::jctrl_checkpoint_complete;
    what.source = {nspace, rank};
    what.infos = std::move(infos);
    controller->hear(what);
  }

  // -- who asks

  struct reply {
    std::optional<control_result> result;
  };

  std::shared_ptr<reply> ask(const requester& who, std::vector<proc_id> targets,
                             std::vector<info> directives) {
    auto result = std::make_shared<reply>();
    controller->request(who, 0, {std::move(targets), std::move(directives)},
                        [result](control_result x) {
                          CAF_REQUIRE(!result->result);
                          result->result = std::move(x);
                        });
    return result;
  }

  static requester tool(uint32_t uid = owner_uid) {
    auto result = asks({"tool", 0}, 1, uid);
    result.role = peer_role::tool_client;
    return result;
  }

  std::shared_ptr<reply> ask(std::vector<info> directives) {
    return ask(tool(), {{"job@1", rank_wildcard}}, std::move(directives));
  }

  /// `pending`, or the status.
  static std::string text(const std::shared_ptr<reply>& x) {
    return x->result ? to_string(x->result->code) : "pending";
  }

  static std::string reason(const std::shared_ptr<reply>& x) {
    return x->result ? x->result->reason : "pending";
  }

  void declare(uint32_t rank, std::vector<info> directives,
               const std::string& expected = "PMIX_SUCCESS") {
    CAF_CHECK_EQUAL(text(ask(asks({"job@1", rank}), {}, std::move(directives))),
                    expected);
  }

  void all_declare_event() {
    for (uint32_t rank = 0; rank < 4; ++rank)
      declare(rank, {methods({event_method(-106)})});
  }

  static info methods(std::vector<info> those) {
    return with(attr::job_ctrl_checkpoint_method,
                value::infos(std::move(those)));
  }

  static info event_method(int32_t code) {
    return with(attr::job_ctrl_checkpoint_event, value::of_status(code));
  }

  static info signal_method(int32_t number) {
    return with(attr::job_ctrl_checkpoint_signal, value::integer(number));
  }

  static info checkpoint(const char* id) {
    return with(attr::job_ctrl_checkpoint, value::string(id));
  }

  static info restart(const char* id) {
    return with(attr::job_ctrl_restart, value::string(id));
  }

  static info preempt(const char* action) {
    return with(control_key::preempt, value::string(action));
  }

  static info preemptible(bool x) {
    return with(attr::job_ctrl_preemptible, value::boolean(x));
  }

  void take_checkpoint(const char* id) {
    all_declare_event();
    const auto x = ask({checkpoint(id)});
    for (uint32_t rank = 0; rank < 4; ++rank)
      complete(rank);
    CAF_REQUIRE_EQUAL(text(x), "PMIX_SUCCESS");
    done();
  }

  time clock{};
  std::multimap<time, std::function<void()>> timers;
  std::map<std::string, job> jobs;
  std::set<site_hook> hooks;
  int32_t hook_status = 0;

  /// Whether the disk hangs, and who waits for it.
  bool hangs = false;
  std::vector<std::function<void()>> kept;
  std::vector<std::string> lines;

  /// Ranks that are gone without anybody's knowing.
  std::set<uint32_t> deaf;
  std::string log;
  std::vector<event> raised;
  std::vector<spawn_request> spawned;
  checkpoint_desk desk;
  std::unique_ptr<job_controller> controller;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(checkpoint_desk_tests, fixture)

// -- checkpoints --------------------------------------------------------------

CAF_TEST(J11 J26 J27 a checkpoint is over when all who were asked say so) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 0-3");
  CAF_REQUIRE_EQUAL(raised.size(), 1u);
  CAF_CHECK_EQUAL(troupe::text(raised[0].infos, attr::job_ctrl_checkpoint),
                  "c1");
  CAF_CHECK_EQUAL(raised[0].source, (proc_id{"", rank_undef}));
  for (uint32_t rank = 0; rank < 4; ++rank) {
    CAF_CHECK_EQUAL(text(x), "pending");
    complete(rank);
  }
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(x->result->reached, 4u);
}

CAF_TEST(J11 a checkpoint is told when it is on disk) {
  hangs = true;
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(text(x), "pending");
  CAF_REQUIRE_EQUAL(kept.size(), 1u);
  kept.front()();
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  elapse(defaults::checkpoint_keep_time);
  CAF_CHECK(lines.empty());
}

CAF_TEST(J11 a checkpoint does not wait for ever for a disk that hangs) {
  hangs = true;
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  elapse(defaults::checkpoint_keep_time - 1ms);
  CAF_CHECK_EQUAL(text(x), "pending");
  elapse(1ms);
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_REQUIRE_EQUAL(lines.size(), 1u);
  CAF_CHECK(lines[0].find("checkpoint c1 is not on disk yet")
            != std::string::npos);
  // The disk goes on: nobody is answered twice.
  for (const auto& then : kept)
    then();
  done();
  CAF_CHECK_EQUAL(text(ask({restart("c1")})), "PMIX_SUCCESS");
}

CAF_TEST(J13 J19 the signal of a request is sent on each node) {
  const auto x = ask({checkpoint("c1"), signal_method(12)});
  CAF_CHECK_EQUAL(done(), "n0 signal 12 job@1: ranks 0, 2; "
                          "n1 signal 12 job@1: ranks 1, 3");
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J12 the event of a request may be a status or true) {
  ask({checkpoint("c1"), event_method(-3001)});
  CAF_CHECK_EQUAL(done(), "raise -3001 for job@1: ranks 0-3 (not by default)");
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  ask({checkpoint("c2"),
       with(attr::job_ctrl_checkpoint_event, value::boolean(true))});
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 0-3 "
                          "(not by default)");
}

CAF_TEST(J30 J31 each process is asked as it has declared) {
  declare(0, {methods({signal_method(12), event_method(-106)})});
  declare(1, {methods({event_method(-106), signal_method(12)})});
  declare(2, {methods({signal_method(10)})});
  declare(2, {methods({signal_method(12)})});
  declare(3, {methods({event_method(-106)})});
  ask({checkpoint("c1")});
  CAF_CHECK_EQUAL(done(), "n0 signal 12 job@1: ranks 0, 2; "
                          "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 1, 3");
}

CAF_TEST(J32 without methods nobody is asked and the processes are named) {
  declare(0, {methods({signal_method(12)})});
  const auto x = ask({checkpoint("c1")});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_NOT_SUPPORTED");
  CAF_CHECK_EQUAL(reason(x).substr(0, 16), "job@1: ranks 1-3");
  CAF_CHECK_EQUAL(done(), "");
  // A process that ended has no method either.
  declare(1, {methods({signal_method(12)})});
  ended({"job@1", 1});
  CAF_CHECK_EQUAL(
    text(ask(tool(), {{"job@1", 0}, {"job@1", 2}}, {checkpoint("c1")})),
    "PMIX_ERR_NOT_SUPPORTED");
}

CAF_TEST(J27 who was not asked is not heard) {
  declare(0, {methods({event_method(-106)})});
  const auto x = ask(tool(), {{"job@1", 0}}, {checkpoint("c1")});
  complete(1);
  complete(0, "job@2");
  complete(0, "job@1", {checkpoint("another")});
  CAF_CHECK_EQUAL(text(x), "pending");
  complete(0, "job@1", {checkpoint("c1")});
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J14 a time out names who is missing) {
  all_declare_event();
  const auto x = ask({checkpoint("c1"), with(attr::job_ctrl_checkpoint_timeout,
                                             value::integer(5))});
  complete(0);
  complete(2);
  elapse(4999ms);
  CAF_CHECK_EQUAL(text(x), "pending");
  elapse(1ms);
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_TIMEOUT");
  CAF_CHECK_EQUAL(reason(x), "checkpoint c1: job@1: ranks 1, 3 did not "
                             "complete in time");
  CAF_CHECK_EQUAL(x->result->missing,
                  (std::vector<proc_id>{{"job@1", 1}, {"job@1", 3}}));
  const auto* saved = find(x->result->infos, checkpoint_saved_key);
  CAF_REQUIRE(saved != nullptr);
  CAF_CHECK_EQUAL(procs_of(*saved).size(), 2u);
  CAF_CHECK_EQUAL(text(ask({restart("c1")})), "PMIX_ERR_NOT_FOUND");
  complete(1);
}

CAF_TEST(J14 the old key of the time out is understood) {
  const auto x = ask({checkpoint("c1"), signal_method(12),
                      with("pmix.jctrl.ckptsig", value::integer(7))});
  CAF_CHECK_EQUAL(done().substr(0, 12), "n0 signal 12");
  elapse(6999ms);
  CAF_CHECK_EQUAL(text(x), "pending");
  elapse(1ms);
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_TIMEOUT");
}

CAF_TEST(J27 a process that dies before it completes is a failure) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  for (const auto rank : {0, 1, 3})
    complete(static_cast<uint32_t>(rank));
  ended({"job@1", 2});
  elapse(defaults::lost_connection_wait);
  CAF_CHECK_EQUAL(text(x), "PMIX_ERROR");
  CAF_CHECK_EQUAL(reason(x), "checkpoint c1: job@1: rank 2 ended before the "
                             "checkpoint was complete");
  CAF_CHECK_EQUAL(text(ask({restart("c1")})), "PMIX_ERR_NOT_FOUND");
}

CAF_TEST(J27 who died first is named apart from those who died of it) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  complete(1);
  ended({"job@1", 3});
  elapse(10ms);
  over("job@1");
  elapse(defaults::lost_connection_wait);
  CAF_CHECK_EQUAL(reason(x), "checkpoint c1: job@1: rank 3 ended before the "
                             "checkpoint was complete; job@1: ranks 0, 2 "
                             "ended then, too");
}

CAF_TEST(J27 who saves its state and ends is heard in either order) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  for (uint32_t rank = 0; rank < 4; ++rank) {
    ended({"job@1", rank});
    complete(rank);
  }
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J13 who cannot be signalled has failed) {
  deaf = {3};
  const auto x = ask({checkpoint("c1"), signal_method(12)});
  for (const auto rank : {0, 1, 2})
    complete(static_cast<uint32_t>(rank));
  CAF_CHECK_EQUAL(text(x), "PMIX_ERROR");
  CAF_CHECK_EQUAL(reason(x).substr(0, 28), "checkpoint c1: job@1: rank 3");
}

CAF_TEST(J11 a process saves its state once at a time) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  CAF_CHECK_EQUAL(text(ask({checkpoint("c2")})), "PMIX_ERR_RESOURCE_BUSY");
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(text(ask({checkpoint("c2")})), "pending");
}

CAF_TEST(J8 a checkpoint that is cancelled frees its processes) {
  all_declare_event();
  const auto x = ask({checkpoint("c1")});
  complete(0);
  ask({with(attr::job_ctrl_cancel)});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_JOB_CANCELED");
  CAF_CHECK_EQUAL(text(ask({checkpoint("c2")})), "pending");
}

CAF_TEST(J11 a checkpoint has a name and is of one job) {
  add_job("job@2", 1);
  CAF_CHECK_EQUAL(text(ask({checkpoint(""), signal_method(12)})),
                  "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(
    text(ask({checkpoint(std::string(256, 'x').c_str()), signal_method(12)})),
    "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(text(ask(tool(), {{"job@1", 0}, {"job@2", 0}},
                           {checkpoint("c1"), signal_method(12)})),
                  "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(done(), "");
}

CAF_TEST(J9 J11 J19 a checkpoint that fails spares those it was to kill) {
  all_declare_event();
  const auto kill = with(attr::job_ctrl_kill, value::boolean(true));
  const auto bad =
    ask({checkpoint("c1"), kill,
         with(attr::job_ctrl_checkpoint_timeout, value::integer(1))});
  elapse(1s);
  CAF_CHECK_EQUAL(text(bad), "PMIX_ERR_TIMEOUT");
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 0-3");
  const auto good = ask({checkpoint("c1"), kill});
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(text(good), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 0-3; "
                          "end job@1 by 9");
}

CAF_TEST(J11 the hook of the site saves processes that know nothing) {
  hooks = {site_hook::checkpoint};
  declare(0, {methods({signal_method(12)})});
  const auto x = ask({checkpoint("c1")});
  CAF_CHECK_EQUAL(done(), "n0 signal 12 job@1: rank 0; hook at n0 c1; "
                          "hook at n1 c1; hook at n1 c1");
  complete(0);
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  hook_status = 3;
  const auto bad = ask(tool(), {{"job@1", 1}}, {checkpoint("c2")});
  CAF_CHECK_EQUAL(reason(bad),
                  "checkpoint c2: job@1: rank 1 not saved by the hook, which "
                  "ended with status 3; see its output: disk full");
}

// -- declarations -------------------------------------------------------------

CAF_TEST(J18 J30 J34 the declarations of the example of RFC0015 are accepted) {
  declare(
    0, {preemptible(true), methods({signal_method(12), event_method(-106)})});
  const auto infos = desk.describe({"job@1", 0});
  CAF_CHECK(flag(infos, attr::job_ctrl_preemptible));
  CAF_CHECK_EQUAL(
    infos_of(*find(infos, attr::job_ctrl_checkpoint_method)).size(), 2u);
}

CAF_TEST(J18 targets mean nothing to a declaration) {
  CAF_CHECK_EQUAL(
    text(ask(asks({"job@1", 0}), {{"job@77", 5}}, {preemptible(true)})),
    "PMIX_SUCCESS");
  CAF_CHECK(flag(desk.describe({"job@1", 3}), attr::job_ctrl_preemptible));
}

CAF_TEST(J30 who belongs to no job declares nothing) {
  CAF_CHECK_EQUAL(text(ask(tool(), {}, {preemptible(true)})),
                  "PMIX_ERR_BAD_PARAM");
}

// -- preemption ---------------------------------------------------------------

CAF_TEST(J18 a job that has not declared it is not preempted) {
  const auto x = ask({preempt("kill")});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_NOT_SUPPORTED");
  CAF_CHECK_EQUAL(done(), "");
  declare(0, {preemptible(true)});
  declare(1, {preemptible(false)});
  CAF_CHECK_EQUAL(text(ask({preempt("kill")})), "PMIX_ERR_NOT_SUPPORTED");
}

CAF_TEST(J28 J29 a job is preempted as soon as all are ready) {
  declare(0, {preemptible(true)});
  jobs["job@1"].connected = {0, 1};
  const auto x =
    ask({preempt("kill"), with(control_key::grace, value::uint32(20000))});
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_PREEMPT_ALERT for job@1: ranks "
                          "0-1 (not by default)");
  CAF_CHECK_EQUAL(number<int32_t>(raised[0].infos, attr::timeout), 20);
  complete(0);
  elapse(19s);
  CAF_CHECK_EQUAL(text(x), "pending");
  complete(1);
  CAF_CHECK_EQUAL(done(), "end job@1 by 9");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J28 silence leads to the same after the grace) {
  declare(0, {preemptible(true)});
  const auto x =
    ask({preempt("terminate"), with(control_key::grace, value::uint32(2500))});
  done();
  complete(0);
  elapse(2499ms);
  CAF_CHECK_EQUAL(done(), "");
  elapse(1ms);
  CAF_CHECK_EQUAL(done(), "end job@1 by 15");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  const auto* silent = find(x->result->infos, preempt_silent_key);
  CAF_REQUIRE(silent != nullptr);
  CAF_CHECK_EQUAL(
    procs_of(*silent),
    (std::vector<proc_id>{{"job@1", 1}, {"job@1", 2}, {"job@1", 3}}));
}

CAF_TEST(J28 a job may be paused by a preemption) {
  declare(0, {preemptible(true)});
  const auto x = ask({preempt("pause")});
  done();
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(done(), "n0 pause job@1: ranks 0, 2; "
                          "n1 pause job@1: ranks 1, 3");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(x->result->reached, 4u);
}

CAF_TEST(J11 J28 a job may be saved and killed by a preemption) {
  all_declare_event();
  declare(0, {preemptible(true)});
  const auto x = ask({preempt("checkpoint"), checkpoint("p1")});
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_PREEMPT_ALERT for job@1: ranks "
                          "0-3 (not by default)");
  elapse(defaults::preempt_grace);
  CAF_CHECK_EQUAL(done(), "raise PMIX_JCTRL_CHECKPOINT for job@1: ranks 0-3");
  for (uint32_t rank = 0; rank < 4; ++rank)
    complete(rank);
  CAF_CHECK_EQUAL(done(), "end job@1 by 9");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  ask(tool(), {}, {restart("p1")});
  CAF_CHECK_EQUAL(done(), "spawn for 1000");
}

CAF_TEST(J11 J28 what cannot be saved is refused before any alert) {
  declare(0, {preemptible(true)});
  CAF_CHECK_EQUAL(text(ask({preempt("checkpoint"), checkpoint("p1")})),
                  "PMIX_ERR_NOT_SUPPORTED");
  CAF_CHECK_EQUAL(text(ask({preempt("checkpoint"), signal_method(12)})),
                  "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(text(ask({preempt("swap")})), "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(text(ask(tool(), {{"job@1", 0}}, {preempt("kill")})),
                  "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(done(), "");
}

CAF_TEST(J28 a preempted job that is over needs nothing) {
  declare(0, {preemptible(true)});
  const auto x = ask({preempt("kill")});
  CAF_CHECK_EQUAL(text(ask({preempt("kill")})), "PMIX_ERR_RESOURCE_BUSY");
  done();
  over("job@1");
  CAF_CHECK_EQUAL(done(), "");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J8 J28 a preemption that is cancelled does nothing) {
  declare(0, {preemptible(true)});
  const auto x = ask({preempt("kill")});
  done();
  ask({with(attr::job_ctrl_cancel)});
  elapse(2 * defaults::preempt_grace);
  CAF_CHECK_EQUAL(done(), "");
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_JOB_CANCELED");
  CAF_CHECK_EQUAL(text(ask({preempt("kill")})), "pending");
}

// -- restart ------------------------------------------------------------------

CAF_TEST(J10 an unknown checkpoint is refused) {
  take_checkpoint("c1");
  const auto x = ask(tool(), {}, {restart("c2")});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_NOT_FOUND");
  CAF_CHECK_EQUAL(reason(x), "no checkpoint \"c2\" of yours was completed; "
                             "make one by troupe ctl checkpoint");
  CAF_CHECK_EQUAL(text(ask(tool(our_uid + 1), {}, {restart("c1")})),
                  "PMIX_ERR_NOT_FOUND");
  CAF_CHECK_EQUAL(done(), "");
}

CAF_TEST(J10 a job that was killed starts again from its checkpoint) {
  take_checkpoint("c1");
  over("job@1");
  const auto x = ask(tool(), {}, {restart("c1")});
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(done(), "spawn for 1000");
  CAF_CHECK_EQUAL(troupe::text(x->result->infos, attr::nspace), "job@9");
  CAF_REQUIRE_EQUAL(spawned.size(), 1u);
  CAF_CHECK_EQUAL(spawned[0].apps.at(0).env.back(), "TROUPE_CHECKPOINT_ID=c1");
  // By the name of the job that was saved, and of the one started from it.
  CAF_CHECK_EQUAL(
    text(ask(tool(), {{"job@1", rank_wildcard}}, {restart("c1")})),
    "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(
    text(ask(tool(), {{"job@9", rank_wildcard}}, {restart("c1")})),
    "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(
    text(ask(tool(), {{"job@7", rank_wildcard}}, {restart("c1")})),
    "PMIX_ERR_BAD_PARAM");
}

CAF_TEST(J10 a job that still runs ends before it starts again) {
  take_checkpoint("c1");
  const auto x = ask({restart("c1")});
  CAF_CHECK_EQUAL(done(), "end job@1 by 9; spawn for 1000");
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
}

CAF_TEST(J10 ranks of a job that goes on without them start again alone) {
  jobs.clear();
  add_job("job@1", 4, true);
  take_checkpoint("c1");
  const auto x = ask(tool(), {{"job@1", 1}, {"job@1", 2}}, {restart("c1")});
  CAF_CHECK_EQUAL(text(x), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(done(), "n0 kill job@1: rank 2; n1 kill job@1: rank 1; "
                          "spawn for 1000");
  CAF_REQUIRE_EQUAL(spawned.size(), 1u);
  CAF_REQUIRE_EQUAL(spawned[0].apps.size(), 2u);
  CAF_CHECK_EQUAL(spawned[0].apps[1].env.front(), "TROUPE_CHECKPOINT_RANK=2");
}

CAF_TEST(J10 RST-2 a checkpoint of an earlier DVM is of no job that runs) {
  let_restart("job@1");
  auto before = checkpoint_records{};
  auto kept = troupe::checkpoint{};
  kept.id = "kept";
  kept.nspace = "job@1";
  kept.job = jobs.at("job@1").record;
  kept.ranks = {0, 1, 2, 3};
  before.add(kept);
  CAF_REQUIRE(!desk.restore(before.save()));
  take_checkpoint("own");
  const auto in_place = with(control_key::in_place);
  const auto x = ask({restart("kept"), in_place});
  CAF_CHECK_EQUAL(text(x), to_string(status::bad_param));
  CAF_CHECK_EQUAL(
    reason(x),
    "checkpoint kept is of job job@1 of an earlier DVM; leave out --in-place");
  CAF_CHECK_EQUAL(done(), "");
  CAF_CHECK_EQUAL(text(ask({restart("own"), in_place})), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(done(), "n0 restart job@1: ranks 0, 2; "
                          "n1 restart job@1: ranks 1, 3");
}

CAF_TEST(J10 ranks of another job do not start again alone) {
  take_checkpoint("c1");
  const auto x = ask(tool(), {{"job@1", 1}}, {restart("c1")});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(done(), "");
  CAF_CHECK_EQUAL(text(ask(tool(), {{"job@1", 44}}, {restart("c1")})),
                  "PMIX_ERR_NOT_FOUND");
}

// -- provision ----------------------------------------------------------------

CAF_TEST(J16 without a hook nodes are not provisioned) {
  const auto x =
    ask(tool(), {}, {with(attr::job_ctrl_provision, value::string("n[1-2]"))});
  CAF_CHECK_EQUAL(text(x), "PMIX_ERR_NOT_SUPPORTED");
}

CAF_TEST(J16 J17 the hook gets nodes and image from the owner) {
  hooks = {site_hook::provision};
  const auto directives = std::vector<info>{
    with(attr::job_ctrl_provision, value::string("n[1-2]")),
    with(attr::job_ctrl_provision_image, value::string("debian12"))};
  CAF_CHECK_EQUAL(text(ask(tool(), {}, directives)), "PMIX_SUCCESS");
  CAF_CHECK_EQUAL(done(), "hook at n0 n[1-2] debian12");
  CAF_CHECK_EQUAL(text(ask(tool(our_uid + 1), {}, directives)),
                  "PMIX_ERR_NO_PERMISSIONS");
  CAF_CHECK_EQUAL(done(), "");
  hook_status = 1;
  const auto bad = ask(tool(), {}, directives);
  CAF_CHECK_EQUAL(text(bad), "PMIX_ERROR");
  CAF_CHECK_EQUAL(reason(bad), "nodes n[1-2]: the site's hook for provision "
                               "ended with status 1: disk full");
}

CAF_TEST_FIXTURE_SCOPE_END()
