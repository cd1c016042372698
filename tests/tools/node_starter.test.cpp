// Starting daemons by remote shells: here the shell of this machine.

#include "tools/node_starter.hpp"

#include "tests/test.hpp"

#include <map>

using namespace troupe;

namespace {

struct fixture {
  event_loop loop;
  std::map<uint32_t, node_outcome> outcomes;
  std::vector<uint32_t> ended;
  size_t expected = 0;
  node_starter::settings settings;

  fixture() {
    settings.patience = std::chrono::seconds{30};
    settings.on_outcome = [this](const node_outcome& x) {
      CAF_CHECK(outcomes.emplace(x.rank, x).second);
      if (outcomes.size() == expected && !settings.stays)
        loop.stop();
    };
    settings.on_end = [this](uint32_t rank) {
      ended.push_back(rank);
      loop.stop();
    };
  }

  /// A daemon that is a script; its standard input is `input`.
  static node_start script(uint32_t rank, const std::string& text,
                           const std::string& input = {}) {
    auto result = node_start{};
    result.rank = rank;
    result.host = "n" + std::to_string(rank);
    result.command = {"sh", "-c", text};
    result.input = secret{input.size()};
    std::copy(input.begin(), input.end(), result.input.data());
    return result;
  }

  void run(std::vector<node_start> nodes) {
    expected = nodes.size();
    auto starter = node_starter{loop, settings};
    starter.start(std::move(nodes));
    // What fails at once needs no loop.
    if (outcomes.size() < expected)
      loop.run();
  }

  std::string failure(node_start x) {
    auto nodes = std::vector<node_start>{};
    nodes.push_back(std::move(x));
    run(std::move(nodes));
    CAF_REQUIRE_EQUAL(outcomes.size(), 1u);
    CAF_CHECK(!outcomes.begin()->second.joined);
    return outcomes.begin()->second.failure;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_starter_tests, fixture)

CAF_TEST(a daemon gets its secret whole and says that it has joined) {
  auto nodes = std::vector<node_start>{};
  nodes.push_back(
    script(1, "echo motd; echo joined $(wc -c)", std::string(200'000, 'x')));
  run(std::move(nodes));
  const auto& x = outcomes.at(1);
  CAF_REQUIRE(x.joined);
  CAF_CHECK_EQUAL(x.joined->slots, 200'000u);
  CAF_CHECK_EQUAL(x.host, "n1");
}

CAF_TEST(all are started when only some may be at a time) {
  settings.at_a_time = 3;
  auto nodes = std::vector<node_start>{};
  for (uint32_t rank = 1; rank <= 20; ++rank)
    nodes.push_back(script(rank, "cat >/dev/null; echo joined 1"));
  run(std::move(nodes));
  CAF_CHECK_EQUAL(outcomes.size(), 20u);
  for (const auto& x : outcomes)
    CAF_CHECK(x.second.joined);
}

CAF_TEST(what the remote shell said is part of the reason) {
  CAF_CHECK_EQUAL(
    failure(script(4, "echo first >&2; echo 'ssh: No route to host' >&2; "
                      "exit 255")),
    "cannot start a daemon on n4: ssh: No route to host; check that `sh ... n4 "
    "true` works without a question");
}

CAF_TEST(what our daemon said is the reason) {
  CAF_CHECK_EQUAL(failure(script(4, "echo 'trouped: no network' >&2; exit 3")),
                  "n4: no network");
}

CAF_TEST(a program that is not there is told apart) {
  const auto text = failure(script(4, "exec /no/such/trouped"));
  CAF_CHECK(text.find("--launch-agent") != std::string::npos);
  CAF_CHECK(text.find("n4") != std::string::npos);
}

CAF_TEST(an answer does not count if the shell failed) {
  CAF_CHECK_EQUAL(failure(script(4, "echo joined 1; exit 9")),
                  "cannot start a daemon on n4: joined 1; check that `sh ... "
                  "n4 true` works without a question");
}

CAF_TEST(X31 what a remote shell says cannot reach the terminal) {
  const auto text = failure(script(4, "printf '\\033[1mx\\n' >&2; exit 1"));
  CAF_CHECK(text.find('\x1b') == std::string::npos);
}

CAF_TEST(a remote shell that is not there is named) {
  auto node = script(4, "");
  node.command = {"/no/such/shell", "n4"};
  const auto text = failure(std::move(node));
  CAF_CHECK(text.find("/no/such/shell") != std::string::npos);
}

CAF_TEST(a daemon that does not answer is given up) {
  settings.patience = std::chrono::milliseconds{20};
  const auto text = failure(script(4, "exec sleep 60"));
  CAF_CHECK(text.find("n4: no answer within the time-out")
            != std::string::npos);
}

CAF_TEST(a shell that stays reports joining and then its end) {
  settings.stays = true;
  auto nodes = std::vector<node_start>{};
  nodes.push_back(script(7, "cat >/dev/null; echo joined 2; exec 1>&-"));
  run(std::move(nodes));
  CAF_CHECK(outcomes.at(7).joined);
  CAF_CHECK_EQUAL(ended, std::vector<uint32_t>{7});
}

CAF_TEST_FIXTURE_SCOPE_END()
