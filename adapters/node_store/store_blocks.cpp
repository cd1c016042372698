#include "adapters/node_store/store_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace troupe {

namespace {

constexpr uint32_t block_mark = 0x54524250; // "TRBP"

struct block_header {
  uint64_t previous;
  uint32_t size;
  uint32_t count;
  uint32_t mark;
  uint32_t unused;
};

static_assert(sizeof(block_header) == block_header_bytes);

struct index_entry {
  uint32_t hash;
  uint32_t offset;
};

static_assert(sizeof(index_entry) == 8);

struct entry_header {
  uint32_t value_size;
  uint16_t name_size;
  uint8_t views;
  uint8_t unused;
};

static_assert(sizeof(entry_header) == 8);

/// FNV-1a: the same in all processes.
uint32_t hash_of(std::string_view name) {
  auto result = uint32_t{2166136261};
  for (const auto c : name)
    result = (result ^ static_cast<uint8_t>(c)) * 16777619;
  return result;
}

constexpr uint64_t aligned(uint64_t x) {
  return (x + store_alignment - 1) / store_alignment * store_alignment;
}

constexpr uint64_t size_of(const store_entry& x) {
  return aligned(sizeof(entry_header) + x.name.size() + x.value.size());
}

/// Bytes as they are now: whoever writes them may be at it.
template <class T>
T load(const char* from) {
  T result;
  std::memcpy(&result, from, sizeof(T));
  return result;
}

/// A block whose bounds have been checked. What is in it has not.
struct block {
  block_header header;
  const char* data;
};

/// Where a block is, and how much of the area follows.
std::optional<std::pair<const char*, uint64_t>> bytes_at(const store_area& area,
                                                         uint64_t offset) {
  if (offset % store_alignment != 0 || offset == 0 || area.size == 0
      || (!area.is_ring && offset < area.begin))
    return std::nullopt;
  auto at = offset;
  if (!area.is_ring)
    at -= area.begin;
  else if (at >= area.size) // Most rings have not gone round: a division less.
    at %= area.size;
  const auto front = area.is_ring ? area.front_size : 0;
  const auto end = at < front ? front : area.size;
  if (at > end || end - at < sizeof(block_header))
    return std::nullopt;
  return std::pair{at < front ? area.front + at : area.data + (at - front),
                   end - at};
}

/// The block at an offset.
/// @param is_whole Whether all of it has to be in the area, not its header alone.
std::optional<block> block_at(const store_area& area, uint64_t offset,
                              bool is_whole = true) {
  const auto at = bytes_at(area, offset);
  if (!at)
    return std::nullopt;
  const auto result = block{load<block_header>(at->first), at->first};
  const auto& x = result.header;
  if (x.mark != block_mark || x.count > store_entry_limit
      || x.previous >= offset || offset > UINT64_MAX - x.size
      || x.size < sizeof(block_header) + x.count * sizeof(index_entry)
      || (is_whole && x.size > at->second))
    return std::nullopt;
  return result;
}

index_entry index_of(const block& x, uint32_t i) {
  return load<index_entry>(x.data + sizeof(block_header)
                           + i * sizeof(index_entry));
}

std::optional<store_entry> entry_at(const block& x, uint32_t offset) {
  const auto size = x.header.size;
  if (offset > size || size - offset < sizeof(entry_header))
    return std::nullopt;
  const auto head = load<entry_header>(x.data + offset);
  const auto room = size - offset - sizeof(entry_header);
  if (head.name_size > room || head.value_size > room - head.name_size
      || head.name_size > store_name_limit)
    return std::nullopt;
  const auto* name = x.data + offset + sizeof(entry_header);
  return store_entry{{name, head.name_size},
                     {name + head.name_size, head.value_size},
                     head.views};
}

/// The blocks of a chain, newest first, as far as `wants` says and to that
/// after `after`. They lie apart from each other, so that all of them have no
/// more bytes than the area.
/// @returns whether they could be read.
template <class F>
bool walk(const store_area& area, uint64_t last, uint64_t after, F wants) {
  auto end = uint64_t{0};
  auto lowest = uint64_t{0};
  for (size_t n = 0; last > after; ++n) {
    if (n == store_chain_limit)
      return false;
    const auto x = block_at(area, last);
    if (!x)
      return false;
    if (n == 0) {
      end = last + x->header.size;
      lowest = end > area.size ? end - area.size : 0;
    }
    if (last < lowest || x->header.size > end - last)
      return false;
    if (!wants(*x, last))
      return true;
    end = last;
    last = x->header.previous;
  }
  return true;
}

/// Lists the entries of a block. They lie apart from each other as well.
/// @returns whether they could be read.
bool entries_of(const block& x, std::vector<store_entry>& to) {
  auto bytes = uint64_t{0};
  for (uint32_t i = 0; i < x.header.count; ++i) {
    const auto y = entry_at(x, index_of(x, i).offset);
    if (!y)
      return false;
    bytes += size_of(*y);
    if (bytes > x.header.size)
      return false;
    to.push_back(*y);
  }
  return true;
}

/// Leaves out what is replaced by a later entry; the order stays.
std::vector<store_entry> without_replaced(std::vector<store_entry> xs) {
  // By name, later ones first.
  auto order = std::vector<size_t>(xs.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    const auto by_name = xs[i].name.compare(xs[j].name);
    return by_name != 0 ? by_name < 0 : i > j;
  });
  auto drops = std::vector<bool>(xs.size(), false);
  auto seen = uint8_t{0};
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& x = xs[order[i]];
    if (i == 0 || x.name != xs[order[i - 1]].name)
      seen = 0;
    drops[order[i]] = (seen & x.views) == x.views;
    seen = static_cast<uint8_t>(seen | x.views);
  }
  auto result = std::vector<store_entry>{};
  for (size_t i = 0; i < xs.size(); ++i)
    if (!drops[i])
      result.push_back(xs[i]);
  return result;
}

/// So many are compared each with each.
constexpr size_t few_entries = 16;

/// For so many a writer keeps room.
constexpr size_t kept_entries = 1024;

/// The same for a few of them, whose names may change meanwhile.
void drop_replaced(std::vector<store_entry>& xs) {
  auto kept = xs.end();
  for (auto i = xs.end(); i != xs.begin();) {
    --i;
    auto seen = uint8_t{0};
    for (auto j = kept; j != xs.end(); ++j)
      if (j->name == i->name)
        seen = static_cast<uint8_t>(seen | j->views);
    if ((seen & i->views) != i->views)
      *--kept = *i;
  }
  xs.erase(xs.begin(), kept);
}

/// The blocks of a chain, newest first.
class blocks_of_chain {
public:
  void add(const block& x) {
    blocks_[size_++] = x;
  }

  size_t size() const {
    return size_;
  }

  const block& operator[](size_t i) const {
    return blocks_[i];
  }

private:
  size_t size_ = 0;
  block blocks_[store_chain_limit]; // Left as it is: most chains are short.
};

} // namespace

// -- reading -----------------------------------------------------------------

std::optional<std::string_view> find_entry(const store_area& area,
                                           uint64_t last, std::string_view name,
                                           uint8_t views, uint64_t* lowest) {
  // Names of so few are compared in less time than a hash takes.
  constexpr auto unhashed = uint32_t{4};
  auto hash = std::optional<uint32_t>{};
  auto result = std::optional<std::string_view>{};
  if (lowest != nullptr)
    *lowest = last;
  walk(area, last, 0, [&](const block& x, uint64_t offset) {
    if (lowest != nullptr)
      *lowest = offset;
    if (x.header.count > unhashed && !hash)
      hash = hash_of(name);
    for (auto i = x.header.count; i > 0; --i) {
      const auto place = index_of(x, i - 1);
      if (x.header.count > unhashed && place.hash != *hash)
        continue;
      const auto y = entry_at(x, place.offset);
      if (y && (y->views & views) != 0 && y->name == name) {
        result = y->value;
        return false;
      }
    }
    return true;
  });
  return result;
}

bool list_entries(const store_area& area, uint64_t last, uint64_t after,
                  const std::function<void(const store_entry&)>& use) {
  auto blocks = std::vector<block>{};
  const auto is_whole = walk(area, last, after, [&](const block& x, uint64_t) {
    blocks.push_back(x);
    return true;
  });
  if (!is_whole)
    return false;
  auto all = std::vector<store_entry>{};
  for (auto i = blocks.rbegin(); i != blocks.rend(); ++i)
    if (!entries_of(*i, all) || all.size() > store_entry_limit)
      return false;
  for (const auto& x : without_replaced(std::move(all)))
    use(x);
  return true;
}

std::optional<block_place> place_of_block(const store_area& area,
                                          uint64_t offset) {
  const auto x = block_at(area, offset, false);
  if (!x)
    return std::nullopt;
  return block_place{offset + x->header.size, x->header.previous};
}

// -- writing -----------------------------------------------------------------

namespace {

/// Where the entries of a block begin.
constexpr uint64_t first_entry(size_t count) {
  return aligned(sizeof(block_header) + count * sizeof(index_entry));
}

bool is_name(const store_entry& x) {
  return x.name.size() <= store_name_limit;
}

} // namespace

uint64_t size_of_block(const std::vector<store_entry>& xs) {
  auto result = first_entry(xs.size());
  for (const auto& x : xs)
    result += size_of(x);
  return result;
}

void write_block(char* to, uint64_t previous,
                 const std::vector<store_entry>& xs) {
  auto* place = to + sizeof(block_header);
  auto offset = static_cast<uint32_t>(first_entry(xs.size()));
  for (const auto& x : xs) {
    const auto at = index_entry{hash_of(x.name), offset};
    std::memcpy(place, &at, sizeof(at));
    place += sizeof(at);
    const auto head =
      entry_header{static_cast<uint32_t>(x.value.size()),
                   static_cast<uint16_t>(x.name.size()), x.views, 0};
    auto* bytes = to + offset;
    std::memcpy(bytes, &head, sizeof(head));
    bytes += sizeof(head);
    std::copy(x.name.begin(), x.name.end(), bytes);
    std::copy(x.value.begin(), x.value.end(), bytes + x.name.size());
    offset += static_cast<uint32_t>(size_of(x));
  }
  const auto head = block_header{
    previous, offset, static_cast<uint32_t>(xs.size()), block_mark, 0};
  std::memcpy(to, &head, sizeof(head));
}

block_writer::block_writer(const ring& where, store_chain& chain,
                           reserver reserve)
  : ring_(where), chain_(chain), reserve_(std::move(reserve)) {
  // nop
}

uint64_t block_writer::fit(uint64_t offset, uint64_t bytes) const {
  const auto front = ring_.front_size;
  const auto place = offset % ring_.size;
  if (place >= front && place + bytes <= ring_.size)
    return offset;
  // In the front, or after it, of this turn or of the next.
  const auto turn = place < front ? offset : offset + ring_.size - place;
  const auto begin = turn % ring_.size;
  return begin + bytes <= front || front == 0 ? turn : turn + front - begin;
}

char* block_writer::at(uint64_t offset) const {
  const auto place = offset % ring_.size;
  return place < ring_.front_size ? ring_.front + place
                                  : ring_.data + (place - ring_.front_size);
}

bool block_writer::append(const std::vector<store_entry>& entries) {
  if (!std::all_of(entries.begin(), entries.end(), is_name))
    return false;
  const auto size = ring_.size;
  const auto area =
    store_area{ring_.data, size, 0, true, ring_.front, ring_.front_size};
  // Where another writer was killed there is nothing to be kept after this.
  const auto last = chain_.last.load(std::memory_order_relaxed);
  const auto next = std::max(
    aligned(chain_.writing.load(std::memory_order_relaxed)), store_alignment);
  blocks_of_chain chain;
  auto lowest = next;
  const auto is_readable = walk(area, last, 0, [&](const block& x, uint64_t y) {
    lowest = y;
    chain.add(x);
    return true;
  });
  if (next > UINT64_MAX / 2 || next < last || next - last > size || !is_readable
      || (last != 0 && next < last + chain[0].header.size))
    return false;
  // Half of the ring is in use: all of the chain is written anew. Otherwise each
  // block of a chain is more than twice as large as the next.
  auto bytes = size_of_block(entries);
  const auto is_full = next - lowest + bytes > size / 2;
  auto count = entries.size();
  auto merged = size_t{0};
  for (; merged < chain.size(); ++merged) {
    const auto& x = chain[merged].header;
    if (count + x.count > store_entry_limit || (!is_full && x.size > 2 * bytes))
      break;
    count += x.count;
    bytes += x.size;
  }
  auto left = size_t{0};
  auto left_bytes = uint64_t{0};
  for (auto i = merged; i < chain.size(); ++i) {
    left += chain[i].header.count;
    left_bytes += chain[i].header.size;
  }
  const auto previous = merged > 0 ? chain[merged - 1].header.previous : last;
  auto& all = all_;
  all.clear();
  all.reserve(count);
  // Others may write there meanwhile: names that are sorted must not change.
  auto copies = std::vector<std::string>{};
  copies.reserve(count > few_entries ? merged : 0);
  for (auto i = merged; i > 0; --i) {
    auto x = chain[i - 1];
    if (count > few_entries)
      x.data = copies.emplace_back(x.data, x.header.size).data();
    if (!entries_of(x, all))
      return false;
  }
  all.insert(all.end(), entries.begin(), entries.end());
  if (count > few_entries)
    all = without_replaced(std::move(all));
  else
    drop_replaced(all);
  bytes = size_of_block(all);
  if (all.size() + left > store_entry_limit
      || bytes + left_bytes > size / store_live_part || bytes > UINT32_MAX)
    return false;
  const auto start = fit(next, bytes);
  const auto end = start + bytes;
  // What is shown now stays until the new block is.
  if (end - lowest > size || !reserve_(start % size, bytes))
    return false;
  chain_.writing.store(end, std::memory_order_relaxed);
  // Before what is written over: whoever reads looks the other way round.
  std::atomic_thread_fence(std::memory_order_release);
  write_block(at(start), previous, all);
  chain_.last.store(start, std::memory_order_release);
  if (all.capacity() > kept_entries)
    all = std::vector<store_entry>{};
  return true;
}

} // namespace troupe
