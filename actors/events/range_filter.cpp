#include "actors/events/range_filter.hpp"

#include "messages/attributes.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

range_filter::range_filter(const event& what, std::vector<proc_id> targets)
  : source_(what.source), range_(what.range), targets_(std::move(targets)),
    admits_default_(!flag(what.infos, attr::event_non_default)),
    stays_local_(flag(what.infos, attr::event_stays_local)),
    reaches_source_(flag(what.infos, event_reaches_source)) {
  if (targets_.empty())
    if (const auto* custom = find(what.infos, attr::event_custom_range))
      targets_ = procs_of(*custom);
  // Targets narrow every range down, not only the custom one.
  if (!targets_.empty())
    range_ = data_range::custom;
}

bool range_filter::operator==(const range_filter& x) const {
  return range_ == x.range_ && admits_default_ == x.admits_default_
         && stays_local_ == x.stays_local_
         && reaches_source_ == x.reaches_source_ && source_ == x.source_
         && except_ == x.except_ && targets_ == x.targets_;
}

size_t range_filter::memory() const {
  auto result = sizeof(*this) + targets_.capacity() * sizeof(proc_id);
  for (const auto& x : targets_)
    result += x.nspace.size();
  return result;
}

bool range_filter::admits(const proc_id& proc) const {
  if ((proc == source_ && !reaches_source_) || proc == except_)
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

bool range_filter::is_for_all() const {
  switch (range_) {
    case data_range::proc_local:
    case data_range::rm:
    case data_range::invalid:
    case data_range::nspace:
    case data_range::custom:
      return false;
    default:
      return true;
  }
}

bool range_filter::concerns(const std::string& nspace) const {
  if (range_ == data_range::nspace)
    return source_.nspace == nspace;
  if (range_ == data_range::custom)
    return std::any_of(targets_.begin(), targets_.end(),
                       [&](const proc_id& x) { return x.nspace == nspace; });
  return is_for_all();
}

std::set<std::string> range_filter::nspaces() const {
  auto result = std::set<std::string>{};
  if (range_ == data_range::nspace)
    result.insert(source_.nspace);
  else if (range_ == data_range::custom)
    for (const auto& x : targets_)
      result.insert(x.nspace);
  return result;
}

std::vector<uint32_t>
range_filter::excluded_of(const std::string& nspace) const {
  auto result = std::vector<uint32_t>{};
  if (source_.nspace == nspace && !reaches_source_)
    result.push_back(source_.rank);
  if (except_ && except_->nspace == nspace && *except_ != source_)
    result.push_back(except_->rank);
  return result;
}

std::optional<std::set<uint32_t>>
range_filter::ranks_of(const std::string& nspace) const {
  auto result = std::set<uint32_t>{};
  if (range_ != data_range::custom) {
    if (concerns(nspace))
      return std::nullopt;
    return result;
  }
  for (const auto& x : targets_) {
    if (x.nspace != nspace)
      continue;
    if (x.rank == rank_wildcard)
      return std::nullopt;
    if ((x != source_ || reaches_source_) && x != except_)
      result.insert(x.rank);
  }
  return result;
}

} // namespace troupe
