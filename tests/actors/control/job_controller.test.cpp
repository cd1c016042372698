// Requests for control from their directives to their answers, with the nodes
// and the clock in the hands of the test.

#include "actors/control/job_controller.hpp"

#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <csignal>
#include <map>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

/// What became of a request.
struct reply {
  size_t count = 0;
  control_result result;

  status code() const {
    return count == 1 ? result.code : status::operation_in_progress;
  }
};

using reply_ptr = std::shared_ptr<reply>;

std::string_view name_of(control_action x) {
  constexpr std::string_view names[] = {"signal", "pause", "resume",
                                        "terminate", "kill"};
  return names[static_cast<size_t>(x)];
}

struct fixture {
  struct call {
    uint32_t node;
    control_procs what;
    control_means::completion<procs_controlled> then;
  };

  std::map<std::string, controlled_job> jobs;
  control_means::time now{0};
  std::multimap<control_means::time, std::function<void()>> timers;

  /// What nodes were asked: `1 signal 10 a 2 3`.
  std::vector<std::string> asked;

  /// Whether nodes answer only when told to.
  bool holds = false;
  std::vector<call> held;

  /// Nodes that are lost.
  std::set<uint32_t> lost;

  std::vector<end_job> ended;
  size_t halted = 0;
  std::vector<define_process_set> sets;
  std::unique_ptr<job_controller> uut;

  /// `a` has four ranks on nodes 0, 0, 1 and 2; `b` has one on node 1.
  fixture() {
    jobs["a"] = {{our_uid, 1}, {{0, true}, {0, true}, {1, true}, {2, true}}};
    jobs["b"] = {{our_uid, 1}, {{1, true}}};
    auto means = control_means{};
    means.now = [this] { return now; };
    means.call_later = [this](control_means::time delay,
                              std::function<void()> then) {
      timers.emplace(now + delay, std::move(then));
    };
    means.act = [this](uint32_t node, control_procs what,
                       control_means::completion<procs_controlled> then) {
      auto text = std::to_string(node) + " ";
      text += name_of(what.action);
      if (what.action == control_action::signal)
        text += " " + std::to_string(what.signal);
      text += " " + what.nspace;
      for (const auto rank : what.ranks)
        text += " " + std::to_string(rank);
      asked.push_back(text);
      held.push_back({node, std::move(what), std::move(then)});
      if (!holds)
        release();
    };
    means.end = [this](const end_job& how) { ended.push_back(how); };
    means.halt = [this](const requester& who) -> caf::error {
      if (who.creds.uid != our_uid)
        return make_error(status::no_permissions, "another user's");
      ++halted;
      return caf::none;
    };
    means.define_set = [this](define_process_set what,
                              const control_means::completion<ack>& then) {
      sets.push_back(std::move(what));
      then(ack{});
    };
    means.lookup.job =
      [this](const std::string& x) -> std::optional<controlled_job> {
      const auto i = jobs.find(x);
      if (i == jobs.end())
        return std::nullopt;
      return i->second;
    };
    means.lookup.has_ended = [](const std::string& x) { return x == "old"; };
    uut = std::make_unique<job_controller>(std::move(means));
  }

  /// Nodes answer what they were asked.
  void release() {
    for (auto& x : std::exchange(held, {})) {
      if (lost.count(x.node) > 0) {
        x.then(make_error(status::unreach, "the node is lost"));
        continue;
      }
      auto hit = procs_controlled{};
      for (const auto rank : x.what.ranks)
        if (jobs[x.what.nspace].procs[rank].is_running)
          hit.ranks.push_back(rank);
      x.then(std::move(hit));
    }
  }

  void elapse(control_means::time x) {
    const auto end = now + x;
    while (!timers.empty() && timers.begin()->first <= end) {
      now = timers.begin()->first;
      const auto f = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      f();
    }
    now = end;
  }

  /// A process ends.
  void end(const std::string& nspace, uint32_t rank) {
    jobs[nspace].procs[rank].is_running = false;
    uut->procs_ended({{nspace, rank}});
  }

  reply_ptr request(std::vector<proc_id> targets, std::vector<info> directives,
                    const requester& who = asks({"a", 0})) {
    auto result = std::make_shared<reply>();
    uut->request(who, 0,
                 job_control_request{std::move(targets), std::move(directives)},
                 [result](control_result x) {
                   ++result->count;
                   result->result = std::move(x);
                 });
    return result;
  }

  reply_ptr request(std::vector<proc_id> targets, std::string_view key,
                    value val = value::boolean(true)) {
    return request(std::move(targets), {with(key, std::move(val))});
  }

  static info id(const std::string& x) {
    return with(attr::job_ctrl_id, value::string(x));
  }

  /// The state of a request, `none` if it is not known.
  std::string state(const std::string& name,
                    const requester& who = asks({"a", 0})) {
    const auto x = uut->describe(who, name);
    if (!x)
      return "none";
    const auto items = infos_of(*x);
    if (items.size() != 1)
      CAF_FAIL(name << " is known " << items.size() << " times");
    return text(infos_of(items[0].val), "state").value_or("");
  }

  size_t outstanding() {
    return uut->gauges().at(0).value;
  }
};

using texts = std::vector<std::string>;

} // namespace

CAF_TEST_FIXTURE_SCOPE(job_controller_tests, fixture)

// -- signals, pause, resume --------------------------------------------------

CAF_TEST(J1 J15 a signal goes to exactly the ranks named) {
  const auto x = request({{"a", 3}, {"a", 1}, {"a", 3}}, attr::job_ctrl_signal,
                         value::integer(SIGUSR1));
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK_EQUAL(x->result.reached, 2u);
  CAF_CHECK((asked == texts{"0 signal 10 a 1", "2 signal 10 a 3"}));
}

CAF_TEST(J2 without targets the own job is meant) {
  request({}, attr::job_ctrl_pause);
  CAF_CHECK((asked == texts{"0 pause a 0 1", "1 pause a 2", "2 pause a 3"}));
}

CAF_TEST(J4 J25 the answer comes when all nodes have answered) {
  holds = true;
  const auto x =
    request({}, {with(attr::job_ctrl_pause), id("p")}, asks({"a", 2}));
  CAF_CHECK_EQUAL(x->count, 0u);
  CAF_CHECK_EQUAL(state("p", asks({"a", 2})), "running");
  CAF_CHECK_EQUAL(state("p"), "none");
  release();
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK_EQUAL(state("p", asks({"a", 2})), "done");
  CAF_CHECK(text(x->result.infos, attr::job_ctrl_id) == std::string{"p"});
}

CAF_TEST(J4 targets that have ended are named) {
  jobs["a"].procs[1].is_running = false;
  const auto some = request({{"a", 0}, {"a", 1}}, attr::job_ctrl_pause);
  CAF_CHECK_EQUAL(some->code(), status::partial_success);
  CAF_CHECK_EQUAL(some->result.reached, 1u);
  CAF_CHECK((some->result.absent == std::vector<proc_id>{{"a", 1}}));
  const auto none = request({{"a", 1}, {"old", 0}}, attr::job_ctrl_pause);
  CAF_CHECK_EQUAL(none->code(), status::not_found);
  CAF_CHECK(
    (none->result.absent == std::vector<proc_id>{{"a", 1}, {"old", 0}}));
  CAF_CHECK(!none->result.reason.empty());
}

CAF_TEST(J25 CTL-2 a node that is lost costs its processes and no answer) {
  holds = true;
  lost.insert(2);
  const auto x = request({}, attr::job_ctrl_resume);
  release();
  CAF_CHECK_EQUAL(x->code(), status::partial_success);
  CAF_CHECK((x->result.missing == std::vector<proc_id>{{"a", 3}}));
  CAF_CHECK_EQUAL(x->result.reached, 3u);
  const auto all = request({{"a", 3}}, attr::job_ctrl_pause);
  release();
  CAF_CHECK_EQUAL(all->code(), status::unreach);
  CAF_CHECK(all->result.reason.find("a:3") != std::string::npos);
}

CAF_TEST(J19 several verbs of a request are carried out one after another) {
  holds = true;
  const auto x =
    request({{"a", 0}}, {with(attr::job_ctrl_pause),
                         with(attr::job_ctrl_signal, value::integer(SIGUSR2))});
  CAF_CHECK((asked == texts{"0 signal 12 a 0"}));
  release();
  CAF_CHECK((asked == texts{"0 signal 12 a 0", "0 pause a 0"}));
  CAF_CHECK_EQUAL(x->count, 0u);
  release();
  CAF_CHECK_EQUAL(x->code(), status::success);
}

// -- refusals ----------------------------------------------------------------

CAF_TEST(J4 J23 X29 what is wrong is refused before anything is done) {
  const auto refused = [&](std::vector<proc_id> targets, std::string_view key,
                           value val, const requester& who) {
    return request(std::move(targets), {with(key, std::move(val))}, who)
      ->code();
  };
  const auto yes = value::boolean(true);
  const auto us = asks({"a", 0});
  CAF_CHECK_EQUAL(refused({{"a", 0}, {"a", 9}}, attr::job_ctrl_kill, yes, us),
                  status::not_found);
  CAF_CHECK_EQUAL(refused({{"a", 0}}, attr::job_ctrl_kill, yes,
                          asks({"z", 0}, 1, our_uid + 1)),
                  status::no_permissions);
  CAF_CHECK_EQUAL(
    refused({{"a", 0}}, attr::job_ctrl_signal, value::integer(65), us),
    status::bad_param);
  // Nobody has offered to do that.
  CAF_CHECK_EQUAL(
    refused({}, attr::job_ctrl_provision, value::string("n1"), us),
    status::not_supported);
  CAF_CHECK_EQUAL(refused({}, attr::job_ctrl_restart, value::string("c"), us),
                  status::not_supported);
  CAF_CHECK_EQUAL(refused({}, attr::job_ctrl_preemptible, yes, us),
                  status::not_supported);
  CAF_CHECK_EQUAL(refused({}, "unknown.directive", yes, us),
                  status::not_supported);
  CAF_CHECK(asked.empty());
  CAF_CHECK_EQUAL(outstanding(), 0u);
}

CAF_TEST(J23 unknown directives that are optional are told of) {
  const auto x = request({}, {with(attr::job_ctrl_pause), with("site.x")});
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK(find(x->result.infos, control_key::ignored) != nullptr);
}

CAF_TEST(J2 X29 only tools of the owner end the DVM) {
  auto tool = asks({"tool", 0});
  tool.role = peer_role::tool_needs_identity;
  const auto kill = std::vector<info>{with(attr::job_ctrl_terminate)};
  // A process of a job means its own.
  request({}, kill);
  CAF_CHECK_EQUAL(halted, 0u);
  CAF_CHECK_EQUAL(ended.size(), 1u);
  auto stranger = tool;
  stranger.creds.uid = our_uid + 1;
  CAF_CHECK_EQUAL(request({}, kill, stranger)->code(), status::no_permissions);
  CAF_CHECK_EQUAL(request({}, {with(attr::job_ctrl_pause)}, tool)->code(),
                  status::bad_param);
  CAF_CHECK_EQUAL(halted, 0u);
  CAF_CHECK_EQUAL(request({}, kill, tool)->code(), status::success);
  CAF_CHECK_EQUAL(halted, 1u);
}

// -- ends --------------------------------------------------------------------

CAF_TEST(J35 terminate gives a grace and then kills who is left) {
  const auto x = request({{"a", 0}, {"a", 2}},
                         {with(attr::job_ctrl_terminate),
                          with(control_key::grace, value::uint32(500))});
  CAF_CHECK((asked == texts{"0 terminate a 0", "1 terminate a 2"}));
  end("a", 2);
  elapse(499ms);
  CAF_CHECK_EQUAL(asked.size(), 2u);
  CAF_CHECK_EQUAL(x->count, 0u);
  elapse(1ms);
  CAF_CHECK(
    (asked == texts{"0 terminate a 0", "1 terminate a 2", "0 kill a 0"}));
  end("a", 0);
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK_EQUAL(x->result.reached, 2u);
  elapse(1min);
  CAF_CHECK_EQUAL(asked.size(), 3u);
  CAF_CHECK_EQUAL(x->count, 1u);
}

CAF_TEST(J9 kill is done when the processes are gone) {
  const auto x = request({{"a", 3}}, attr::job_ctrl_kill);
  CAF_CHECK((asked == texts{"2 kill a 3"}));
  CAF_CHECK_EQUAL(x->count, 0u);
  end("a", 3);
  CAF_CHECK_EQUAL(x->code(), status::success);
}

CAF_TEST(J9 J25 who does not end although killed is named) {
  const auto x = request({{"a", 3}, {"a", 0}}, attr::job_ctrl_kill);
  end("a", 0);
  elapse(11s);
  CAF_CHECK_EQUAL(x->code(), status::timeout);
  CAF_CHECK((x->result.missing == std::vector<proc_id>{{"a", 3}}));
}

CAF_TEST(J9 a job as a whole is ended as a job) {
  const auto x = request({{"a", rank_wildcard}, {"b", 0}}, attr::job_ctrl_kill);
  CAF_REQUIRE_EQUAL(ended.size(), 1u);
  CAF_CHECK_EQUAL(ended[0].nspace, "a");
  CAF_CHECK_EQUAL(ended[0].signal, SIGKILL);
  CAF_CHECK(ended[0].exit_status == 137);
  CAF_CHECK((asked == texts{"1 kill b 0"}));
  end("b", 0);
  for (uint32_t rank = 0; rank < 4; ++rank)
    end("a", rank);
  CAF_CHECK_EQUAL(x->count, 0u);
  // What it left behind is gone, too.
  jobs.erase("a");
  uut->job_over("a");
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK_EQUAL(x->result.reached, 5u);
}

CAF_TEST(J35 the grace of a job as a whole) {
  request({{"a", rank_wildcard}},
          {with(attr::job_ctrl_terminate),
           with(control_key::grace, value::uint32(250))});
  CAF_REQUIRE_EQUAL(ended.size(), 1u);
  CAF_CHECK_EQUAL(ended[0].signal, SIGTERM);
  CAF_CHECK(ended[0].grace == 250ms);
}

CAF_TEST(J25 a node lost while its processes are killed has none left) {
  holds = true;
  lost.insert(2);
  const auto x = request({{"a", 3}}, attr::job_ctrl_kill);
  release();
  CAF_CHECK_EQUAL(x->count, 0u);
  end("a", 3);
  CAF_CHECK_EQUAL(x->code(), status::success);
}

// -- ids, states, cancel -----------------------------------------------------

CAF_TEST(J5 an id that is outstanding is refused with its name) {
  const auto stop =
    std::vector<info>{with(attr::job_ctrl_terminate), id("stop")};
  const auto first = request({{"a", 0}}, stop);
  const auto second = request({{"a", 1}}, stop);
  CAF_CHECK_EQUAL(second->code(), status::err_exists);
  CAF_CHECK(second->result.reason.find("stop") != std::string::npos);
  // Another requester's is another request.
  const auto other = request({{"a", 2}}, stop, asks({"a", 1}));
  CAF_CHECK_EQUAL(other->count, 0u);
  end("a", 0);
  CAF_CHECK_EQUAL(first->code(), status::success);
  CAF_CHECK_EQUAL(state("stop"), "done");
  CAF_CHECK_EQUAL(state("stop", asks({"a", 1})), "running");
}

CAF_TEST(J8 a cancelled request does no more and is answered) {
  const auto stop =
    request({{"a", 0}}, {with(attr::job_ctrl_terminate), id("stop")});
  const auto cancel = request({}, attr::job_ctrl_cancel, value::string("stop"));
  CAF_CHECK_EQUAL(cancel->code(), status::success);
  CAF_CHECK(number<size_t>(cancel->result.infos, control_key::cancelled) == 1u);
  CAF_CHECK_EQUAL(stop->code(), status::job_canceled);
  CAF_CHECK_EQUAL(state("stop"), "cancelled");
  elapse(1min);
  CAF_CHECK((asked == texts{"0 terminate a 0"}));
  CAF_CHECK_EQUAL(stop->count, 1u);
}

CAF_TEST(J8 what cannot be cancelled) {
  request({{"a", 0}}, {with(attr::job_ctrl_pause), id("done")});
  const auto cancel = [&](const std::string& name, const requester& who) {
    return request({}, {with(attr::job_ctrl_cancel, value::string(name))}, who)
      ->code();
  };
  CAF_CHECK_EQUAL(cancel("done", asks({"a", 0})), status::not_found);
  CAF_CHECK_EQUAL(cancel("nothing", asks({"a", 0})), status::not_found);
  const auto stop =
    request({{"a", 0}}, {with(attr::job_ctrl_terminate), id("stop")});
  CAF_CHECK_EQUAL(cancel("stop", asks({"a", 1})), status::not_found);
  CAF_CHECK_EQUAL(stop->count, 0u);
}

CAF_TEST(J21 a cancel without id cancels all of its requester) {
  const auto stop = [&](uint32_t rank, const requester& who) {
    return request({{"a", rank}}, {with(attr::job_ctrl_terminate)}, who);
  };
  const auto one = stop(0, asks({"a", 0}));
  const auto two = stop(1, asks({"a", 0}));
  const auto other = stop(2, asks({"a", 3}));
  const auto x =
    request({}, attr::job_ctrl_cancel, {data_type::string, std::monostate{}});
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_CHECK(number<size_t>(x->result.infos, control_key::cancelled) == 2u);
  CAF_CHECK_EQUAL(one->code(), status::job_canceled);
  CAF_CHECK_EQUAL(two->code(), status::job_canceled);
  CAF_CHECK_EQUAL(other->count, 0u);
  const auto again =
    request({}, attr::job_ctrl_cancel, {data_type::string, std::monostate{}});
  CAF_CHECK_EQUAL(again->code(), status::success);
}

CAF_TEST(J8 J20 a tool means the requests of its user if it says so) {
  const auto stop =
    request({{"a", 0}}, {with(attr::job_ctrl_terminate), id("stop")});
  const auto tool = asks({"tool", 7});
  const auto cancel =
    std::vector<info>{with(attr::job_ctrl_cancel, value::string("stop"))};
  CAF_CHECK_EQUAL(request({}, cancel, tool)->code(), status::not_found);
  CAF_CHECK(!uut->describe(tool, "stop"));
  CAF_CHECK(uut->describe(tool, "stop", true).engaged());
  auto of_user = cancel;
  of_user.push_back(with(control_key::user));
  CAF_CHECK_EQUAL(
    request({}, of_user, asks({"tool", 8}, 1, our_uid + 1))->code(),
    status::not_found);
  CAF_CHECK_EQUAL(request({}, of_user, tool)->code(), status::success);
  CAF_CHECK_EQUAL(stop->code(), status::job_canceled);
}

CAF_TEST(J8 a cancel and the end of a request at once) {
  holds = true;
  const auto pause = request({{"a", 0}}, {with(attr::job_ctrl_pause), id("p")});
  request({}, attr::job_ctrl_cancel, value::string("p"));
  CAF_CHECK_EQUAL(pause->code(), status::job_canceled);
  release();
  CAF_CHECK_EQUAL(pause->count, 1u);
  CAF_CHECK_EQUAL(state("p"), "cancelled");
}

CAF_TEST(J4 a request that is given up says what is missing) {
  holds = true;
  const auto x = request({{"a", 0}}, {with(attr::job_ctrl_pause), id("p"),
                                      with(attr::timeout, value::integer(2))});
  elapse(2s);
  CAF_CHECK_EQUAL(x->code(), status::timeout);
  CAF_CHECK(x->result.reason.find("2 s") != std::string::npos);
  CAF_CHECK_EQUAL(state("p"), "failed");
  release();
  CAF_CHECK_EQUAL(x->count, 1u);
}

CAF_TEST(CTL-2 whatever happens each request is answered once) {
  const auto outcome = rc::check([](const std::vector<uint16_t>& steps) {
    auto world = fixture{};
    world.holds = true;
    auto replies = std::vector<reply_ptr>{};
    for (const auto step : steps) {
      const auto rank = static_cast<uint32_t>(step / 16 % 4);
      const auto who = asks({"a", static_cast<uint32_t>(step / 64 % 4)});
      const auto ask = [&](std::string_view key, value val) {
        auto directives = std::vector<info>{with(key, std::move(val))};
        if (step / 256 % 2 > 0)
          directives.push_back(id("named"));
        if (step / 512 % 2 > 0)
          directives.push_back(with(attr::timeout, value::integer(1)));
        replies.push_back(
          world.request({{"a", rank}, {"b", 0}}, std::move(directives), who));
      };
      switch (step % 8) {
        case 0:
          ask(attr::job_ctrl_pause, value::boolean(true));
          break;
        case 1:
          ask(attr::job_ctrl_terminate, value::boolean(true));
          break;
        case 2:
          ask(attr::job_ctrl_kill, value::boolean(true));
          break;
        case 3:
          ask(attr::job_ctrl_cancel, {data_type::string, std::monostate{}});
          break;
        case 4:
          world.release();
          break;
        case 5:
          world.end("a", rank);
          break;
        case 6:
          world.elapse(700ms);
          break;
        default:
          world.lost.insert(rank);
      }
    }
    world.holds = false;
    world.release();
    world.elapse(1min);
    for (const auto& x : replies)
      RC_ASSERT(x->count == 1u);
    RC_ASSERT(world.outstanding() == 0u);
  });
  CAF_CHECK(outcome);
}

// -- process sets ------------------------------------------------------------

CAF_TEST(J2 targets become a process set and are named by it) {
  const auto x = request({{"a", 1}, {"b", 0}}, attr::job_ctrl_define_pset,
                         value::string("odd"));
  CAF_CHECK_EQUAL(x->code(), status::success);
  CAF_REQUIRE_EQUAL(sets.size(), 1u);
  CAF_CHECK((sets[0].members == std::vector<proc_id>{{"a", 1}, {"b", 0}}));
  request({{"odd", rank_wildcard}}, attr::job_ctrl_pause);
  CAF_CHECK((asked == texts{"0 pause a 1", "1 pause b 0"}));
  jobs.erase("a");
  jobs.erase("b");
  uut->job_over("b");
  CAF_CHECK_EQUAL(request({{"odd", rank_wildcard}}, attr::job_ctrl_pause,
                          value::boolean(true))
                    ->code(),
                  status::not_found);
}

// -- what others add ---------------------------------------------------------

namespace {

/// A step that waits for an event.
class waiting_step : public control_step {
public:
  explicit waiting_step(std::vector<status>& heard) : heard_(heard) {
    // nop
  }

  void begin(completion done) override {
    done_ = std::move(done);
  }

  control_result cancel() override {
    return {};
  }

  void hear(const event& what) override {
    heard_.push_back(what.code);
    auto result = control_result{};
    if (what.source.rank > 0) {
      result.code = status::timeout;
      result.infos.push_back(with("some.info", value::uint32(7)));
    }
    done_(std::move(result));
  }

private:
  std::vector<status>& heard_;
  completion done_;
};

} // namespace

CAF_TEST(J11 J19 a verb that others offer is a step like any other) {
  auto heard = std::vector<status>{};
  uut->offer(control_verb::checkpoint,
             [&](const control_means&, const control_order& order)
               -> caf::expected<std::shared_ptr<control_step>> {
               if (order.directives.checkpoint == std::string{"bad"})
                 return make_error(status::not_supported, "no method");
               return std::shared_ptr<control_step>{
                 std::make_shared<waiting_step>(heard)};
             });
  const auto directives = [](const std::string& name) {
    return std::vector<info>{
      with(attr::job_ctrl_checkpoint, value::string(name)),
      with(attr::job_ctrl_pause)};
  };
  CAF_CHECK_EQUAL(request({{"a", 0}}, directives("bad"))->code(),
                  status::not_supported);
  const auto good = request({{"a", 0}}, directives("good"));
  CAF_CHECK(asked.empty());
  auto what = event{};
  what.code = status::jctrl_checkpoint_complete;
  what.source = {"a", 0};
  CAF_CHECK(job_controller::listens_to(what.code));
  uut->hear(what);
  CAF_CHECK_EQUAL(good->code(), status::success);
  CAF_CHECK((asked == texts{"0 pause a 0"}));
  // A step that fails ends the request, and its infos are told.
  const auto failed = request({{"a", 0}}, directives("fails"));
  what.source = {"a", 1};
  uut->hear(what);
  CAF_CHECK_EQUAL(failed->code(), status::timeout);
  CAF_CHECK(number<uint32_t>(failed->result.infos, "some.info") == 7u);
  CAF_CHECK_EQUAL(asked.size(), 1u);
}

CAF_TEST(J18 J30 declarations go to who takes them) {
  auto declared = std::vector<control_directives>{};
  uut->take_declarations(
    [&](const requester&, const control_directives& x) -> caf::error {
      if (x.preemptible == false)
        return make_error(status::bad_param, "never");
      declared.push_back(x);
      return caf::none;
    });
  // Targets mean nothing to it.
  CAF_CHECK_EQUAL(request({{"nobody", 9}}, attr::job_ctrl_preemptible)->code(),
                  status::success);
  CAF_CHECK_EQUAL(declared.size(), 1u);
  CAF_CHECK_EQUAL(
    request({}, attr::job_ctrl_preemptible, value::boolean(false))->code(),
    status::bad_param);
  CAF_CHECK_EQUAL(outstanding(), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
