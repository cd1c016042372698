// Who gets the output of which processes.

#include "adapters/c_host/output_subscriptions.hpp"

#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

io_pull_request pull(std::vector<proc_id> procs, io_channels channels,
                     uint64_t handler) {
  auto result = io_pull_request{};
  result.procs = std::move(procs);
  result.channels = channels;
  result.handler = handler;
  return result;
}

} // namespace

CAF_TEST(C4.10 output goes to those who asked for process and channel) {
  auto uut = output_subscriptions{};
  const auto tool = asks({"tool", 0}, 7);
  uut.add(tool, pull({{"job", rank_wildcard}}, io_channels::stdout_, 3));
  uut.add(asks({"other", 0}, 8), pull({{"job", 1}}, io_channels::stderr_, 4));
  const auto found = uut.of({"job", 1}, io_channels::stdout_);
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].who.index, 7u);
  CAF_CHECK_EQUAL(found[0].handler, 3u);
  CAF_CHECK_EQUAL(uut.of({"job", 0}, io_channels::stderr_).size(), 0u);
  CAF_CHECK_EQUAL(uut.of({"job", 1}, io_channels::stderr_).size(), 1u);
  CAF_CHECK_EQUAL(uut.of({"else", 1}, io_channels::stdout_).size(), 0u);
}

CAF_TEST(C4.10 a subscription ends by its number or with its connection) {
  auto uut = output_subscriptions{};
  const auto tool = asks({"tool", 0}, 7);
  const auto first = uut.add(tool, pull({{"job", 0}}, io_channels::stdout_, 1));
  uut.add(tool, pull({{"job", 0}}, io_channels::stdout_, 2));
  CAF_CHECK(uut.remove(asks({"thief", 0}, 9), first).procs.empty());
  CAF_CHECK_EQUAL(uut.remove(tool, first).procs.size(), 1u);
  CAF_CHECK(uut.remove(tool, first).procs.empty());
  CAF_CHECK_EQUAL(uut.of({"job", 0}, io_channels::stdout_).size(), 1u);
  uut.remove(tool);
  CAF_CHECK(uut.of({"job", 0}, io_channels::stdout_).empty());
}
