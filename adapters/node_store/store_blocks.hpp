#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

// What is posted, as it lies in shared memory. One process writes, others read
// at any time without asking, and none waits for another.
//
// What comes at one time is a *block*. It is written where nobody looks, then
// shown by one store of its offset, and never changed again: a writer that is
// killed at any instruction has shown the block or has not. Blocks of one
// process are a chain, newest first.
//
// Offsets grow for ever; an area is a ring, so that byte `x` is where `x` modulo
// its size is, and no block goes over its end. What no chain needs any more is
// written over: whoever reads looks afterwards how far the writer has come. The
// front of a ring may lie apart from its rest; no block goes over that either.
//
//     0          8        12       16      20
//     | previous | size   | count  | mark  | count times: hash, offset |
//     | entries, each at a multiple of 8 ...                           |
//
//     entry:  | value size | name size | views | 0 | name | value |
//             0            4           6       7   8
//
// Numbers are those of the machine; offsets of blocks count from the start of
// the area, those of entries from the start of their block. The reader believes
// nothing: whoever has written the memory, it reads nothing outside of it and
// comes to an end.

namespace troupe {

/// Who may see an entry: a set.
namespace store_view {

/// Processes of this node.
inline constexpr uint8_t here = 1;

/// Processes of other nodes.
inline constexpr uint8_t elsewhere = 2;

} // namespace store_view

/// A name and its value, as bytes. Without bytes: those who may see it are to see
/// nothing there any more.
struct store_entry {
  std::string_view name;
  std::string_view value;
  uint8_t views = store_view::here | store_view::elsewhere;
};

/// The longest name, in bytes: a key of 511 and what `storage_key` adds. Values
/// are bounded by their area, which is smaller than 4 GiB.
inline constexpr size_t store_name_limit = 4096;

/// The most entries of a chain.
inline constexpr size_t store_entry_limit = 65536;

/// The most blocks of a chain; it has no more than 30, since each is more than
/// twice as large as the next.
inline constexpr size_t store_chain_limit = 64;

/// Where a chain is, as its writer shows it.
struct store_chain {
  /// Offset of the newest block; 0: there is none.
  std::atomic<uint64_t> last;

  /// Where the writer is at most: what is a whole ring before that may be
  /// written over.
  std::atomic<uint64_t> writing;
};

/// Memory that holds blocks, or a copy of its part `[begin, begin + size)`.
struct store_area {
  const char* data = nullptr;
  uint64_t size = 0;

  /// Offset of the first byte; of a ring it means nothing.
  uint64_t begin = 0;
  bool is_ring = true;

  /// Of a ring: its first `front_size` bytes, if they lie apart; then `data` is
  /// what follows them. Both count in `size`.
  const char* front = nullptr;
  uint64_t front_size = 0;
};

/// Looks a name up; what was posted last counts.
/// @param last Offset of the newest block of the chain; 0: there is none.
/// @param views The entry has one of these.
/// @param lowest Gets the offset of the oldest block that was read.
/// @returns the value, where it lies: of an area that others write, to be
///          copied before it is read; nothing if the name is not there.
std::optional<std::string_view> find_entry(const store_area& area,
                                           uint64_t last, std::string_view name,
                                           uint8_t views = store_view::here,
                                           uint64_t* lowest = nullptr);

/// Lists entries as they were posted, oldest first; a later one of the same
/// name and views replaces an earlier one.
/// @param after Offset: blocks up to there are left out.
/// @returns whether all of it could be read; if not, `use` was not called.
bool list_entries(const store_area& area, uint64_t last, uint64_t after,
                  const std::function<void(const store_entry&)>& use);

/// Blocks and entries begin at multiples of this; what is before the first
/// block is never one's.
inline constexpr uint64_t store_alignment = 8;

/// The size and the predecessor of a block, of whose area the header is enough.
struct block_place {
  uint64_t end = 0;
  uint64_t previous = 0;
};

/// @returns nothing if there is no block at `offset`.
std::optional<block_place> place_of_block(const store_area& area,
                                          uint64_t offset);

/// Bytes of the header.
inline constexpr uint64_t block_header_bytes = 24;

/// The part of an area that the entries of a chain may take: the rest is for
/// what has been replaced.
inline constexpr uint64_t store_live_part = 4;

/// Bytes of a block of these entries, each of a name of its own.
uint64_t size_of_block(const std::vector<store_entry>& xs);

/// Writes a block of these entries, which nobody sees yet.
/// @param to `size_of_block` bytes, aligned to `store_alignment`.
/// @param previous Offset of the block before it in its chain; 0: none.
/// @pre They are `store_entry_limit` at most, of 4 GiB, and their names are no
///      longer than `store_name_limit`.
void write_block(char* to, uint64_t previous,
                 const std::vector<store_entry>& xs);

/// Writes blocks of one chain, one writer at a time.
class block_writer {
public:
  /// Makes sure that bytes of the area can be written.
  using reserver = std::function<bool(uint64_t offset, uint64_t size)>;

  /// Where a ring is.
  struct ring {
    char* data = nullptr;

    /// In bytes, a multiple of `store_alignment`.
    uint64_t size = 0;

    /// The first bytes, if they lie apart, as in `store_area`.
    char* front = nullptr;
    uint64_t front_size = 0;
  };

  block_writer(const ring& where, store_chain& chain, reserver reserve);

  /// Shows entries, all at once. Small blocks of the chain are written anew
  /// with them, so that a chain stays short: n single entries cost n log n
  /// bytes.
  /// @returns whether there is room; if not, nothing has changed.
  bool append(const std::vector<store_entry>& entries);

private:
  /// Where a block of so many bytes can begin, at an offset or after it.
  uint64_t fit(uint64_t offset, uint64_t bytes) const;

  char* at(uint64_t offset) const;

  ring ring_;
  store_chain& chain_;
  reserver reserve_;

  /// Entries of the block that is being made; between two, room for some.
  std::vector<store_entry> all_;
};

} // namespace troupe
