#include "actors/groups/local_uses.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Where a rank is, or would be.
template <class Entries>
auto place_of(Entries& xs, uint32_t rank) {
  return std::lower_bound(xs.begin(), xs.end(), rank,
                          [](const auto& x, uint32_t y) { return x.rank < y; });
}

} // namespace

std::optional<group_use> local_uses::of(const proc_id& proc) const {
  const auto those = uses_.find(proc.nspace);
  if (those == uses_.end())
    return std::nullopt;
  const auto i = place_of(those->second, proc.rank);
  if (i == those->second.end() || i->rank != proc.rank)
    return std::nullopt;
  return i->how;
}

void local_uses::set(const proc_id& proc, group_use how) {
  auto& those = uses_[proc.nspace];
  const auto i = place_of(those, proc.rank);
  if (i != those.end() && i->rank == proc.rank)
    i->how = how;
  else
    those.insert(i, {proc.rank, how});
}

bool local_uses::erase(const proc_id& proc) {
  const auto those = uses_.find(proc.nspace);
  if (those == uses_.end())
    return false;
  const auto i = place_of(those->second, proc.rank);
  if (i == those->second.end() || i->rank != proc.rank)
    return false;
  those->second.erase(i);
  if (those->second.empty())
    uses_.erase(those);
  return true;
}

} // namespace troupe
