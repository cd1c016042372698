#include "adapters/local/local_service.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::shared_ptr<const job_info> job(std::string nspace) {
  auto result = std::make_shared<job_info>();
  result->nspace = std::move(nspace);
  result->entries.push_back({"pmix.job.size", value::uint32(1)});
  return result;
}

} // namespace

CAF_TEST(a job is packed once for all clients of one dialect) {
  job_info_cache uut;
  const auto info = job("job");
  wire::dialect flex;
  wire::dialect fixed;
  fixed.module = wire::packing_module::v3;
  const auto first = uut.packed(info, flex);
  CAF_REQUIRE(first);
  const auto second = uut.packed(info, flex);
  CAF_REQUIRE(second);
  CAF_CHECK(*first == *second);
  const auto other = uut.packed(info, fixed);
  CAF_REQUIRE(other);
  CAF_CHECK(**other != **first);
}

CAF_TEST(new data of a job is packed anew) {
  job_info_cache uut;
  auto info = job("one");
  const auto first = **uut.packed(info, {});
  info.reset();
  for (auto i = 0; i < 20; ++i) { // One of them gets the old address.
    info = job("two");
    CAF_CHECK(**uut.packed(info, {}) != first);
    info.reset();
  }
}

CAF_TEST(many jobs do not fill the memory) {
  job_info_cache uut;
  std::vector<std::shared_ptr<const job_info>> jobs;
  for (auto i = 0; i < 50; ++i)
    jobs.push_back(job("job" + std::to_string(i)));
  std::vector<std::weak_ptr<const std::string>> payloads;
  for (const auto& x : jobs)
    payloads.push_back(*uut.packed(x, {}));
  size_t kept = 0;
  for (const auto& x : payloads)
    kept += x.expired() ? 0 : 1;
  CAF_CHECK_EQUAL(kept, job_info_cache::max_entries);
}
