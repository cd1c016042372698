#pragma once

#include "adapters/node_store/brought_data.hpp"
#include "adapters/node_store/collective_cell.hpp"
#include "adapters/node_store/group_cell.hpp"
#include "adapters/node_store/part_table.hpp"
#include "adapters/node_store/shared_segment.hpp"
#include "adapters/node_store/store_blocks.hpp"
#include "adapters/node_store/store_layout.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

/// The server's end of the memory that it shares with the processes of a
/// namespace on its node: what they post is read there by all of them without
/// asking. What they may have written there is copied before it is looked at;
/// nothing in it can stop the server.
/// For one thread. The processes' end is `store_access`.
class node_store {
public:
  struct settings {
    /// Ranks of the job.
    uint32_t ranks = 0;

    /// Those of this node.
    std::vector<uint32_t> locals;

    /// Bytes of a process's region, rounded down to what fits; what it has
    /// posted takes a quarter of it at most.
    uint64_t region_bytes = store_geometry::most_region;

    /// How often a process that waits for others looks before it sleeps.
    uint32_t spins = 0;

    /// Bytes for what comes of processes of other nodes.
    uint64_t brought_bytes = 0;

    /// The data of the job, as `store_access::job` gives them; empty: the server
    /// sends them.
    std::string_view job{};
  };

  /// Makes a store. Memory is taken as it is written.
  /// @returns null, with the reason in `errno`: EINVAL for a job that is too
  ///          large or has no process here, ENOMEM, EMFILE.
  static std::unique_ptr<node_store> make(const settings& what);

  /// Whether the data of the job are there: there was room for them.
  bool has_job() const {
    return shape_.job_bytes > 0;
  }

  /// Lets a process post there from now on: one connection of a rank at a time.
  /// @returns where it finds the store; without a region if the rank has none,
  ///          or if its data are with the server.
  store_address lend(uint32_t rank);

  /// The same for one that only reads.
  store_address address() const;

  /// Takes a rank's data out of the store, for good: whoever wants them asks
  /// the server, which takes what is there once more after this.
  void retire(uint32_t rank);

  /// Whether all that a rank has posted is in the store, or will be.
  bool has(uint32_t rank) const;

  /// Whether a process is to tell of its next commit, since somebody waits for
  /// it. Look again after this: it may just have posted.
  void want(uint32_t rank, bool is_wanted);

  /// Takes what a rank has posted since the last time, oldest first.
  /// @param use Must not take anything itself.
  /// @returns whether it could be read; if not, the rank is retired.
  bool take(uint32_t rank, const std::function<void(const store_entry&)>& use);

  /// Shows what has come of a process of another node.
  /// @returns whether there is room; if not, or if the rank has a region, nothing
  ///          that has come of it is shown: whoever wants it asks the server.
  bool bring(uint32_t rank, const std::vector<store_entry>& entries);

  /// Shows nothing any more of what has come of a process of another node.
  void drop(uint32_t rank);

  /// When a rank has beaten last: what stands there, whoever has written it; 0
  /// for one without a region.
  uint64_t last_beat(uint32_t rank) const;

  /// Whether a process is to tell of its next beat. Look again after this.
  void want_beat(uint32_t rank, bool is_wanted);

  /// Where the processes of this node meet in fences over the job.
  collective_cell fences() const;

  /// Gives some of them a cell of their own for fences.
  /// @returns its number in `parts`; nothing if none is free, or if not all have
  ///          regions.
  std::optional<uint32_t> add_part(const std::vector<uint32_t>& ranks);

  /// Where they meet.
  part_table& parts() {
    return parts_;
  }

  /// A process has ended: it is in no cell of a part, whatever it has shown.
  void leave_parts(uint32_t rank);

  /// What they have done to groups of them all.
  group_reader& groups() {
    return groups_;
  }

  const group_reader& groups() const {
    return groups_;
  }

  /// Bytes of memory, of all that is mapped by whom ever.
  uint64_t used() const;

  /// The most that it may take, in bytes.
  uint64_t size() const {
    return board_.size() + posts_.size();
  }

private:
  struct region {
    uint32_t number = 0;

    /// Whether nothing more is taken: it is damaged, or what was there when its
    /// data went to the server has been.
    bool is_closed = false;

    /// Whether the server has the data.
    bool is_retired = false;

    /// The newest block that has been taken.
    uint64_t last = 0;
  };

  node_store(store_geometry shape, shared_segment board, shared_segment posts);

  rank_place& place_of(uint32_t rank);

  region_head& head_of(uint32_t number) const;

  posts_header& posts_head() const;

  board_header& board_head() const;

  /// Sees to it that a part of the board can be written, in pieces.
  bool reserve_board(uint64_t offset, uint64_t size);

  /// Copies a part of a region into `copy_`.
  bool copy_region(uint32_t number, uint64_t from, uint64_t to);

  /// Copies what has come since the last time.
  /// @param lowest Gets the offset of the oldest block that was looked at.
  std::optional<store_area> copy_news(const region& x, uint64_t last,
                                      uint64_t& lowest);

  /// What became of a look at a region.
  enum class look_outcome : uint8_t { taken, overtaken, damaged };

  look_outcome look(region& x,
                    const std::function<void(const store_entry&)>& use);

  store_geometry shape_;
  shared_segment board_;
  shared_segment posts_;
  std::array<uint64_t, 2> key_{};
  std::unordered_map<uint32_t, region> regions_; // by rank
  std::string copy_;
  std::vector<bool> reserved_; // pieces of the board
  brought_data brought_;
  group_reader groups_;
  part_table parts_;
};

} // namespace troupe
