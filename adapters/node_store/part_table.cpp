#include "adapters/node_store/part_table.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

namespace troupe {

namespace {

uint32_t count_of(uint64_t bits) {
  return static_cast<uint32_t>(std::bitset<64>{bits}.count());
}

} // namespace

// -- members --------------------------------------------------------------------

bool part_members::add(uint32_t number) noexcept {
  if (number >= cell_participants)
    return false;
  bits_[number / 64] |= uint64_t{1} << number % 64;
  return true;
}

bool part_members::has(uint32_t number) const noexcept {
  return number < cell_participants
         && (bits_[number / 64] >> number % 64 & 1) != 0;
}

uint32_t part_members::size() const noexcept {
  return place_of(cell_participants);
}

uint32_t part_members::place_of(uint32_t number) const noexcept {
  auto result = uint32_t{0};
  for (uint32_t i = 0; i < bits_.size() && i * 64 < number; ++i) {
    const auto left = number - i * 64;
    const auto mask = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    result += count_of(bits_[i] & mask);
  }
  return result;
}

// -- of processes ---------------------------------------------------------------

std::optional<meeting_place> find_part(const part_entry* entries,
                                       const part_members& members,
                                       uint32_t number) noexcept {
  if (!members.has(number))
    return std::nullopt;
  const auto& bits = members.bits();
  for (uint32_t i = 0; i < most_parts; ++i) {
    const auto& x = entries[i];
    const auto use = x.use.load();
    // Members that are just written have another use: `enter_part` sees it.
    if (use != 0 && std::equal(bits.begin(), bits.end(), x.members))
      return meeting_place{i + 1, use, members.place_of(number),
                           members.size()};
  }
  return std::nullopt;
}

bool enter_part(std::atomic<uint32_t>& shown, const part_entry* entries,
                const meeting_place& where) noexcept {
  // The server sees this word, or this process what the server has written before
  // it looked.
  shown.store(where.cell);
  if (entries[where.cell - 1].use.load() == where.use)
    return true;
  leave_part(shown);
  return false;
}

void leave_part(std::atomic<uint32_t>& shown) noexcept {
  shown.store(0);
}

// -- of the server --------------------------------------------------------------

part_table::part_table(part_entry* entries, cell_memory* cells,
                       std::function<bool(uint32_t)> is_visited)
  : entries_(entries), cells_(cells), is_visited_(std::move(is_visited)) {
  // nop
}

std::optional<uint32_t> part_table::add(const part_members& members) {
  for (uint32_t i = 0; i < most_parts; ++i) {
    const auto cell = i + 1;
    if (counts_[i] != 0 || is_visited_(cell))
      continue;
    auto& to = entries_[i];
    for (size_t n = 0; n < members.bits().size(); ++n)
      to.members[n].store(members.bits()[n]);
    counts_[i] = members.size();
    last_use_ = std::max(last_use_ + 1, uint32_t{1});
    to.use.store(last_use_);
    return cell;
  }
  return std::nullopt;
}

void part_table::remove(uint32_t cell) {
  entries_[cell - 1].use.store(0);
  at(cell).close();
  counts_[cell - 1] = 0;
}

bool part_table::open(uint32_t cell) {
  if (is_visited_(cell))
    return false;
  at(cell).open();
  return true;
}

collective_cell part_table::at(uint32_t cell) const {
  return {cells_[cell - 1], counts_[cell - 1]};
}

} // namespace troupe
