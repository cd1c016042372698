#include "tools/run_options.hpp"

#include "actors/data/job_memory.hpp"
#include "actors/jobs/job_options.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

run_options parse(std::vector<std::string> args) {
  auto x = parse_run(std::move(args));
  auto* result = std::get_if<run_options>(&x);
  if (result == nullptr)
    CAF_FAIL("it is refused");
  return std::move(*result);
}

bool shares_memory(const run_options& x) {
  return !flag(x.job.job_infos, no_shared_memory_key);
}

} // namespace

CAF_TEST(a job that shares no memory takes that with it to its DVM) {
  const auto x = parse({"--dvm", "--no-shared-memory", "-n", "2", "true"});
  CAF_CHECK(x.dvm.has_value());
  CAF_CHECK(!shares_memory(x));
  CAF_CHECK(shares_memory(parse({"--dvm", "-n", "2", "true"})));
}

CAF_TEST(a launcher of its own shares none with anybody then) {
  const auto x = parse({"--no-shared-memory", "-n", "2", "true"});
  CAF_CHECK(!x.node.share_memory);
  CAF_CHECK(!shares_memory(x));
}

CAF_TEST(SPW-3 a job stops for a debugger by a flag or by a runtime option) {
  const auto stops = [](std::vector<std::string> args) {
    args.insert(args.end(), {"-n", "2", "true"});
    const auto options = read_options(parse(std::move(args)).job);
    CAF_REQUIRE(options);
    return options->stops;
  };
  CAF_CHECK(!stops({}).any());
  CAF_CHECK(stops({"--stop-in-init"}).in_init == rank_wildcard);
  CAF_CHECK(!stops({"--stop-in-init"}).in_app);
  CAF_CHECK(stops({"--stop-in-app"}).in_app == rank_wildcard);
  const auto both = stops({"--rtos", "stop-in-init,stop-in-app"});
  CAF_CHECK(both.in_init == rank_wildcard);
  CAF_CHECK(both.in_app == rank_wildcard);
}
