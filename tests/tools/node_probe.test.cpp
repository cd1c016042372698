// How `troupe doctor` asks a node, whatever is started for it.

#include "tools/node_probe.hpp"

#include "adapters/process/descriptors.hpp"
#include "tests/test.hpp"

#include <sys/wait.h>

#include <string>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// A limit that nothing comes near, unless it is to.
constexpr auto long_time = 60s;

probe_outcome ask(const std::string& script,
                  std::chrono::milliseconds limit = long_time) {
  ignore_broken_pipes();
  auto what = probe_request{};
  what.directory =
    std::string(size_t{200} << 10, 'x'); // More than a pipe holds.
  return probe_node({"/bin/sh", "-c", script}, what, limit);
}

constexpr auto answer = R"(echo 'troupe-probe-1 {"cpus": 2}')";

} // namespace

CAF_TEST(OPS-D2 no more nodes are asked at a time than there are descriptors for) {
  constexpr auto each = defaults::probe_places + 4; // Its pipes, and its end.
  for (const auto free : {uint64_t{200}, uint64_t{1024}, uint64_t{4096}})
    CAF_CHECK(probes_at_a_time(free, 1000) * each <= free);
  CAF_CHECK(probes_at_a_time(1024, 1000) > 8u);
  CAF_CHECK_EQUAL(probes_at_a_time(0, 1000), 1u);
  CAF_CHECK_EQUAL(probes_at_a_time(1 << 20, 1000), 64u);
  CAF_CHECK_EQUAL(probes_at_a_time(1 << 20, 3), 3u);
  CAF_CHECK_EQUAL(probes_at_a_time(1 << 20, 0), 0u);
}

CAF_TEST(OPS-D2 the answer of a node ends the wait) {
  const auto got = ask("read x; echo Welcome; echo mail >&2; "
                       + std::string{answer} + "; cat >/dev/null");
  CAF_REQUIRE(got.facts);
  CAF_CHECK_EQUAL(got.facts->cpus, 2u);
  CAF_CHECK(!got.is_late && !got.is_garbled);
  CAF_CHECK(got.before_ms > 0 && got.before_ms <= got.after_ms);
  CAF_CHECK(got.status == 0);
}

CAF_TEST(OPS-D2 what ends without an answer has said why) {
  const auto got = ask("echo hello; echo no entry >&2; exit 7");
  CAF_CHECK(!got.facts && !got.is_late && !got.is_garbled);
  CAF_CHECK_EQUAL(got.output, "hello\n");
  CAF_CHECK_EQUAL(got.errors, "no entry\n");
  CAF_REQUIRE(got.status);
  CAF_CHECK(WIFEXITED(*got.status) && WEXITSTATUS(*got.status) == 7);
}

CAF_TEST(OPS-D2 an answer that is none of ours is noticed) {
  const auto got = ask("echo 'troupe-probe-1 {\"cpus\": -1}'; exec sleep 1000");
  CAF_CHECK(!got.facts && got.is_garbled && !got.is_late);
}

CAF_TEST(OPS-D2 what does not answer is ended with all that it has started) {
  const auto got = ask("sleep 1000 & sleep 1000", 100ms);
  CAF_CHECK(got.is_late && !got.facts);
  CAF_CHECK(!got.status);
}

CAF_TEST(OPS-D2 what is left behind and goes on writing holds nobody up) {
  const auto got = ask("yes & yes >&2 & exit 3");
  CAF_CHECK(!got.facts && !got.is_late);
  CAF_CHECK(got.output.size() <= size_t{16384});
  CAF_CHECK(got.errors.size() <= size_t{16384});
  CAF_REQUIRE(got.status);
  CAF_CHECK_EQUAL(WEXITSTATUS(*got.status), 3);
}

CAF_TEST(OPS-D2 a command that is not there is no node) {
  ignore_broken_pipes();
  const auto got = probe_node({"/no/such/shell", "n1"}, {}, long_time);
  CAF_CHECK(got.failure.find("/no/such/shell") != std::string::npos);
  CAF_CHECK(!got.facts && !got.status);
}
