#include "actors/events/event_ring.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe {

namespace {

/// Events on the way to slow processes if none are kept.
constexpr size_t at_least = 64;

} // namespace

event_ring::event_ring(size_t size, size_t bytes)
  : event_shelf(std::string{}), size_(size), max_bytes_(bytes) {
  // nop
}

event_ring::share event_ring::share_of(status code) {
  const auto* oldest = index_.next_of(code, 0);
  return {std::numeric_limits<size_t>::max() - index_.size_of(code),
          oldest != nullptr ? oldest->number : 0, code};
}

std::vector<event_shelf::client_id> event_ring::append(event_entry x) {
  ++accepted_;
  x.is_kept = x.is_kept && size_ > 0;
  const auto number = x.number;
  const auto code = x.code;
  bytes_ += x.bytes;
  shares_.erase(share_of(code));
  auto result = add(std::move(x));
  shares_.insert(share_of(code));
  if (auto* entry = index_.find(number); entry->owed == 0)
    on_settled(*entry);
  trim();
  return result;
}

void event_ring::trim() {
  const auto limit = std::max(size_, size_ == 0 ? at_least : size_);
  while (index_.size() > limit || (bytes_ > max_bytes_ && index_.size() > 1)) {
    const auto code = std::get<status>(*shares_.begin());
    drop(*index_.next_of(code, 0));
  }
}

void event_ring::take(client_id id, uint64_t number) {
  if (auto* who = find_reader(id))
    who->take(number);
  if (auto* x = index_.find(number))
    release(*x);
}

void event_ring::on_settled(event_entry& x) {
  if (!x.is_kept)
    erase(x);
}

/// `x` is still in the index: the share that it leaves is that of the others.
void event_ring::on_erased(const event_entry& x) {
  bytes_ -= x.bytes;
  shares_.erase(share_of(x.code));
  const auto rest = index_.size_of(x.code) - 1;
  if (rest == 0)
    return;
  const auto* oldest = index_.next_of(x.code, 0);
  if (oldest->number == x.number)
    oldest = index_.next_of(x.code, x.number);
  shares_.insert(
    {std::numeric_limits<size_t>::max() - rest, oldest->number, x.code});
}

} // namespace troupe
