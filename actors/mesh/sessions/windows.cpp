#include "actors/mesh/sessions/windows.hpp"

#include <algorithm>

namespace troupe {

// -- sending -----------------------------------------------------------------

void send_window::push(uint64_t ticket, peer_payload payload) {
  bytes_ += cost_of(payload.size);
  messages_.push_back({first_ + messages_.size(), ticket, std::move(payload)});
}

bool send_window::acknowledge(uint64_t next, uint64_t limit,
                              std::vector<uint64_t>& tickets) {
  if (next > unsent_)
    return false;
  while (first_ < next) {
    const auto& front = messages_.front();
    const auto cost = cost_of(front.payload.size);
    tickets.push_back(front.ticket);
    bytes_ -= cost;
    arrived_ += cost;
    // After a rewind, what is behind the cursor may have arrived before.
    if (sent_ > 0) {
      --sent_;
      in_flight_ -= cost;
    }
    messages_.pop_front();
    ++first_;
  }
  limit_ = std::max(limit_, limit);
  return true;
}

const send_window::message* send_window::take(size_t flight) {
  if (sent_ == messages_.size())
    return nullptr;
  const auto& result = messages_[sent_];
  const auto cost = cost_of(result.payload.size);
  if (in_flight_ > 0 && in_flight_ + cost > flight)
    return nullptr;
  if (arrived_ + in_flight_ + cost > limit_)
    return nullptr;
  ++sent_;
  in_flight_ += cost;
  unsent_ = std::max(unsent_, cursor());
  return &result;
}

void send_window::rewind() {
  sent_ = 0;
  in_flight_ = 0;
}

std::deque<send_window::message> send_window::clear() {
  auto result = std::move(messages_);
  *this = send_window{size_};
  return result;
}

// -- receiving ---------------------------------------------------------------

receive_window::arrival receive_window::accept(message x,
                                               std::vector<message>& deliver) {
  const auto number = x.number;
  if (number < next_ || early_.count(number) > 0)
    return arrival::duplicate;
  // Each message costs its overhead at least, so the number is bounded as well
  // as the bytes.
  const auto free = size_ - std::min(size_, untaken_bytes() + early_bytes_);
  const auto cost = cost_of(x.payload.size);
  if (cost > free || number - next_ > size_ / message_overhead)
    return arrival::beyond;
  if (number > next_) {
    early_bytes_ += cost;
    early_.emplace(number, std::move(x));
    return arrival::early;
  }
  ++next_;
  deliver.push_back(std::move(x));
  delivered_ += cost;
  for (auto i = early_.begin(); i != early_.end() && i->first == next_;
       i = early_.erase(i)) {
    const auto early_cost = cost_of(i->second.payload.size);
    early_bytes_ -= early_cost;
    delivered_ += early_cost;
    ++next_;
    deliver.push_back(std::move(i->second));
  }
  return arrival::in_order;
}

void receive_window::taken(size_t bytes) {
  taken_ = std::min(taken_ + bytes, delivered_);
}

} // namespace troupe
