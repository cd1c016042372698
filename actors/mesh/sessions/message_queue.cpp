#include "actors/mesh/sessions/message_queue.hpp"

#include <algorithm>

namespace troupe {

// -- sending ------------------------------------------------------------------

bool message_queue::push(peer_message x) {
  auto& queue = waiting_[index_of(x.of)];
  const auto size = x.bytes->size();
  // Gateways bound by themselves what waits here (see `conversation`), but not what
  // is passed on for those of others.
  const auto is_bounded_elsewhere =
    x.of == traffic_class::actors && !x.may_drop;
  if (size > limits_.message_bytes
      || (!queue.empty() && bytes_ + size > limits_.queue_bytes
          && !is_bounded_elsewhere))
    return false;
  bytes_ += size;
  queue.push_back({std::move(x), 0});
  return true;
}

bool message_queue::hand_over(entry& x, const taker& take) const {
  const auto& bytes = *x.what.bytes;
  if (bytes.size() <= limits_.piece_bytes + limits_.slack_bytes) {
    if (!take(make_payload(x.what.bytes)))
      return false;
    x.sent = bytes.size();
    return true;
  }
  while (x.sent < bytes.size()) {
    auto part = message_part{bytes.size(), x.sent,
                             bytes.substr(x.sent, limits_.piece_bytes)};
    const auto size = part.bytes.size();
    if (!take(
          make_payload(std::make_shared<const std::string>(to_payload(part)))))
      return false;
    x.sent += size;
  }
  return true;
}

void message_queue::pop(std::deque<entry>& xs) {
  bytes_ -= xs.front().what.bytes->size();
  xs.pop_front();
}

size_t message_queue::flush(traffic_class of, uint64_t incarnation,
                            const taker& take) {
  auto& queue = waiting_[index_of(of)];
  size_t dropped = 0;
  while (!queue.empty()) {
    auto& x = queue.front();
    if (x.what.incarnation != 0 && x.what.incarnation != incarnation) {
      ++dropped;
    } else if (!hand_over(x, take)) {
      // The peer has no use for half of one.
      if (!x.what.may_drop || x.sent > 0)
        break;
      ++dropped;
    }
    pop(queue);
  }
  return dropped;
}

size_t message_queue::cut() {
  size_t dropped = 0;
  for (auto& queue : waiting_)
    if (!queue.empty() && queue.front().sent > 0) {
      pop(queue);
      ++dropped;
    }
  return dropped;
}

size_t message_queue::clear() {
  size_t dropped = 0;
  for (auto& queue : waiting_) {
    dropped += queue.size();
    queue.clear();
  }
  bytes_ = 0;
  return dropped;
}

// -- receiving ----------------------------------------------------------------

bool message_assembly::add(traffic_class of, peer_payload bytes,
                           std::shared_ptr<const std::string>& out) {
  const auto view = bytes_of(bytes);
  auto& known = parts_[index_of(of)];
  if (!is_part(view)) {
    if (known.total > 0)
      return false;
    out = text_of(bytes);
    return true;
  }
  auto payload = read_payload(view);
  const auto* x = payload ? std::get_if<message_part>(&*payload) : nullptr;
  if (x == nullptr || x->bytes.empty() || x->total > limits_.message_bytes
      || x->offset != known.bytes.size()
      || (x->offset > 0 && x->total != known.total)
      || x->bytes.size() > x->total - x->offset)
    return false;
  known.total = x->total;
  known.bytes += x->bytes;
  if (known.bytes.size() == known.total) {
    // A part within parts would nest without end.
    if (is_part(known.bytes))
      return false;
    out = std::make_shared<const std::string>(std::move(known.bytes));
    known = part{};
  }
  return true;
}

void message_assembly::clear() {
  parts_ = {};
}

} // namespace troupe
