#include "base/supervisor.hpp"

#include "messages/actors.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct worker_state {
  int served = 0;
};

/// Serves what it is asked, and fails at a request for process 13.
usage_actor::behavior_type
worker(usage_actor::stateful_pointer<worker_state> self) {
  return {
    [self](const sample_memory& request) -> caf::result<memory_samples> {
      if (!request.pids.empty() && request.pids.front() == 13) {
        self->quit(caf::exit_reason::unhandled_exception);
        return make_error(status::error, "thirteen");
      }
      ++self->state.served;
      auto result = memory_samples{};
      result.bytes.resize(static_cast<size_t>(self->state.served));
      return result;
    },
    [](const sample_usage&) { return usage_samples{}; },
  };
}

struct fixture : fixtures::deterministic {
  usage_actor start() {
    auto how = supervision{};
    how.what = "counter";
    how.log = [this](severity, const std::string& line) {
      lines.push_back(line);
    };
    how.on_given_up = [this](const std::string&) { ++given_up; };
    return supervise<usage_actor>(
      sys, [this] { return sys.spawn(worker); }, how);
  }

  /// @returns how many requests the present worker has served.
  size_t ask(const usage_actor& who) {
    return request<memory_samples>(who, sample_memory{}).bytes.size();
  }

  void break_once(const usage_actor& who) {
    refusal<memory_samples>(who, sample_memory{{13}});
  }

  std::vector<std::string> lines;
  int given_up = 0;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(supervisor_tests, fixture)

CAF_TEST(LIM26 an actor that fails is started again behind the same handle) {
  const auto who = start();
  CAF_CHECK_EQUAL(ask(who), 1u);
  CAF_CHECK_EQUAL(ask(who), 2u);
  break_once(who);
  CAF_CHECK_EQUAL(ask(who), 1u);
  CAF_REQUIRE_EQUAL(lines.size(), 1u);
  CAF_CHECK(lines.front().find("counter") != std::string::npos);
  CAF_CHECK_EQUAL(given_up, 0);
  end(who);
}

CAF_TEST(LIM26 an actor that fails too often is given up and says so) {
  const auto who = start();
  for (auto i = 0; i < 5; ++i) {
    break_once(who);
    CAF_CHECK_EQUAL(ask(who), 1u);
  }
  break_once(who);
  CAF_CHECK_EQUAL(given_up, 1);
  const auto why = refusal<memory_samples>(who, sample_memory{});
  CAF_CHECK(status_of(why) == status::unreach);
  end(who);
}

CAF_TEST(LIM26 failures that are far apart are no reason to give up) {
  const auto who = start();
  for (auto i = 0; i < 20; ++i) {
    break_once(who);
    CAF_CHECK_EQUAL(ask(who), 1u);
    elapse(3s);
  }
  CAF_CHECK_EQUAL(given_up, 0);
  end(who);
}

CAF_TEST_FIXTURE_SCOPE_END()
