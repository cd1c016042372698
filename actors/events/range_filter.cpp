#include "actors/events/range_filter.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

range_filter::range_filter(const event& what, std::vector<proc_id> targets)
  : source_(what.source), range_(what.range), targets_(std::move(targets)),
    admits_default_(!flag(what.infos, attr::event_non_default)),
    stays_local_(flag(what.infos, attr::event_stays_local)) {
  if (targets_.empty())
    if (const auto* custom = find(what.infos, attr::event_custom_range))
      targets_ = procs_of(*custom);
  // Targets narrow every range down, not only the custom one.
  if (!targets_.empty())
    range_ = data_range::custom;
}

bool range_filter::admits(const proc_id& proc) const {
  if (proc == source_)
    return false;
  switch (range_) {
    case data_range::proc_local:
    case data_range::rm:
    case data_range::invalid:
      return false;
    case data_range::nspace:
      return proc.nspace == source_.nspace;
    case data_range::custom:
      return std::any_of(targets_.begin(), targets_.end(),
                         [&](const proc_id& x) { return matches(x, proc); });
    default:
      return true;
  }
}

bool range_filter::leaves_node() const {
  return !stays_local_ && range_ != data_range::local
         && range_ != data_range::proc_local;
}

} // namespace troupe
