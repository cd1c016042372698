// Reading happens beside the loop.

#include "adapters/sensors/pool_reader.hpp"

#include "adapters/loop/thread_pool.hpp"
#include "tests/adapters/process/world.hpp"

#include <thread>

using namespace troupe;

namespace {

struct fixture : fixtures::world {
  bool has_pool = true;

  sensor_reader_actor make(std::function<sensor_readings()> read) {
    const auto post = [this](std::function<void()> work,
                             std::function<void()> done) {
      return has_pool && sys.pool().post(std::move(work), std::move(done));
    };
    return sys.actors().spawn(pool_reader, work_poster{post}, std::move(read));
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(pool_reader_tests, fixture)

CAF_TEST(E4 a reader reads on a thread of the pool) {
  const auto loop = std::this_thread::get_id();
  const auto uut = make([loop] {
    return sensor_readings{
      {}, std::this_thread::get_id() == loop ? "loop" : "pool"};
  });
  const auto x = ask<sensor_readings>(uut, read_sensors{});
  CAF_REQUIRE(x.value);
  CAF_CHECK_EQUAL(x.value->trouble, "pool");
}

CAF_TEST(E4 what throws is a reading that failed) {
  const auto uut =
    make([]() -> sensor_readings { throw std::runtime_error{"odd"}; });
  const auto x = ask<sensor_readings>(uut, read_sensors{});
  CAF_REQUIRE(x.value);
  CAF_CHECK_EQUAL(x.value->trouble, "cannot be read");
}

CAF_TEST(E4 a reader without threads says so) {
  const auto uut = make([] { return sensor_readings{}; });
  has_pool = false;
  const auto x = ask<sensor_readings>(uut, read_sensors{});
  CAF_CHECK(x.refusal == status::resource_busy);
}

CAF_TEST_FIXTURE_SCOPE_END()
