// Kinds of monitors of a node: what one does to the others.

#include "runtime/node_monitors.hpp"

#include "messages/status.hpp"
#include "tests/adapters/process/world.hpp"

#include <atomic>
#include <stdexcept>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Where watchers that hang are let go.
std::atomic<bool> may_end{false};

/// Does not come back from its second look.
struct hanging : watcher {
  explicit hanging(const start_monitor&) {
    // nop
  }

  std::string look() override {
    while (++looks > 1 && !may_end)
      usleep(1000);
    return {};
  }

  int looks = 0;
};

struct throwing : watcher {
  explicit throwing(const start_monitor&) {
    // nop
  }

  std::string look() override {
    if (++looks > 1)
      throw std::runtime_error{"cannot look"};
    return {};
  }

  int looks = 0;
};

/// Has something to tell at its second look.
struct telling : watcher {
  explicit telling(const start_monitor& what) : rank(what.proc.rank) {
    // nop
  }

  std::string look() override {
    return ++looks > 1 ? "rank " + std::to_string(rank) : "";
  }

  uint32_t rank;
  int looks = 0;
};

struct fixture : fixtures::world {
  std::vector<std::string> alerts;
  monitor_user_actor user;
  std::unique_ptr<node_monitors> uut;
  std::vector<monitor_actor> started;

  fixture() {
    may_end = false;
    user = sys.actors().spawn(
      [this](monitor_user_actor::pointer) -> monitor_user_actor::behavior_type {
        return {[this](const monitor_alert& x) {
          alerts.push_back(x.reason);
          check();
        }};
      });
    auto options = node_monitors_options{};
    options.server = {"server", 0};
    options.log = [this](severity, const std::string& line) {
      journal_lines.push_back(line);
    };
    uut = std::make_unique<node_monitors>(sys, std::move(options));
  }

  ~fixture() {
    may_end = true;
    for (const auto& x : started)
      caf::anon_send(x, stop_monitor{});
    run_for(10ms);
    started.clear();
    user = nullptr;
    uut = nullptr;
  }

  /// Starts a monitor without waiting for it.
  auto begin(const std::string& kind, uint32_t rank) {
    auto made = uut->kinds()->make(kind);
    CAF_REQUIRE(made);
    auto what = start_monitor{};
    what.number = started.size();
    what.proc = {"job", rank};
    started.push_back(made->actor);
    return request<ack>(made->actor, what, user);
  }

  status start(const std::string& kind, uint32_t rank) {
    const auto got = begin(kind, rank);
    CAF_REQUIRE(run_until([&] { return got->has_come(); }));
    return got->value ? status::success : *got->refusal;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_monitors_tests, fixture)

CAF_TEST(C11.5 monitors that hang or throw leave those of other kinds alone) {
  CAF_CHECK(!uut->add("hanging", watchers<hanging>(10ms)));
  CAF_CHECK(!uut->add("throwing", watchers<throwing>(10ms)));
  CAF_CHECK(!uut->add("telling", watchers<telling>(10ms)));
  for (uint32_t i = 0; i < 20; ++i)
    begin("hanging", i);
  CAF_CHECK_EQUAL(start("throwing", 0), status::success);
  for (uint32_t i = 0; i < 20; ++i)
    CAF_CHECK_EQUAL(start("telling", i), status::success);
  CAF_CHECK(run_until([&] { return alerts.size() == 20; }));
  CAF_CHECK(run_until([&] { return !journal_lines.empty(); }));
  CAF_CHECK_EQUAL(journal_lines.at(0),
                  "a monitor of job:0 cannot look: throwing: cannot look");
}

CAF_TEST(C11.1 a kind that cannot work is refused when it is added) {
  const auto refused = [&](const monitor_kind& x) {
    return status_of(uut->add("kind", x)) == status::bad_param;
  };
  CAF_CHECK(refused(monitor_kind{}));
  CAF_CHECK(refused(watcher_kind{1s, {}}));
  CAF_CHECK(refused(watchers<telling>(9ms)));
  CAF_CHECK(refused(watchers<telling>(std::chrono::hours{24 * 366})));
  CAF_CHECK(!uut->add("kind", watchers<telling>(10ms)));
  CAF_CHECK_EQUAL(status_of(uut->add("kind", watchers<telling>(10ms))),
                  status::exists);
}

CAF_TEST(C11.1 a kind may be an actor) {
  const auto kind = [](caf::actor_system& to) -> monitor_actor {
    return to.spawn(
      [](monitor_actor::pointer self) -> monitor_actor::behavior_type {
        return {
          [self](const start_monitor& what, const monitor_user_actor& to) {
            self->send(to, monitor_alert{what.number, "at once", {}});
            return ack{};
          },
          [self](stop_monitor) { self->quit(); }};
      });
  };
  CAF_CHECK(!uut->add("actor", kind));
  CAF_CHECK_EQUAL(start("actor", 0), status::success);
  CAF_CHECK(run_until([&] { return !alerts.empty(); }));
}

CAF_TEST_FIXTURE_SCOPE_END()
