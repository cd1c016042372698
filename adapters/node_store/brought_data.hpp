#pragma once

#include "adapters/node_store/store_blocks.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// What has come of processes of other nodes, in an area that the server alone
// writes and everybody reads at any time.
//
// Of each rank there is a *shown word*:
//
//     | changes so far: 32 bits | offset of its newest block / 8: 32 bits |
//
// An offset of 0 means that nothing is shown. A block is never changed while it is
// shown. The name of no bytes in it has the offset of the next older block. What is
// replaced is written over, but only when the word has changed: whoever finds it
// changed after reading looks again.

namespace troupe {

/// A copy of what is shown of a rank under a name. The reader believes nothing:
/// it reads nothing outside of the area and comes to an end.
/// @param area From offset 0; no ring.
/// @returns nothing if it is not there: then the server has to be asked.
std::optional<std::string> find_brought(const store_area& area,
                                        const std::atomic<uint64_t>& shown,
                                        std::string_view name);

/// Writes such an area.
class brought_data {
public:
  using reserver = block_writer::reserver;

  /// @param data The area, of `size` bytes.
  brought_data(char* data, uint64_t size, reserver reserve);

  /// Shows entries of a rank, all at once; what was shown under the same names
  /// is not any more. Small blocks are written anew with the next, so that n
  /// entries that come one by one cost n log n bytes of writing.
  /// @param shown The word of the rank; always the same.
  /// @returns whether there is room; if not, nothing of the rank is shown, since
  ///          it may have been replaced.
  bool add(uint32_t rank, std::atomic<uint64_t>& shown,
           const std::vector<store_entry>& entries);

  /// Shows nothing of a rank any more.
  void drop(uint32_t rank, std::atomic<uint64_t>& shown);

  /// Bytes of all that is shown.
  uint64_t size_bytes() const {
    return size_bytes_;
  }

private:
  struct block {
    uint64_t offset = 0;
    uint64_t bytes = 0;

    /// Bytes that it may have.
    uint64_t room = 0;
  };

  /// Oldest first; each is more than twice as large as the next.
  using chain = std::vector<block>;

  /// @returns 0 if there is no room.
  block allocate(uint64_t bytes);

  void release(const block& x);

  /// Finds entries of a block that nobody else changes.
  bool list(const block& x, std::string& copy,
            std::vector<store_entry>& to) const;

  char* data_;
  uint64_t size_;
  reserver reserve_;
  std::unordered_map<uint32_t, chain> ranks_;
  std::multimap<uint64_t, uint64_t> free_; // offsets by room

  /// Nothing has been written from here on. Offset 0 is nobody's.
  uint64_t end_ = store_alignment;
  uint64_t size_bytes_ = 0;
};

} // namespace troupe
