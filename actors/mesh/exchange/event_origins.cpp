#include "actors/mesh/exchange/event_origins.hpp"

#include <sstream>
#include <utility>
#include <variant>

namespace troupe {

std::vector<event_origin> origins_of(const ordered_event& x) {
  auto result =
    std::vector<event_origin>{{x.origin, x.incarnation, x.number, 1}};
  result.insert(result.end(), x.with.begin(), x.with.end());
  return result;
}

void set_origins(ordered_event& x, std::vector<event_origin> all) {
  std::sort(all.begin(), all.end(),
            [](const event_origin& y, const event_origin& z) {
              return y.rank < z.rank;
            });
  x.origin = all.front().rank;
  x.incarnation = all.front().incarnation;
  x.number = all.front().number;
  ++all.front().rank;
  --all.front().count;
  x.with.clear();
  for (const auto& y : all) {
    auto* last = x.with.empty() ? nullptr : &x.with.back();
    if (last != nullptr && last->rank + last->count == y.rank
        && last->incarnation == y.incarnation && last->number == y.number)
      last->count += y.count;
    else if (y.count > 0)
      x.with.push_back(y);
  }
}

const group_calls* calls_of(const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  return entry != nullptr ? std::get_if<group_calls>(&entry->what) : nullptr;
}

group_calls* calls_of(ordered_content& what) {
  return const_cast<group_calls*>(calls_of(std::as_const(what)));
}

bool is_mark(const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  return entry != nullptr && entry->group.id.empty();
}

std::vector<uint32_t> joining_of(const ordered_content& what) {
  const auto* entry = std::get_if<group_entry>(&what);
  const auto* snapshot = entry != nullptr && entry->group.id.empty()
                           ? std::get_if<group_snapshot>(&entry->what)
                           : nullptr;
  auto result = std::vector<uint32_t>{};
  if (snapshot == nullptr)
    return result;
  auto text = std::istringstream{snapshot->state};
  for (auto rank = uint32_t{0}; text >> rank;)
    result.push_back(rank);
  return result;
}

} // namespace troupe
