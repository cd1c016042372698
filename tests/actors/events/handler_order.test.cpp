// Which handlers run for an event, and in which order.

#include "actors/events/handler_order.hpp"

#include "messages/attributes.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr auto code_a = status::proc_aborted;
constexpr auto code_b = status::event_node_down;
constexpr auto code_c = status::proc_migrate;

const auto self = proc_id{"job", 0};
const auto peer = proc_id{"job", 1};
const auto stranger = proc_id{"other", 0};

info directive(std::string_view key, value x = value::boolean(true)) {
  return {std::string{key}, 0, std::move(x)};
}

info named(std::string_view key, std::string name) {
  return directive(key, value::string(std::move(name)));
}

struct fixture {
  handler_order uut{{false, 100}};

  /// Registers a handler called `name`.
  caf::expected<uint64_t> try_add(std::string name, std::vector<status> codes,
                                  std::vector<info> directives = {}) {
    if (!name.empty())
      directives.push_back(named(attr::event_hdlr_name, std::move(name)));
    return uut.add({std::move(codes), std::move(directives)});
  }

  uint64_t add(std::string name, std::vector<status> codes,
               std::vector<info> directives = {}) {
    const auto id =
      try_add(std::move(name), std::move(codes), std::move(directives));
    CAF_REQUIRE(id);
    return *id;
  }

  /// The names of those that run, in order.
  std::string order(status code = code_a, std::vector<info> infos = {},
                    const proc_id& source = peer) {
    auto result = std::string{};
    const auto what = event{code, source, data_range::session, infos};
    for (const auto id : uut.match(what, self))
      result += (result.empty() ? "" : " ") + uut.find(id)->name;
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(handler_order_tests, fixture)

// -- categories: requirements 4.1, 1 and 7 to 9 ------------------------------

CAF_TEST(E14 C3.14 single code then several codes then default) {
  add("default", {});
  add("several", {code_b, code_a});
  add("single", {code_a});
  CAF_CHECK_EQUAL(order(), "single several default");
  CAF_CHECK_EQUAL(order(code_b), "several default");
  CAF_CHECK_EQUAL(order(code_c), "default");
}

CAF_TEST(E15 C3.14 within a category the order of registration) {
  for (const auto* name : {"A", "B", "C"})
    add(name, {code_a});
  for (const auto* name : {"D", "E"})
    add(name, {});
  CAF_CHECK_EQUAL(order(), "A B C D E");
}

CAF_TEST(E15 an opt in switch puts the newest first) {
  uut = handler_order{{true, 100}};
  for (const auto* name : {"A", "B", "C"})
    add(name, {code_a});
  add("D", {code_a}, {directive(attr::event_hdlr_append)});
  CAF_CHECK_EQUAL(order(), "C B A D");
}

CAF_TEST(E34 a code given twice fires once) {
  add("twice", {code_a, code_a});
  add("one", {code_a});
  CAF_CHECK_EQUAL(order(), "one twice");
}

CAF_TEST(E35 a handler without codes is called for every code) {
  add("default", {});
  CAF_CHECK_EQUAL(order(static_cast<status>(12345)), "default");
  CAF_CHECK_EQUAL(order(static_cast<status>(-3001)), "default");
}

// -- placement: 4.1, 2 to 6 --------------------------------------------------

CAF_TEST(E16 prepend beats what was registered before) {
  add("A", {code_a});
  add("B", {code_a}, {directive(attr::event_hdlr_prepend)});
  add("C", {code_a}, {directive(attr::event_hdlr_prepend)});
  add("D", {code_a},
      {directive(attr::event_hdlr_prepend, value::boolean(false))});
  CAF_CHECK_EQUAL(order(), "C B A D");
}

CAF_TEST(E59 the first and the last of a category stay there) {
  add("A", {code_a}, {directive(attr::event_hdlr_last_in_category)});
  add("B", {code_a});
  add("C", {code_a}, {directive(attr::event_hdlr_first_in_category)});
  add("D", {code_a}, {directive(attr::event_hdlr_prepend)});
  add("E", {code_a});
  add("F", {code_a}, {directive(attr::event_hdlr_first_in_category)});
  add("default", {}, {directive(attr::event_hdlr_first_in_category)});
  CAF_CHECK_EQUAL(order(), "F C D B E A default");
}

CAF_TEST(E59 before and after a named handler) {
  add("A", {code_a});
  add("B", {code_a});
  add("C", {code_a}, {named(attr::event_hdlr_before, "B")});
  add("D", {code_a}, {named(attr::event_hdlr_after, "A")});
  add("", {code_a}, {named(attr::event_hdlr_after, "B")});
  CAF_CHECK_EQUAL(order(), "A D C B ");
}

CAF_TEST(E59 a neighbour of another category takes the handler along) {
  add("single", {code_a});
  add("default", {});
  add("early", {}, {named(attr::event_hdlr_before, "single")});
  add("late", {code_a}, {named(attr::event_hdlr_after, "default")});
  CAF_CHECK_EQUAL(order(), "early single default late");
}

CAF_TEST(E59 a place beside an unknown name is the end) {
  add("A", {code_a});
  add("B", {code_a}, {named(attr::event_hdlr_before, "nobody")});
  add("C", {code_a}, {named(attr::event_hdlr_after, "")});
  CAF_CHECK_EQUAL(order(), "A B C");
}

CAF_TEST(E59 one handler is the first of all and one the last) {
  add("last", {code_a}, {directive(attr::event_hdlr_last)});
  add("A", {code_a});
  add("default", {});
  const auto first = add("first", {}, {directive(attr::event_hdlr_first)});
  CAF_CHECK_EQUAL(order(), "first A default last");
  const auto second =
    try_add("second", {code_a}, {directive(attr::event_hdlr_first)});
  CAF_REQUIRE(!second);
  CAF_CHECK(status_of(second.error()) == status::event_registration);
  CAF_CHECK(!try_add("second", {code_a}, {directive(attr::event_hdlr_last)}));
  CAF_CHECK(uut.remove(first));
  add("second", {code_a}, {directive(attr::event_hdlr_first)});
  CAF_CHECK_EQUAL(order(), "second A default last");
}

CAF_TEST(E59 nothing goes before the first or after the last) {
  add("first", {}, {directive(attr::event_hdlr_first)});
  add("last", {}, {directive(attr::event_hdlr_last)});
  add("A", {code_a});
  add("B", {code_a}, {named(attr::event_hdlr_before, "first")});
  add("C", {code_a}, {named(attr::event_hdlr_after, "last")});
  CAF_CHECK_EQUAL(order(), "first B A C last");
}

CAF_TEST(E59 the first of all honours code and filters) {
  add("first", {code_a},
      {directive(attr::event_hdlr_first),
       directive(attr::event_affected_proc, value::of_proc(stranger))});
  CAF_CHECK_EQUAL(order(code_b), "");
  CAF_CHECK_EQUAL(
    order(code_a, {directive(attr::event_affected_proc, value::of_proc(peer))}),
    "");
  CAF_CHECK_EQUAL(order(code_a, {directive(attr::event_affected_proc,
                                           value::of_proc(stranger))}),
                  "first");
}

// -- filters: 4.1, 18 to 21; 4.2, 35 -----------------------------------------

CAF_TEST(E59 a handler may ask for affected processes) {
  add("restricted", {code_a},
      {directive(attr::event_affected_proc, value::of_proc(peer))});
  add("open", {code_a});
  add("two", {code_a},
      {directive(attr::event_affected_procs,
                 value::procs({stranger, {"job", rank_wildcard}}))});
  const auto about = [](std::vector<proc_id> procs) {
    return std::vector{
      directive(attr::event_affected_procs, value::procs(std::move(procs)))};
  };
  CAF_CHECK_EQUAL(order(code_a, about({peer})), "restricted open two");
  CAF_CHECK_EQUAL(order(code_a, about({self})), "open two");
  CAF_CHECK_EQUAL(order(code_a, about({{"third", 1}})), "open");
  CAF_CHECK_EQUAL(order(code_a, about({{"job", rank_wildcard}})),
                  "restricted open two");
  CAF_CHECK_EQUAL(order(code_a), "restricted open two");
}

CAF_TEST(E59 a handler may ask for sources) {
  const auto range = [](data_range x) {
    return directive(attr::range,
                     {data_type::data_range, static_cast<uint64_t>(x)});
  };
  add("own", {code_a}, {range(data_range::proc_local)});
  add("job", {code_a}, {range(data_range::nspace)});
  add("rm", {code_a}, {range(data_range::rm)});
  add("custom", {code_a},
      {range(data_range::custom),
       directive(attr::event_custom_range, value::procs({stranger}))});
  add("all", {code_a}, {range(data_range::global)});
  CAF_CHECK_EQUAL(order(code_a, {}, self), "own job all");
  CAF_CHECK_EQUAL(order(code_a, {}, peer), "job all");
  CAF_CHECK_EQUAL(order(code_a, {}, stranger), "custom all");
  CAF_CHECK_EQUAL(order(code_a, {}, {"", rank_undef}), "rm all");
}

CAF_TEST(E59 an event for those who asked skips default handlers) {
  add("first", {}, {directive(attr::event_hdlr_first)});
  add("single", {code_a});
  add("default", {});
  add("last", {code_a}, {directive(attr::event_hdlr_last)});
  CAF_CHECK_EQUAL(order(code_a, {directive(attr::event_non_default)}),
                  "single last");
}

// -- numbers: 4.1, 10 and 13 -------------------------------------------------

CAF_TEST(E58 numbers count from 0 and are never used again) {
  CAF_CHECK_EQUAL(add("A", {code_a}), 0u);
  CAF_CHECK_EQUAL(add("B", {}), 1u);
  CAF_CHECK(uut.remove(1));
  CAF_CHECK(!uut.remove(1));
  CAF_CHECK(!uut.remove(77));
  CAF_CHECK_EQUAL(add("C", {code_a}), 2u);
  CAF_CHECK(uut.find(1) == nullptr);
  CAF_CHECK_EQUAL(order(), "A C");
}

CAF_TEST(E58 a refused registration leaves nothing) {
  add("first", {}, {directive(attr::event_hdlr_first)});
  CAF_CHECK(!try_add("again", {}, {directive(attr::event_hdlr_first)}));
  CAF_CHECK_EQUAL(uut.size(), 1u);
  CAF_CHECK_EQUAL(order(), "first");
}

CAF_TEST(E58 there is a most of handlers) {
  uut = handler_order{{false, 2}};
  add("A", {code_a});
  add("B", {code_a});
  const auto third = try_add("C", {code_a});
  CAF_REQUIRE(!third);
  CAF_CHECK(status_of(third.error()) == status::out_of_resource);
  uut.remove(0);
  CAF_CHECK(try_add("C", {code_a}));
}

CAF_TEST(E59 a handler may be called once only) {
  const auto id = add("once", {code_a}, {directive(attr::event_oneshot)});
  CAF_CHECK(uut.find(id)->is_oneshot);
  CAF_CHECK(!uut.find(add("often", {code_a}))->is_oneshot);
}

CAF_TEST_FIXTURE_SCOPE_END()
