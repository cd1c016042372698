// The command line of `troupe events`.

#include "messages/attributes.hpp"
#include "tests/test.hpp"
#include "tools/events.hpp"

using namespace troupe;

namespace {

template <class T>
T parse(std::vector<std::string> args) {
  auto x = parse_events_options(std::move(args));
  auto* order = std::get_if<events_order>(&x);
  if (order == nullptr || !std::holds_alternative<T>(*order))
    CAF_FAIL("not what was asked for");
  return std::move(std::get<T>(*order));
}

int refused(std::vector<std::string> args) {
  auto x = parse_events_options(std::move(args));
  const auto* result = std::get_if<int>(&x);
  return result != nullptr ? *result : -1;
}

event about(status code, const proc_id& proc) {
  auto x = event{};
  x.code = code;
  x.infos = {{std::string{attr::event_affected_proc}, 0, value::of_proc(proc)}};
  return x;
}

} // namespace

CAF_TEST(a watch is of all events unless codes are given) {
  const auto all = parse<watch_events>({"watch"});
  CAF_CHECK(all.choice.codes.empty());
  CAF_CHECK(all.range == data_range::session);
  CAF_CHECK_EQUAL(all.count, 0u);
  const auto some = parse<watch_events>(
    {"watch", "-3001", "NODE_DOWN", "--count", "2", "--timeout", "1.5",
     "--json", "--since", "7", "--range", "global", "--dvm", "d"});
  CAF_CHECK((some.choice.codes
             == std::vector<status>{static_cast<status>(-3001),
                                    status::event_node_down}));
  CAF_CHECK_EQUAL(some.count, 2u);
  CAF_CHECK_EQUAL(some.limit, 1.5);
  CAF_CHECK(some.choice.since == uint64_t{7});
  CAF_CHECK(some.range == data_range::global);
  CAF_CHECK(some.json);
  CAF_CHECK_EQUAL(some.dvm, "d");
}

CAF_TEST(E13 an event goes to a range or to processes) {
  const auto plain = parse<send_event>({"send", "-3001"}).what;
  CAF_CHECK_EQUAL(plain.code, static_cast<status>(-3001));
  CAF_CHECK(plain.range == data_range::session);
  CAF_CHECK(plain.infos.empty());
  const auto to = parse<send_event>({"send", "-3001", "--to", "a:1", "--to",
                                     "b", "--affected", "a:2", "--message", "m",
                                     "--info", "k:int=-3", "--non-default"})
                    .what;
  CAF_CHECK(to.range == data_range::custom);
  CAF_CHECK((procs_of(*find(to.infos, attr::event_custom_range))
             == std::vector<proc_id>{{"a", 1}, {"b", rank_wildcard}}));
  CAF_CHECK(*find(to.infos, attr::event_affected_proc)
            == value::of_proc({"a", 2}));
  CAF_CHECK(text(to.infos, attr::event_text_message) == "m");
  CAF_CHECK(number<int32_t>(to.infos, "k") == -3);
  CAF_CHECK(flag(to.infos, attr::event_non_default));
}

CAF_TEST(what is wrong has a status of its own) {
  for (const auto& args : std::vector<std::vector<std::string>>{
         {},
         {"frob"},
         {"send"},
         {"send", "nothing"},
         {"send", "-3001", "--range", "namespace"},
         {"send", "-3001", "--range", "wide"},
         {"send", "-3001", "--to", ":1"},
         {"send", "-3001", "--info", "k"},
         {"watch", "--range", "rm"},
         {"watch", "--count", "x"},
         {"watch", "--timeout", "-1"},
         {"watch", "--since", "-1"},
         {"watch", "--count", "-1"},
         {"list", "--affected", "a:b"}})
    CAF_CHECK_EQUAL(refused(args), 2);
  CAF_CHECK_EQUAL(refused({"--help"}), 0);
}

CAF_TEST(a choice is by code and by who is affected) {
  auto x = event_choice{};
  const auto y = about(status::proc_aborted, {"a", 1});
  CAF_CHECK(x.admits(y));
  x.codes = {status::timeout};
  CAF_CHECK(!x.admits(y));
  x.codes = {status::proc_aborted};
  CAF_CHECK(x.admits(y));
  x.affected = {{"a", 2}};
  CAF_CHECK(!x.admits(y));
  x.affected = {{"a", 2}, {"a", rank_wildcard}};
  CAF_CHECK(x.admits(y));
  CAF_CHECK(!x.admits(event{}));
  // What affects a whole job affects each of it.
  x.affected = {{"a", 2}};
  CAF_CHECK(x.admits(about(status::proc_aborted, {"a", rank_wildcard})));
}
