// Who hears of jobs that are not his.

#include "actors/events/event_askers.hpp"

#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr auto code = status::proc_aborted;
const auto tool = proc_id{"tool", 0};
const auto peer = proc_id{"job", 1};
const auto stranger = proc_id{"other", 2};

std::vector<info> directive(std::string_view key, value x) {
  return {{std::string{key}, 0, std::move(x)}};
}

std::vector<info> range(data_range x) {
  return directive(attr::range,
                   value{data_type::data_range, static_cast<uint64_t>(x)});
}

event copy(const std::vector<std::string>& told) {
  return make_copy_for_askers(
    {code,
     {"", rank_undef},
     data_range::session,
     {{std::string{attr::exit_code}, 0, value::integer(3)}}},
    told);
}

} // namespace

CAF_TEST(E13 who registers with a wide range asks for other jobs) {
  CAF_CHECK(!event_askers::asks(peer, {}));
  for (const auto x : {data_range::local, data_range::nspace, data_range::rm,
                       data_range::custom, data_range::proc_local})
    CAF_CHECK(!event_askers::asks(peer, range(x)));
  for (const auto x : {data_range::session, data_range::global})
    CAF_CHECK(event_askers::asks(peer, range(x)));
}

CAF_TEST(E59 who registers for processes of another job asks for it) {
  const auto about = [](std::string_view key, value x) {
    return event_askers::asks(peer, directive(key, std::move(x)));
  };
  CAF_CHECK(!about(attr::event_affected_proc, value::of_proc({"job", 3})));
  CAF_CHECK(about(attr::event_affected_proc, value::of_proc({"other", 3})));
  CAF_CHECK(about(attr::event_affected_procs,
                  value::procs({{"job", 1}, {"other", rank_wildcard}})));
}

CAF_TEST(E13 a copy goes to those who ask and have not been told) {
  auto uut = event_askers{};
  uut.add(1, tool, {code});
  uut.add(2, peer, {code});
  uut.add(3, stranger, {status::timeout});
  auto what = copy({"job"});
  CAF_REQUIRE(event_askers::is_copy(what));
  CAF_CHECK((uut.unwrap(what) == std::vector<proc_id>{tool}));
  CAF_CHECK(!event_askers::is_copy(what));
  CAF_CHECK_EQUAL(what.infos.size(), 1u);
}

CAF_TEST(E13 nobody but the manager marks a copy) {
  auto what = copy({});
  what.source = stranger;
  CAF_CHECK(!event_askers::is_copy(what));
  CAF_CHECK(!event_askers::is_copy(event{}));
}

CAF_TEST(a default handler asks for all until it is gone) {
  auto uut = event_askers{};
  uut.add(1, tool, {});
  uut.add(1, tool, {status::timeout});
  uut.add(2, tool, {}); // Its second connection.
  auto what = copy({});
  CAF_CHECK((uut.unwrap(what) == std::vector<proc_id>{tool}));
  CAF_CHECK((uut.codes() == std::set<status>{status::timeout, default_events}));
  uut.remove(1, {default_events});
  uut.disconnect(2);
  what = copy({});
  CAF_CHECK(uut.unwrap(what).empty());
  CAF_CHECK((uut.codes() == std::set<status>{status::timeout}));
  uut.remove(1, {status::timeout});
  uut.remove(7, {code});
  CAF_CHECK(uut.codes().empty());
}
