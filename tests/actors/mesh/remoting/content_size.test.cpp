// How large messages are before somebody writes them.

#include "actors/mesh/remoting/content_size.hpp"

#include "actors/mesh/remoting/content_writer.hpp"
#include "messages/status.hpp"
#include "messages/wire_types.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace troupe;
using namespace remoting_test;

namespace {

constexpr size_t no_limit = SIZE_MAX;

/// No handles are written here.
struct no_giver : content_writer::giver {
  wire_handle give(const member_name&, caf::actor_id) override {
    return {};
  }

  std::optional<wire_handle> give_foreign(const caf::node_id&,
                                          caf::actor_id) override {
    return std::nullopt;
  }
};

caf::behavior idle() {
  return {[](int32_t) {}};
}

struct fixture : fixtures::deterministic {
  caf::scoped_execution_unit unit{&sys};
  type_table types;

  fixture() {
    types.add(wire_types<reading, std::vector<std::string>>());
  }

  /// What it has when it is written.
  size_t written(const caf::message& x) {
    auto giver = no_giver{};
    auto out = std::string{};
    auto writer = content_writer{&unit, types, giver, out, no_limit / 2};
    CAF_CHECK(!writer.write(x));
    return out.size();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(content_size_tests, fixture)

CAF_TEST(ACT-10 messages are counted as large as they are written) {
  auto weather_report = reading{"north", 2.5, {}};
  for (uint32_t i = 0; i < 100; ++i)
    weather_report.counts[std::to_string(i)] = std::vector<uint32_t>(i, i);
  const caf::message messages[] = {
    caf::make_message(int32_t{1}, uint64_t{2}, 0.5),
    caf::make_message(std::string(100'000, 'x'), std::string{}),
    caf::make_message(std::vector<std::string>(1000, std::string(200, 'x'))),
    caf::make_message(weather_report, weather_report)};
  for (const auto& x : messages) {
    const auto size = count_content(x, no_limit);
    const auto real = written(x);
    CAF_CHECK(size.is_whole);
    // Codes and names of types are not counted.
    CAF_CHECK(size.bytes <= real + 8);
    CAF_CHECK(size.bytes + 64 + size.bytes / 100 >= real);
  }
  CAF_CHECK_EQUAL(count_content(caf::message{}, no_limit).bytes, 0u);
}

CAF_TEST(ACT-10 counting ends above what is of interest) {
  const auto x = caf::make_message(
    std::vector<std::string>(1000, std::string(1000, 'x')), int32_t{1});
  const auto size = count_content(x, 10'000);
  CAF_CHECK(size.bytes > 10'000);
  CAF_CHECK(size.bytes < 13'000);
}

CAF_TEST(ACT-10 messages and reasons within a message are counted) {
  const auto text = std::string(1000, 'x');
  const caf::message messages[] = {
    caf::make_message(int32_t{1}, caf::make_message(text)),
    caf::make_message(make_error(status::not_found, text))};
  for (const auto& x : messages) {
    const auto size = count_content(x, no_limit);
    CAF_CHECK(size.is_whole);
    CAF_CHECK(size.bytes > 1000);
    CAF_CHECK(size.bytes < 1200);
  }
  CAF_CHECK(count_content(caf::make_message(caf::error{}), no_limit).is_whole);
}

CAF_TEST(ACT-10 handles are left alone and those within a value are said) {
  const auto one = sys.spawn(idle);
  const auto known = sys.registry().get<caf::strong_actor_ptr>(one.id());
  const auto size =
    count_content(caf::make_message(one, std::string(1000, 'x')), no_limit);
  CAF_CHECK(size.is_whole);
  CAF_CHECK(size.bytes > 1000);
  CAF_CHECK(size.bytes < 1200);
  auto names = roster{};
  names.members["a"] = {caf::actor_cast<adder>(one)};
  const auto other =
    count_content(caf::make_message(names, std::string(1000, 'x')), no_limit);
  CAF_CHECK(!other.is_whole);
  CAF_CHECK(other.bytes > 1000);
  const auto handles = std::vector<caf::actor>(100, one);
  CAF_CHECK(!count_content(caf::make_message(handles), no_limit).is_whole);
  // Nor does CAF know it by its number now.
  CAF_CHECK(!known);
  CAF_CHECK(!sys.registry().get<caf::strong_actor_ptr>(one.id()));
  caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  consume_messages();
}

CAF_TEST_FIXTURE_SCOPE_END()
