// The way of records to the disk and back, past the loop.

#include "adapters/spool/spool.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <filesystem>

using namespace troupe;

CAF_TEST_FIXTURE_SCOPE(spool_tests, fixtures::world)

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
