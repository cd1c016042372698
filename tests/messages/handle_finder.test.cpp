#include "messages/handle_finder.hpp"

#include "messages/inspect_std.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/remoting_types.hpp"
#include "tests/test.hpp"

#include <caf/all.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

using namespace troupe;
using namespace remoting_test;

namespace {

/// Handles wherever CAF reads them.
struct everywhere {
  adder one;
  std::vector<weather> many;
  std::map<std::string, std::pair<adder, int32_t>> named;
  std::optional<adder> maybe;
  std::variant<int32_t, weather> either;
  std::tuple<adder, std::string> both;
  std::array<adder, 2> row;
  caf::actor untyped;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, everywhere& x) {
  return f(caf::meta::type_name("everywhere"), x.one, x.many, x.named, x.maybe,
           x.either, x.both, x.row, x.untyped);
}

/// A program says that there is nothing in it.
struct closed {
  adder inside;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, closed& x) {
  return f(caf::meta::type_name("closed"), x.inside);
}

/// A type without a name.
struct nameless {};

using odd = caf::typed_actor<caf::reacts_to<nameless>>;

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(nameless)

template <>
struct troupe::has_no_handles<closed> : std::true_type {};

namespace {

struct finder_fixture : fixtures::deterministic {
  adder an_adder = sys.spawn([](adder::pointer) -> adder::behavior_type {
    return {[](int32_t a, int32_t b) { return a + b; },
            [](const caf::actor&, int32_t x) { return x; }};
  });
  weather a_weather = sys.spawn([](weather::pointer) -> weather::behavior_type {
    return {[](reading& x) { return std::move(x); },
            [](caf::put_atom, const reading&) {}};
  });

  /// How many handles of adders and of weathers are found, and of others.
  template <class T>
  std::string found_in(const T& x) {
    size_t adders = 0;
    size_t weathers = 0;
    size_t others = 0;
    const auto count = [&](const caf::strong_actor_ptr& who,
                           const handle_interface& type) {
      if (who->id() == an_adder.id()
          && type.signatures == interface_of<adder>())
        ++adders;
      else if (who->id() == a_weather.id()
               && type.signatures == interface_of<weather>())
        ++weathers;
      else
        ++others;
    };
    wire::find_handles<T>(&x, count);
    return std::to_string(adders) + " " + std::to_string(weathers) + " "
           + std::to_string(others);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(handle_finder_tests, finder_fixture)

CAF_TEST(ACT-17 typed handles are found wherever CAF reads them) {
  auto x = everywhere{};
  CAF_CHECK_EQUAL(found_in(x), "0 0 0");
  x.untyped = caf::actor_cast<caf::actor>(an_adder);
  CAF_CHECK_EQUAL(found_in(x), "0 0 0");
  x.one = an_adder;
  x.many = {a_weather, weather{}, a_weather};
  x.named["a"] = {an_adder, 1};
  CAF_CHECK_EQUAL(found_in(x), "2 2 0");
  x.maybe = an_adder;
  x.either = a_weather;
  std::get<0>(x.both) = an_adder;
  x.row[1] = an_adder;
  CAF_CHECK_EQUAL(found_in(x), "5 3 0");
  CAF_CHECK_EQUAL(found_in(std::vector<everywhere>{x, x}), "10 6 0");
  CAF_CHECK_EQUAL(found_in(an_adder), "1 0 0");
}

CAF_TEST(ACT-17 what has no names or is said to have none is left out) {
  CAF_CHECK_EQUAL(found_in(closed{an_adder}), "0 0 0");
  CAF_CHECK_EQUAL(found_in(caf::actor_cast<odd>(an_adder)), "0 0 0");
  CAF_CHECK(!wire::handle_finder::may_have<std::string>());
  CAF_CHECK(!wire::handle_finder::may_have<caf::down_msg>());
  CAF_CHECK(!wire::handle_finder::may_have<closed>());
  CAF_CHECK(wire::handle_finder::may_have<adder>());
}

CAF_TEST_FIXTURE_SCOPE_END()
