// How many descriptors processes need, and who is refused for want of them.

#include "actors/jobs/descriptor_budget.hpp"

#include "messages/status.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

start_process plain() {
  auto result = start_process{};
  result.program = "prog";
  return result;
}

struct fixture {
  descriptor_use now{100, 20, 10};
  descriptor_budget budget{[this] { return now; }};

  /// Four descriptors each.
  bool takes(const std::string& nspace, size_t n) {
    const auto xs = std::vector<start_process>(n, plain());
    const auto err = budget.take(nspace, xs, files, "node7");
    if (err)
      reason = reason_of(err);
    if (err)
      CAF_CHECK_EQUAL(status_of(err), status::sys_limits_files);
    return !err;
  }

  uint64_t files = 0;
  std::string reason;
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(descriptor_budget_tests, fixture)

CAF_TEST(FIT-1 each stream of a process is a descriptor) {
  auto x = plain();
  // Output, errors, its end, its connection.
  CAF_CHECK_EQUAL(descriptors_for(x), 4u);
  x.with_stdin = true;
  CAF_CHECK_EQUAL(descriptors_for(x), 5u);
  x.with_stddiag = true;
  CAF_CHECK_EQUAL(descriptors_for(x), 6u);
  x.with_pmi1 = true;
  CAF_CHECK_EQUAL(descriptors_for(x), 7u);
  x.merges_stderr = true;
  CAF_CHECK_EQUAL(descriptors_for(x), 6u);
  x.merges_stderr = false;
  x.with_pty = true;
  CAF_CHECK_EQUAL(descriptors_for(x), 6u);
}

CAF_TEST(FIT-1 what fits to the last descriptor is taken) {
  now.limit = 20 + 10 + 16;
  CAF_CHECK(takes("a", 4));
  budget.give_back("a");
  CAF_CHECK(!takes("a", 5));
}

CAF_TEST(FIT-1 a refusal names limit and value and need and node) {
  now.limit = 64;
  CAF_CHECK(!takes("a", 10));
  CAF_CHECK_EQUAL(reason,
                  "the limit of open files (ulimit -n) is 64 on node7, and 10 "
                  "processes there need 70 (40, 20 in use, 10 in reserve); "
                  "raise its hard value (ulimit -Hn), or start fewer");
}

CAF_TEST(FIT-1 what is promised counts before it is in use) {
  CAF_CHECK(takes("a", 10)); // 40 of 70
  CAF_CHECK(!takes("b", 8));
  CAF_CHECK(takes("b", 7));
  budget.give_back("a");
  budget.give_back("a");
  CAF_CHECK(takes("c", 10));
  CAF_CHECK(!takes("d", 1));
}

CAF_TEST(FIT-1 what is in use is not counted twice) {
  CAF_CHECK(takes("a", 10));
  now.in_use += 40; // They run.
  CAF_CHECK(takes("b", 7));
}

CAF_TEST(FIT-1 what others opened meanwhile counts) {
  CAF_CHECK(takes("a", 1));
  now.in_use = 88;
  CAF_CHECK(!takes("b", 1));
  now.in_use = 86;
  CAF_CHECK(takes("b", 1));
}

CAF_TEST(FIT-1 files of output are part of the need) {
  now.limit = 20 + 10 + 16;
  files = 1;
  CAF_CHECK(!takes("a", 4));
  now.limit += 1;
  CAF_CHECK(takes("a", 4));
}

CAF_TEST(FIT-1 a limit below what is in use refuses) {
  now.limit = 8;
  CAF_CHECK(!takes("a", 1));
}

CAF_TEST_FIXTURE_SCOPE_END()
