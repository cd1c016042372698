#include "actors/mesh/receive_window.hpp"

#include <algorithm>

namespace troupe {

receive_window::arrival receive_window::accept(uint64_t number,
                                               peer_payload payload,
                                               std::vector<message>& deliver) {
  if (number < next_ || early_.count(number) > 0)
    return arrival::duplicate;
  // Each message costs its overhead at least, so the number is bounded as well
  // as the bytes.
  const auto free = size_ - std::min(size_, untaken_bytes() + early_bytes_);
  const auto cost = cost_of(payload.size);
  if (cost > free || number - next_ > size_ / message_overhead)
    return arrival::beyond;
  if (number > next_) {
    early_bytes_ += cost;
    early_.emplace(number, std::move(payload));
    return arrival::early;
  }
  deliver.push_back({next_++, std::move(payload)});
  delivered_ += cost;
  for (auto i = early_.begin(); i != early_.end() && i->first == next_;
       i = early_.erase(i)) {
    const auto early_cost = cost_of(i->second.size);
    early_bytes_ -= early_cost;
    delivered_ += early_cost;
    deliver.push_back({next_++, std::move(i->second)});
  }
  return arrival::in_order;
}

void receive_window::taken(size_t bytes) {
  taken_ = std::min(taken_ + bytes, delivered_);
}

} // namespace troupe
