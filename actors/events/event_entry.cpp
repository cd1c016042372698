#include "actors/events/event_entry.hpp"

#include "actors/data/datastore.hpp"
#include "messages/attributes.hpp"

namespace troupe {

namespace {

/// Entry, indexes and the structure of an event, about.
constexpr size_t event_overhead = 256;
constexpr size_t info_overhead = 96;

} // namespace

size_t cost_of(const event& x) {
  auto result = event_overhead;
  for (const auto& y : x.infos)
    result += info_overhead + y.key.size() + size_of(y.val);
  return result;
}

std::string row_of(const event& x) {
  if (!x.source.nspace.empty())
    return {};
  const auto code = std::to_string(static_cast<int32_t>(x.code)) + ' ';
  if (const auto* y = find(x.infos, attr::event_affected_proc))
    if (const auto* proc = y->proc())
      return code + to_string(*proc);
  if (const auto node = text(x.infos, attr::hostname))
    return code + *node;
  return {};
}

} // namespace troupe
