// How the servers of a job meet, call by call: this is node 1 of three. The whole
// of it, with a mesh, is tested in embedded_mesh.test.cpp.

#include "actors/mesh/embedded/job_meeting.hpp"

#include "actors/mesh/embedded/defaults.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using namespace std::chrono_literals;
using phase = job_meeting::phase;

struct meeting_fixture {
  meeting_fixture() : uut(where, effects()) {
    where.map.nspace = "job";
    for (auto rank = uint32_t{0}; rank < 3; ++rank)
      where.map.shares.push_back({rank, "host" + std::to_string(rank), {}});
    where.own = 1;
  }

  job_meeting::effects effects() {
    auto out = job_meeting::effects{};
    out.after = [this](std::chrono::nanoseconds delay, auto then) {
      timers.emplace_back(delay, std::move(then));
    };
    out.trust = [this](uint32_t rank, std::string_view) {
      return rank == distrusted ? make_error(status::no_permissions, "forged")
                                : caf::error{};
    };
    out.fence = [this](host_collective call, auto then) {
      calls.push_back(std::move(call));
      answers.push_back(std::move(then));
    };
    out.join = [this](const job_meeting::greetings& xs) {
      others.clear();
      for (const auto& [rank, unused] : xs)
        others.push_back(rank);
    };
    out.log = [this](severity, const std::string& line) {
      lines.push_back(line);
    };
    return out;
  }

  static mesh_greeting greeting_of(uint32_t rank) {
    return {rank, "n", 7, {{"net", "10.0.0.1", 1}}, "certificate"};
  }

  void begin() {
    auto own = greeting_of(1);
    own.addresses.clear();
    uut.begin(std::move(own));
  }

  static host_collective whole_fence() {
    auto result = host_collective{};
    result.procs = {{"job", rank_wildcard}};
    result.directives = {{std::string{attr::collect_data}, 0, {}}};
    return result;
  }

  void fence(host_collective call = whole_fence()) {
    uut.fence(std::move(call), [this](const auto& x) {
      ended.push_back(x ? status::success : status_of(x.error()));
    });
  }

  /// The host's fence brings the greetings of these.
  void bring(const std::vector<uint32_t>& ranks) {
    auto result = host_collective_result{};
    for (const auto rank : ranks) {
      auto x = host_collective{};
      add_greeting(x, "job", greeting_of(rank));
      result.data.insert(result.data.end(), x.data.begin(), x.data.end());
    }
    answers.back()(std::move(result));
  }

  /// Lets all timers of this length fire.
  void pass(std::chrono::nanoseconds delay) {
    for (auto& [length, then] : std::vector<timer>(timers))
      if (length == delay)
        then();
  }

  void request() {
    uut.when_ready([this](const caf::error& err) {
      requests.push_back(err ? reason_of(err) : "ready");
    });
  }

  using timer = std::pair<std::chrono::nanoseconds, std::function<void()>>;

  registered_map where;
  job_meeting uut;
  uint32_t distrusted = 99;
  std::vector<timer> timers;
  std::vector<host_collective> calls;
  std::vector<job_meeting::fence_handler> answers;
  std::vector<status> ended;
  std::vector<uint32_t> others;
  std::vector<std::string> lines;
  std::vector<std::string> requests;
};

using texts = std::vector<std::string>;

} // namespace

CAF_TEST(O10 servers that have greeted meet when all are live) {
  auto f = meeting_fixture{};
  f.begin();
  f.request();
  CAF_CHECK(f.uut.wants(f.whole_fence()));
  // It greets nobody before it knows where it takes lanes.
  f.fence();
  CAF_CHECK(f.calls.empty());
  f.uut.set_addresses({{"net", "10.0.0.1", 1}});
  CAF_REQUIRE_EQUAL(f.calls.size(), 1u);
  CAF_CHECK_EQUAL(f.calls.front().data.size(), 1u);
  CAF_CHECK(!f.uut.wants(f.whole_fence()));
  f.bring({0, 1, 2});
  CAF_CHECK_EQUAL(f.ended, std::vector<status>{status::success});
  CAF_CHECK_EQUAL(f.others, (std::vector<uint32_t>{0, 2}));
  CAF_CHECK(f.uut.now() == phase::joining);
  for (const auto rank : {1, 0, 2}) {
    CAF_CHECK(f.requests.empty());
    f.uut.note_live(static_cast<uint32_t>(rank), true);
    f.uut.check_complete();
  }
  CAF_CHECK_EQUAL(f.requests, texts{"ready"});
  // Who is lost then does not part the others.
  f.uut.note_live(2, false);
  f.uut.check_complete();
  f.request();
  CAF_CHECK_EQUAL(f.requests.size(), 2u);
  CAF_CHECK_EQUAL(f.uut.live().count(2), 0u);
  CAF_CHECK_EQUAL(f.uut.members().count(2), 1u);
}

CAF_TEST(only a fence of the whole job greets) {
  auto f = meeting_fixture{};
  auto part = f.whole_fence();
  part.procs.front().rank = 0;
  CAF_CHECK(!f.uut.wants(part));
  part = f.whole_fence();
  part.procs.front().nspace = "other";
  CAF_CHECK(!f.uut.wants(part));
  part = f.whole_fence();
  part.procs.push_back({"job", 0});
  CAF_CHECK(!f.uut.wants(part));
}

CAF_TEST(O10 a fence that fails or brings nobody greets again) {
  auto f = meeting_fixture{};
  f.begin();
  f.uut.set_addresses({{"net", "10.0.0.1", 1}});
  f.fence();
  f.answers.back()(make_error(status::timeout));
  CAF_CHECK_EQUAL(f.ended, std::vector<status>{status::timeout});
  CAF_CHECK(f.uut.wants(f.whole_fence()));
  // Without data to collect it says nothing about who is there.
  auto bare = f.whole_fence();
  bare.directives.clear();
  f.fence(bare);
  f.bring({1});
  CAF_CHECK(f.uut.now() == phase::apart);
  CAF_CHECK(f.uut.wants(f.whole_fence()));
  f.fence();
  f.bring({1});
  CAF_CHECK(f.uut.now() == phase::failed);
}

CAF_TEST(X36 a greeting that cannot be trusted is ignored) {
  auto f = meeting_fixture{};
  f.distrusted = 2;
  f.begin();
  f.uut.set_addresses({{"net", "10.0.0.1", 1}});
  f.fence();
  f.bring({0, 0, 2, 17});
  CAF_CHECK_EQUAL(f.others, std::vector<uint32_t>{0});
  CAF_CHECK_EQUAL(f.lines.size(), 3u);
}

CAF_TEST(without the first server there is no mesh) {
  auto f = meeting_fixture{};
  f.begin();
  f.uut.set_addresses({{"net", "10.0.0.1", 1}});
  f.fence();
  f.bring({1, 2});
  CAF_CHECK(f.uut.now() == phase::failed);
  f.request();
  CAF_REQUIRE_EQUAL(f.requests.size(), 1u);
  CAF_CHECK(f.requests.front().find("host0") != std::string::npos);
}

CAF_TEST(requests wait for a bounded time) {
  auto f = meeting_fixture{};
  f.begin();
  f.request();
  f.pass(defaults::mesh_request_wait);
  CAF_REQUIRE_EQUAL(f.requests.size(), 1u);
  CAF_CHECK(f.requests.front().find("have not met") != std::string::npos);
  for (size_t i = 0; i < defaults::mesh_waiting_requests; ++i)
    f.request();
  CAF_CHECK_EQUAL(f.requests.size(), 1u);
  f.request();
  CAF_CHECK_EQUAL(f.requests.size(), 2u);
  f.uut.fail("trouble");
  CAF_CHECK_EQUAL(f.requests.size(), 2u + defaults::mesh_waiting_requests);
  CAF_CHECK_EQUAL(f.requests.back(), "trouble");
}

CAF_TEST(after a while it goes on without who is missing) {
  auto f = meeting_fixture{};
  f.begin();
  f.uut.set_addresses({{"net", "10.0.0.1", 1}});
  f.fence();
  f.bring({0, 2});
  f.uut.note_live(1, true);
  auto g = f.uut.now();
  f.uut.note_live(0, true);
  f.uut.check_complete();
  CAF_CHECK(g == phase::joining);
  f.pass(defaults::mesh_meeting_wait);
  CAF_CHECK(f.uut.now() == phase::ready);
  CAF_CHECK_EQUAL(f.lines.front(), "mesh of job: goes on without host2");
}

CAF_TEST(a node without networks and one without company) {
  auto f = meeting_fixture{};
  f.begin();
  f.fence();
  f.uut.set_addresses({});
  f.uut.set_addresses({{"unix", "@a-name", 0}});
  f.pass(defaults::mesh_network_wait);
  CAF_CHECK(f.uut.now() == phase::failed);
  // The fence goes its way without a greeting.
  CAF_REQUIRE_EQUAL(f.calls.size(), 1u);
  CAF_CHECK(f.calls.front().data.empty());
  auto alone = meeting_fixture{};
  alone.where.map.shares.resize(1);
  alone.where.own = 0;
  alone.uut.stay_alone();
  alone.request();
  CAF_CHECK_EQUAL(alone.requests, texts{"ready"});
}

CAF_TEST(the end of the job refuses what waits) {
  auto f = meeting_fixture{};
  f.begin();
  f.request();
  f.fence();
  f.uut.leave();
  CAF_CHECK_EQUAL(f.requests, texts{"the job is over"});
  CAF_CHECK_EQUAL(f.calls.size(), 1u);
}
