#include "adapters/node_store/brought_data.hpp"

#include <cstring>
#include <deque>
#include <set>
#include <utility>

namespace troupe {

namespace {

/// How often somebody looks at what is replaced meanwhile.
constexpr int looks_at_most = 8;

/// The name under which a block has the offset of the next older one.
constexpr auto older = std::string_view{};

constexpr auto offset_bits = 32;

uint64_t offset_in(uint64_t shown) {
  return (shown & UINT32_MAX) * store_alignment;
}

void show(std::atomic<uint64_t>& shown, uint64_t offset) {
  const auto changes =
    (shown.load(std::memory_order_relaxed) >> offset_bits) + 1;
  shown.store(changes << offset_bits | offset / store_alignment,
              std::memory_order_release);
  // Whoever sees what replaces a block that was shown sees this as well.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Rooms come in few sizes, at most a quarter larger than what is in them, so
/// that one that has been left fits another block.
uint64_t room_for(uint64_t bytes) {
  constexpr auto least = uint64_t{64};
  auto power = least;
  while (power <= bytes / 2)
    power *= 2;
  const auto step = power / 4;
  return (bytes + step - 1) / step * step;
}

std::optional<std::string_view>
find_in_chain(const store_area& area, uint64_t offset, std::string_view name) {
  for (size_t n = 0; n < store_chain_limit && offset != 0; ++n) {
    if (const auto found = find_entry(area, offset, name))
      return found;
    const auto link = find_entry(area, offset, older);
    if (!link || link->size() != sizeof(offset))
      return std::nullopt;
    std::memcpy(&offset, link->data(), sizeof(offset));
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> find_brought(const store_area& area,
                                        const std::atomic<uint64_t>& shown,
                                        std::string_view name) {
  if (name == older)
    return std::nullopt;
  for (auto i = 0; i < looks_at_most; ++i) {
    const auto now = shown.load(std::memory_order_acquire);
    const auto found = find_in_chain(area, offset_in(now), name);
    auto result =
      found ? std::optional<std::string>{std::in_place, *found} : std::nullopt;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.load(std::memory_order_relaxed) == now)
      return result;
  }
  return std::nullopt;
}

brought_data::brought_data(char* data, uint64_t size, reserver reserve)
  : data_(data), size_(size), reserve_(std::move(reserve)) {
  // nop
}

brought_data::block brought_data::allocate(uint64_t bytes) {
  const auto room = room_for(bytes);
  if (const auto i = free_.lower_bound(room); i != free_.end()) {
    const auto result = block{i->second, bytes, i->first};
    // What is much larger stays for what is.
    if (i->first == room || end_ + room > size_) {
      free_.erase(i);
      return result;
    }
  }
  if (room > size_ || end_ > size_ - room || !reserve_(end_, room))
    return {};
  return {std::exchange(end_, end_ + room), bytes, room};
}

void brought_data::release(const block& x) {
  size_bytes_ -= x.bytes;
  free_.emplace(x.room, x.offset);
}

bool brought_data::list(const block& x, std::string& copy,
                        std::vector<store_entry>& to) const {
  copy.assign(data_ + x.offset, x.bytes);
  return list_entries({copy.data(), copy.size(), x.offset, false}, x.offset, 0,
                      [&](const store_entry& y) { to.push_back(y); });
}

bool brought_data::add(uint32_t rank, std::atomic<uint64_t>& shown,
                       const std::vector<store_entry>& entries) {
  auto& blocks = ranks_[rank];
  auto names = std::set<std::string_view>{};
  auto all = std::vector<store_entry>{};
  const auto is_new = [&](const store_entry& x) {
    return x.name != older && names.insert(x.name).second;
  };
  for (auto i = entries.rbegin(); i != entries.rend(); ++i)
    if (is_new(*i))
      all.push_back({i->name, i->value, store_view::here});
  if (all.empty())
    return true;
  auto kept = blocks.size();
  auto is_whole = true;
  auto copies = std::deque<std::string>{};
  while (is_whole && kept > 0
         && blocks[kept - 1].bytes <= 2 * size_of_block(all)) {
    auto before = std::vector<store_entry>{};
    is_whole = list(blocks[--kept], copies.emplace_back(), before);
    for (const auto& x : before)
      if (is_new(x))
        all.push_back(x);
  }
  const auto link = kept > 0 ? blocks[kept - 1].offset : 0;
  char link_bytes[sizeof(link)];
  std::memcpy(link_bytes, &link, sizeof(link));
  if (link != 0)
    all.push_back({older, {link_bytes, sizeof(link)}, store_view::here});
  for (const auto& x : all)
    is_whole =
      is_whole && x.name.size() <= store_name_limit && x.value.size() < size_;
  const auto fresh = is_whole && all.size() <= store_entry_limit
                       ? allocate(size_of_block(all))
                       : block{};
  if (fresh.offset == 0) {
    drop(rank, shown);
    return false;
  }
  write_block(data_ + fresh.offset, 0, all);
  show(shown, fresh.offset);
  size_bytes_ += fresh.bytes;
  for (auto i = kept; i < blocks.size(); ++i)
    release(blocks[i]);
  blocks.resize(kept);
  blocks.push_back(fresh);
  return true;
}

void brought_data::drop(uint32_t rank, std::atomic<uint64_t>& shown) {
  const auto i = ranks_.find(rank);
  if (i == ranks_.end())
    return;
  if (!i->second.empty())
    show(shown, 0);
  for (const auto& x : i->second)
    release(x);
  ranks_.erase(i);
}

} // namespace troupe
