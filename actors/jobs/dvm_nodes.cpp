#include "actors/jobs/dvm_nodes.hpp"

namespace troupe {

std::string dvm_nodes::name_of(uint32_t rank) const {
  const auto i = all_.find(rank);
  return i != all_.end() ? i->second.name : "number " + std::to_string(rank);
}

void dvm_nodes::offer(uint32_t rank, uint32_t slots) {
  auto& x = all_[rank];
  if (!x.slots)
    x.slots = slots;
  x.processors = slots;
}

bool dvm_nodes::change(const member_changed& what) {
  auto& x = all_[what.rank];
  if (!what.name.empty())
    x.name = what.name;
  const auto is_of_old = what.incarnation < x.incarnation;
  if (!is_of_old) {
    x.state = what.state;
    x.incarnation = what.incarnation;
  }
  if (what.state == node_state::lost)
    x.unfenced.insert(what.incarnation);
  return !is_of_old
         && (what.state == node_state::lost || what.state == node_state::left);
}

uint32_t dvm_nodes::slots() const {
  auto result = uint32_t{0};
  for (const auto& [rank, x] : all_)
    if (x.takes_work())
      result += *x.slots;
  return result;
}

} // namespace troupe
