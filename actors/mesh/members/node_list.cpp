#include "actors/mesh/members/node_list.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Who was lost comes before who left, and before who joined.
int order(const node_change& x) {
  return x.state == node_state::lost ? 0 : x.state == node_state::left ? 1 : 2;
}

} // namespace

node_list::node_list(uint32_t radix) : tree_(1, radix) {
  // nop
}

bool node_list::is_live(uint32_t rank, uint64_t incarnation) const {
  const auto* row = find(rank);
  return row != nullptr && row->state == node_state::live
         && row->incarnation == incarnation;
}

bool node_list::is_dead(uint32_t rank, uint64_t incarnation) const {
  const auto* row = find(rank);
  if (row == nullptr || row->state == node_state::expected)
    return false;
  return incarnation < row->incarnation
         || (incarnation == row->incarnation && row->state != node_state::live);
}

node_list::fit node_list::check(const node_update& x) const {
  return x.epoch <= epoch_ ? fit::old : x.base > epoch_ ? fit::gap : fit::next;
}

std::vector<node_change> node_list::adopt(const node_update& x) {
  auto result = std::vector<node_change>{};
  for (const auto& row : x.rows) {
    // The rows of a DVM come without holes; what does not is not ours.
    if (row.rank > rows_.size())
      continue;
    if (row.rank == rows_.size()) {
      rows_.push_back({row.rank, row.name, 0, node_state::expected, 0, {}});
      tree_.grow(row.rank + 1);
      tree_.remove(row.rank);
    }
    auto& known = rows_[row.rank];
    if (row.changed <= known.changed)
      continue;
    const auto is_successor = row.incarnation != known.incarnation;
    const auto was_live = known.state == node_state::live;
    if (was_live && (is_successor || row.state != node_state::live))
      result.push_back({row.rank, row.name, known.incarnation,
                        is_successor ? node_state::lost : row.state});
    if (row.state == node_state::live && (is_successor || !was_live))
      result.push_back({row.rank, row.name, row.incarnation, node_state::live});
    known = row;
    if (row.state == node_state::live)
      tree_.restore(row.rank);
    else
      tree_.remove(row.rank);
  }
  epoch_ = x.epoch;
  std::stable_sort(
    result.begin(), result.end(),
    [](const auto& l, const auto& r) { return order(l) < order(r); });
  return result;
}

node_update node_list::changes_since(uint64_t epoch) const {
  auto result = node_update{epoch, epoch_, {}};
  for (const auto& row : rows_)
    if (row.changed > epoch)
      result.rows.push_back(row);
  return result;
}

} // namespace troupe
