#pragma once

#include "adapters/node_store/collective_cell.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace troupe {

/// Parts of a job whose processes meet in cells of their own at a time.
inline constexpr uint32_t most_parts = 16;

/// Some processes of a job on one node, by the numbers of their regions.
class part_members {
public:
  using words = std::array<uint64_t, cell_participants / 64>;

  /// @returns false for a number that no process has.
  bool add(uint32_t number) noexcept;

  bool has(uint32_t number) const noexcept;

  uint32_t size() const noexcept;

  /// How many have a lower number.
  uint32_t place_of(uint32_t number) const noexcept;

  const words& bits() const noexcept {
    return bits_;
  }

private:
  words bits_{};
};

/// Which part of the job meets in a cell: on the board. Zeros: none does.
struct part_entry {
  /// Names the use of the cell by this part, and by no other; 0: there is none.
  std::atomic<uint32_t> use;

  std::atomic<uint64_t> members[cell_participants / 64];
};

/// Where a process meets others in fences.
struct meeting_place {
  /// 0: where all of its job do; else the number of the part's cell, from 1.
  uint32_t cell = 0;

  /// The use of it.
  uint32_t use = 0;

  /// Its place there, and how many they are.
  uint32_t place = 0;
  uint32_t count = 0;
};

// -- of processes. Safe on any thread --

/// The place of a process among those with whom it fences.
/// @param entries `most_parts` of them.
/// @param number Its own.
/// @returns nothing if they have no cell, or if it is none of them.
std::optional<meeting_place> find_part(const part_entry* entries,
                                       const part_members& members,
                                       uint32_t number) noexcept;

/// Shows that a process is about to arrive in a part's cell: nothing but a round
/// that it takes part in begins there until it shows the contrary.
/// @param shown Its word; one thread at a time.
/// @returns false if the cell is not the part's any more.
bool enter_part(std::atomic<uint32_t>& shown, const part_entry* entries,
                const meeting_place& where) noexcept;

/// The process is in no part's cell.
void leave_part(std::atomic<uint32_t>& shown) noexcept;

// -- of the server --

/// Gives parts of a job cells, and takes them back. A cell is given to another part,
/// or opened anew, only if no process shows that it is there: who has looked it up
/// and is slow, or was killed there, changes nothing for others. For one thread.
class part_table {
public:
  /// @param entries, cells `most_parts` of each.
  /// @param is_visited Whether a process shows that it is in the cell of this
  ///                   number.
  part_table(part_entry* entries, cell_memory* cells,
             std::function<bool(uint32_t)> is_visited);

  /// Gives a part a cell, which is closed.
  /// @returns its number; nothing if none is free.
  std::optional<uint32_t> add(const part_members& members);

  /// Takes a cell back. Those who wait there ask the server.
  void remove(uint32_t cell);

  /// Lets a part arrive. @pre it is closed
  /// @returns false if somebody may be there still.
  bool open(uint32_t cell);

  /// @pre it is a part's
  collective_cell at(uint32_t cell) const;

private:
  part_entry* entries_;
  cell_memory* cells_;
  std::function<bool(uint32_t)> is_visited_;
  std::array<uint32_t, most_parts> counts_{}; // 0: it is free
  uint32_t last_use_ = 0;
};

} // namespace troupe
