// Output for those who spawn a job: what they get of which streams.

#include "adapters/c_host/c_host_streams.hpp"

#include "actors/io/io_options.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/builders.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace troupe::fixtures;

namespace {

constexpr auto out = io_channels::stdout_;
constexpr auto err = io_channels::stderr_;
constexpr auto diag = io_channels::stddiag;

struct row {
  const char* what;
  peer_role role;
  std::vector<info> infos;
  io_channels channels;
};

info no(std::string_view key) {
  return with(key, value::boolean(false));
}

} // namespace

CAF_TEST(I15 C4.10 output of a job for those who spawn it) {
  const auto tool = peer_role::tool_with_identity;
  const auto process = peer_role::client;
  const auto all = united(united(out, err), diag);
  const auto rows = std::vector<row>{
    {"a tool gets all", tool, {}, all},
    {"but for what it refuses",
     tool,
     {no(attr::fwd_stdout)},
     united(err, diag)},
    {"or nothing",
     tool,
     {no(attr::fwd_stdout), no(attr::fwd_stderr), no(attr::fwd_stddiag)},
     io_channels::none},
    {"a process gets nothing", process, {}, io_channels::none},
    {"but for what it asks for", process, {with(attr::fwd_stderr)}, err},
    {"and not what it refuses",
     process,
     {with(attr::fwd_stdout), no(attr::fwd_stderr)},
     out},
  };
  for (const auto& x : rows) {
    CAF_MESSAGE(x.what);
    auto who = asks({"job", 0});
    who.role = x.role;
    const auto result = c_host_streams::forwarded(who, x.infos);
    CAF_CHECK(result.how.channels == x.channels);
    CAF_CHECK_EQUAL(result.how.name, to_string(who.proc));
    CAF_CHECK_EQUAL(result.directives, x.infos);
  }
}

CAF_TEST(I18 the oldest or the newest output is dropped on demand) {
  const auto policy = [](std::vector<info> infos) {
    return c_host_streams::forwarded(asks({"job", 0}), infos).how.policy;
  };
  CAF_CHECK(policy({with(attr::iof_drop_oldest)}) == io_policy::drop_oldest);
  CAF_CHECK(policy({with(attr::iof_drop_newest)}) == io_policy::drop_newest);
  CAF_CHECK(policy({}) == io_subscription{}.policy);
}
