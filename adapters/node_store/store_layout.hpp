#pragma once

#include "adapters/node_store/collective_cell.hpp"
#include "adapters/node_store/group_cell.hpp"
#include "adapters/node_store/part_table.hpp"
#include "adapters/node_store/store_blocks.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What the two segments of a node store look like. There is one store for each
// namespace on each node.
//
// The *board*: written by the server alone, mapped by the others to read.
//
//     | board_header | of each rank of the job: rank_place | what has come of
//       processes of other nodes ... (brought_data.hpp) | data of the job
//       (job_bytes.hpp) |
//
// The *posts*: written by the processes of the job that are on this node, each
// in the region of its own.
//
//     | posts_header | of each local process: region_head | of each: shared_call
//       | pages: fronts ... | rests of regions ... |
//
// Its header has the cells in which the processes of the job on this node meet,
// in fences and to make groups: their places are the numbers of their regions. Parts
// of them meet in cells of their own: the board says which (part_table.hpp).
//
// A region holds the blocks of one process (store_blocks.hpp). Zeros mean that
// there is nothing, so that memory is taken only for what there is. Its first page,
// its front, lies beside those of the others: most processes post less than that,
// and whoever reads of one of them then has the pages of its neighbours mapped as
// well, instead of one page and one table of pages for each.

namespace troupe {

/// Both segments begin with it: whose they are, and how they are to be read.
struct store_mark {
  static constexpr uint64_t magic = 0x3165726f74537254; // "TrStore1"

  uint64_t what;

  /// Drawn by the server; nobody takes another segment for this one.
  std::array<uint64_t, 2> key;
};

/// Where the newest data of a rank are.
namespace store_source {

/// With the server only.
inline constexpr uint32_t server = 0;

/// In the region of the process, all of them.
inline constexpr uint32_t region = 1;

/// Bit: the server has to be told of the next commit, since somebody waits.
inline constexpr uint32_t wanted = 0x100;

/// Bit: the server has to be told of the next heartbeat, since the process has
/// been silent.
inline constexpr uint32_t beat_wanted = 0x200;

/// The source without bits.
inline constexpr uint32_t of(uint32_t x) {
  return x & ~(wanted | beat_wanted);
}

} // namespace store_source

struct board_header {
  store_mark mark;

  /// Ranks of the job, and its processes on this node.
  uint32_t ranks;
  uint32_t locals;

  /// Bytes of a region; whole pages.
  uint64_t region_bytes;

  /// How often a process that waits in a cell looks before it sleeps.
  uint32_t spins;

  /// Bytes for what comes of processes of other nodes.
  uint64_t brought_bytes;

  /// Bytes of the data of the job; 0: the server sends them.
  uint64_t job_bytes;

  group_terms groups;
  part_entry parts[most_parts];
};

struct rank_place {
  /// A source, and perhaps bits.
  std::atomic<uint32_t> source;

  /// The number of its region, counted from 1; 0: it has none.
  std::atomic<uint32_t> region;

  /// The shown word of one without a region (brought_data.hpp): what has come of
  /// it from its node. What is not there the server has.
  std::atomic<uint64_t> brought;
};

struct posts_header {
  store_mark mark;
  cell_memory fences;
  cell_memory groups;
  group_log_memory group_log;
  cell_memory parts[most_parts];
};

struct alignas(64) region_head {
  /// The chain in the region.
  store_chain chain;

  /// When the process has beaten last: nanoseconds of its steady clock. On a line
  /// of its own: others read the chain.
  alignas(64) std::atomic<uint64_t> beat;

  /// The number of the part's cell that it is in, or about to enter; 0: of none.
  std::atomic<uint32_t> part;
};

/// Where things are in segments of a size.
struct store_geometry {
  uint32_t ranks = 0;
  uint32_t locals = 0;
  uint64_t region_bytes = 0;
  uint64_t brought_bytes = 0;
  uint64_t job_bytes = 0;

  uint64_t board_size() const {
    return job() + job_bytes;
  }

  uint64_t job() const {
    return brought() + brought_bytes;
  }

  uint64_t brought() const {
    constexpr auto line = uint64_t{64};
    return (place_of(ranks) + line - 1) / line * line;
  }

  uint64_t posts_size() const {
    return rest(locals);
  }

  uint64_t place_of(uint32_t rank) const {
    return sizeof(board_header) + uint64_t{rank} * sizeof(rank_place);
  }

  uint64_t head(uint32_t number) const {
    return sizeof(posts_header) + uint64_t{number} * sizeof(region_head);
  }

  uint64_t calls() const {
    return head(locals);
  }

  /// The front of a region, and what follows it there.
  /// @param number From 0.
  uint64_t front(uint32_t number) const {
    const auto end = calls() + uint64_t{locals} * sizeof(shared_call);
    return (end + front_bytes - 1) / front_bytes * front_bytes
           + number * front_bytes;
  }

  uint64_t rest(uint32_t number) const {
    return front(locals) + number * (region_bytes - front_bytes);
  }

  /// A piece of one of the segments.
  struct piece {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  /// What begins at an offset of a region, and how much of it lies together.
  /// @pre offset < region_bytes
  piece piece_of(uint32_t number, uint64_t offset) const {
    if (offset < front_bytes)
      return {front(number) + offset, front_bytes - offset};
    return {rest(number) + offset - front_bytes, region_bytes - offset};
  }

  /// Whether no sum of it overflows, and nothing is larger than we make it.
  bool is_sane() const {
    return ranks <= most_ranks && locals <= cell_participants && locals > 0
           && region_bytes >= least_region && region_bytes <= most_region
           && region_bytes % least_region == 0 && brought_bytes <= most_brought
           && job_bytes <= most_job;
  }

  /// The largest job that has a store: 2^22 ranks.
  static constexpr uint32_t most_ranks = uint32_t{1} << 22;

  /// Bytes of a region, of which what a process has posted may take a part
  /// (`store_live_part`): one that posts more asks the server.
  static constexpr uint64_t least_region = uint64_t{64} << 10;
  static constexpr uint64_t most_region = uint64_t{8} << 20;

  /// Bytes of a front: a page.
  static constexpr uint64_t front_bytes = 4096;

  /// Bytes for what comes of processes of other nodes.
  static constexpr uint64_t most_brought = uint64_t{64} << 20;

  /// Bytes of the data of a job: the server sends more.
  static constexpr uint64_t most_job = uint64_t{64} << 20;
};

/// How a client finds a store, and what it has there.
struct store_address {
  /// The server's process, and its descriptors.
  uint32_t pid = 0;
  int board = -1;
  int posts = -1;
  std::array<uint64_t, 2> key{};

  /// The client's region, from 0; none: it reads only.
  std::optional<uint32_t> region{};
};

bool operator==(const store_address& x, const store_address& y);

/// A line of text without control characters.
std::string to_string(const store_address& x);

/// @returns nothing for what `to_string` has not made, of this version.
std::optional<store_address> parse_store_address(std::string_view text);

} // namespace troupe
