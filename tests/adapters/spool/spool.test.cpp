// The way of records to the disk and back, past the loop.

#include "adapters/spool/spool.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <filesystem>

using namespace troupe;

namespace {

/// How many files below a directory are open.
size_t open_files(const std::filesystem::path& where) {
  auto result = size_t{0};
  for (const auto& x : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    auto ignored = std::error_code{};
    const auto target = std::filesystem::read_symlink(x.path(), ignored);
    result += target.string().rfind(where.string() + '/', 0) == 0 ? 1 : 0;
  }
  return result;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(spool_tests, fixtures::world)

CAF_TEST(LIM9 the space of the last log goes back to the file system) {
  const auto where = std::filesystem::temp_directory_path()
                     / ("troupe-spool-space-" + std::to_string(::getpid()));
  std::filesystem::create_directory(where);
  const auto uut = spawn_spool(sys.actors(), sys.pool(), where);
  for (const uint64_t log : {1, 2})
    for (uint64_t n = 1; n <= 30; ++n)
      CAF_REQUIRE(
        ask<ack>(uut, write_spool{log, {{n, std::string(100000, 'x')}}}).value);
  CAF_CHECK_EQUAL(open_files(where), 1u);
  caf::anon_send(uut, erase_spool{1, {}});
  CAF_CHECK_EQUAL(
    ask<spool_content>(uut, read_spool{2, {7}}).value->records.size(), 1u);
  CAF_CHECK_EQUAL(open_files(where), 1u);
  caf::anon_send(uut, erase_spool{2, {}});
  CAF_CHECK(ask<spool_content>(uut, read_spool{2, {7}}).value->records.empty());
  CAF_CHECK_EQUAL(open_files(where), 0u);
  CAF_REQUIRE(ask<ack>(uut, write_spool{3, {{1, "again"}}}).value);
  CAF_CHECK_EQUAL(
    ask<spool_content>(uut, read_spool{3, {1}}).value->records.size(), 1u);
  caf::anon_send_exit(uut, caf::exit_reason::user_shutdown);
  std::filesystem::remove_all(where);
}

CAF_TEST(LIM9 records are written and read and erased in the order asked) {
  const auto where = std::filesystem::temp_directory_path()
                     / ("troupe-spool-" + std::to_string(::getpid()));
  std::filesystem::create_directory(where);
  const auto uut = spawn_spool(sys.actors(), sys.pool(), where);
  // Before anything was written there is nothing, and no file.
  CAF_CHECK(ask<spool_content>(uut, read_spool{1, {1}}).value->records.empty());
  for (uint64_t n = 1; n <= 200; ++n)
    CAF_REQUIRE(
      ask<ack>(uut, write_spool{1, {{n, std::string(1000, 'x')}}}).value);
  caf::anon_send(uut, erase_spool{1, {7}});
  const auto found = ask<spool_content>(uut, read_spool{1, {6, 7, 8}});
  CAF_REQUIRE(found.value);
  CAF_REQUIRE_EQUAL(found.value->records.size(), 2u);
  CAF_CHECK_EQUAL(found.value->records[1].number, 8u);
  CAF_CHECK_EQUAL(found.value->records[1].bytes, std::string(1000, 'x'));
  caf::anon_send_exit(uut, caf::exit_reason::user_shutdown);
  std::filesystem::remove_all(where);
}

CAF_TEST_FIXTURE_SCOPE_END()
