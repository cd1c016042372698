// The order of handlers against a model of the RFC's text.

#include "actors/events/handler_order.hpp"
#include "messages/attributes.hpp"
#include "tests/test.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

using namespace troupe;

namespace {

constexpr auto code_a = status::proc_aborted;
constexpr auto code_b = status::proc_migrate;
const auto self = proc_id{"job", 0};

info directive(std::string_view key, value x = value::boolean(true)) {
  return {std::string{key}, 0, std::move(x)};
}

/// How a registration is placed.
enum class placing : uint8_t {
  none,
  append,
  prepend,
  first_in_category,
  last_in_category,
  first,
  last,
  before,
  after,
};

constexpr std::string_view keys[] = {"",
                                     attr::event_hdlr_append,
                                     attr::event_hdlr_prepend,
                                     attr::event_hdlr_first_in_category,
                                     attr::event_hdlr_last_in_category,
                                     attr::event_hdlr_first,
                                     attr::event_hdlr_last,
                                     attr::event_hdlr_before,
                                     attr::event_hdlr_after};

std::vector<status> codes_of(int category) {
  switch (category) {
    case 0:
      return {code_a};
    case 1:
      return {code_a, code_b};
    default:
      return {};
  }
}

/// Where a handler stands that names no neighbour: sorted, these are the order.
/// Source: RFC0002, "Description" (categories, order of registration) and
/// "Event Registration" (prepend); PMIx Standard v5 for the later directives.
std::tuple<int, int, int> place_of(int category, placing how, int number,
                                   bool newest_first) {
  switch (how) {
    case placing::first:
      return {-1, 0, 0};
    case placing::last:
      return {9, 0, 0};
    case placing::first_in_category:
      return {category, 0, -number};
    case placing::last_in_category:
      return {category, 2, number};
    case placing::prepend:
      return {category, 1, -number};
    case placing::append:
      return {category, 1, number};
    default:
      return {category, 1, newest_first ? -number : number};
  }
}

struct model_entry {
  std::tuple<int, int, int> place;
  std::optional<proc_id> affected;
};

std::vector<uint64_t> without(std::vector<uint64_t> xs, uint64_t x) {
  xs.erase(std::remove(xs.begin(), xs.end(), x), xs.end());
  return xs;
}

/// Registers and removes as `steps` say, and compares with the model.
void play(const std::vector<uint32_t>& steps, bool newest_first,
          bool with_neighbours) {
  auto uut = handler_order{{newest_first, 1000}};
  auto entries = std::map<uint64_t, model_entry>{};
  auto has_neighbours = false;
  auto next = uint64_t{0};
  const auto everything = event{code_a, {"job", 1}, data_range::session, {}};
  const auto order = [&] { return uut.match(everything, self); };
  const auto holder = [&](int category) -> std::optional<uint64_t> {
    for (const auto& [id, x] : entries)
      if (std::get<0>(x.place) == category)
        return id;
    return std::nullopt;
  };
  for (const auto step : steps) {
    const auto before = order();
    if (step % 5 == 0 && !before.empty()) {
      const auto victim = before[step / 5 % before.size()];
      RC_ASSERT(uut.remove(victim));
      RC_ASSERT(!uut.remove(victim));
      entries.erase(victim);
      RC_ASSERT(order() == without(before, victim));
      continue;
    }
    const auto category = static_cast<int>(step / 5 % 3);
    const auto how =
      static_cast<placing>(step / 15 % (with_neighbours ? 9 : 7));
    auto request = register_handler{codes_of(category), {}, 0};
    auto neighbour = std::optional<uint64_t>{};
    if (how == placing::before || how == placing::after) {
      if (!before.empty())
        neighbour = before[step / 135 % before.size()];
      request.directives.push_back(directive(
        keys[static_cast<size_t>(how)],
        value::string(neighbour ? "h" + std::to_string(*neighbour) : "?")));
    } else if (how != placing::none) {
      request.directives.push_back(directive(keys[static_cast<size_t>(how)]));
    }
    auto entry = model_entry{};
    if (step / 1215 % 4 == 0) {
      entry.affected = proc_id{"job", step / 4860 % 3};
      request.directives.push_back(
        directive(attr::event_affected_proc, value::of_proc(*entry.affected)));
    }
    // Numbers are given in order, so that the name can be known before.
    request.directives.push_back(directive(
      attr::event_hdlr_name, value::string("h" + std::to_string(next))));
    const auto id = uut.add(request);
    const auto is_taken = (how == placing::first && holder(-1))
                          || (how == placing::last && holder(9));
    RC_ASSERT(static_cast<bool>(id) != is_taken);
    if (!id) {
      RC_ASSERT(status_of(id.error()) == status::event_registration);
      RC_ASSERT(order() == before);
      continue;
    }
    RC_ASSERT(*id == next++);
    const auto number = static_cast<int>(*id) + 1;
    entry.place = place_of(category, how, number, newest_first);
    entries[*id] = entry;
    const auto now = order();
    RC_ASSERT(without(now, *id) == before); // Nobody else moves.
    const auto at = std::find(now.begin(), now.end(), *id);
    RC_ASSERT(at != now.end());
    if (neighbour) {
      has_neighbours = true;
      const auto side = std::find(now.begin(), now.end(), *neighbour);
      const auto is_seat = holder(-1) == neighbour || holder(9) == neighbour;
      if (!is_seat)
        RC_ASSERT((how == placing::before ? at + 1 == side : side + 1 == at));
    }
    if (const auto x = holder(-1))
      RC_ASSERT(now.front() == *x);
    if (const auto x = holder(9))
      RC_ASSERT(now.back() == *x);
    if (!has_neighbours) {
      auto sorted =
        std::vector<std::pair<std::tuple<int, int, int>, uint64_t>>{};
      for (const auto& [y, x] : entries)
        sorted.emplace_back(x.place, y);
      std::sort(sorted.begin(), sorted.end());
      RC_ASSERT(sorted.size() == now.size());
      for (size_t i = 0; i < now.size(); ++i)
        RC_ASSERT(sorted[i].second == now[i]);
    }
    // Who asks for a process hears of no other; nothing else changes.
    const auto about = proc_id{"job", step % 3};
    auto expected = std::vector<uint64_t>{};
    for (const auto x : now)
      if (!entries[x].affected || *entries[x].affected == about)
        expected.push_back(x);
    auto what = everything;
    what.infos = {directive(attr::event_affected_proc, value::of_proc(about))};
    RC_ASSERT(uut.match(what, self) == expected);
    for (const auto x : now)
      RC_ASSERT(uut.matches(x, what, self)
                == (std::count(expected.begin(), expected.end(), x) > 0));
  }
}

} // namespace

CAF_TEST(E14 E15 E16 E37 E50 the order is that of the text) {
  CAF_CHECK(rc::check(
    [](const std::vector<uint32_t>& steps) { play(steps, false, false); }));
}

CAF_TEST(E15 the newest first but for those that are placed) {
  CAF_CHECK(rc::check(
    [](const std::vector<uint32_t>& steps) { play(steps, true, false); }));
}

CAF_TEST(E16 E37 E59 neighbours stand side by side and nobody else moves) {
  CAF_CHECK(rc::check(
    [](const std::vector<uint32_t>& steps) { play(steps, false, true); }));
}

CAF_TEST(E5 E6 classes of events as the readings A7 to A9 have them) {
  constexpr auto hot = static_cast<status>(-250);
  const auto job = directive(attr::event_job_level);
  const auto no_job = directive(attr::event_job_level, value::boolean(false));
  const auto environment = directive(attr::event_enviro_level);
  const auto no_environment =
    directive(attr::event_enviro_level, value::boolean(false));
  const auto hears = [&](std::vector<status> codes, std::vector<info> infos) {
    auto uut = handler_order{{false, 10}};
    const auto id = uut.add({std::move(codes), std::move(infos), 0});
    if (!id)
      return to_string(status_of(id.error()));
    const auto rm = proc_id{"", rank_undef};
    // Of the environment: from nobody and about nobody.
    const auto matches = [&](const event& x) {
      return uut.match(x, self).size() == 1;
    };
    auto about = event{hot, rm, data_range::session, {}};
    const auto of_environment = matches(about);
    about.infos = {directive(attr::event_affected_proc, value::of_proc(self))};
    const auto with_target = matches(about);
    const auto of_process =
      matches(event{hot, {"job", 1}, data_range::session, {}});
    CAF_CHECK_EQUAL(with_target, of_process);
    return std::string{of_process ? "job" : ""}
           + (of_environment ? "+environment" : "");
  };
  // A default handler.
  CAF_CHECK_EQUAL(hears({}, {}), "job");
  CAF_CHECK_EQUAL(hears({}, {job}), "job");
  CAF_CHECK_EQUAL(hears({}, {environment}), "+environment");
  CAF_CHECK_EQUAL(hears({}, {job, environment}), "job+environment");
  CAF_CHECK_EQUAL(hears({}, {no_job, environment}), "+environment");
  CAF_CHECK_EQUAL(hears({}, {no_job}), "PMIX_ERR_BAD_PARAM");
  CAF_CHECK_EQUAL(hears({}, {no_job, no_environment}), "PMIX_ERR_BAD_PARAM");
  // A handler for a code of the environment.
  CAF_CHECK_EQUAL(hears({hot}, {}), "job+environment");
  CAF_CHECK_EQUAL(hears({hot}, {job}), "job");
  CAF_CHECK_EQUAL(hears({hot}, {environment}), "+environment");
  CAF_CHECK_EQUAL(hears({hot}, {no_environment}), "job");
}

CAF_TEST(E59 an unknown range is refused) {
  auto uut = handler_order{{false, 10}};
  for (const auto x : {8, 9, 100, 255}) {
    const auto id =
      uut.add({{code_a},
               {directive(attr::range,
                          {data_type::data_range, static_cast<uint64_t>(x)})},
               0});
    CAF_REQUIRE(!id);
    CAF_CHECK(status_of(id.error()) == status::bad_param);
  }
  CAF_CHECK_EQUAL(uut.size(), 0u);
}
