#pragma once

#include "adapters/node_store/collective_cell.hpp"
#include "adapters/node_store/group_cell.hpp"
#include "adapters/node_store/part_table.hpp"
#include "adapters/node_store/shared_segment.hpp"
#include "adapters/node_store/store_blocks.hpp"
#include "adapters/node_store/store_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A process's end of the memory that it shares with its server and with the
/// other processes of its job on this node. Safe on any thread. A forked child
/// must not use its parent's.
class store_access {
public:
  /// Maps a store.
  /// @param owner The user whose server it is.
  /// @param self This process's rank.
  /// @returns null, with the reason in `errno`: ENOENT or EACCES if this process
  ///          cannot see the server's, as in another container; EINVAL if it is
  ///          not the store that was meant.
  static std::unique_ptr<store_access> attach(const store_address& where,
                                              uint32_t owner, uint32_t self);

  /// A copy of what a process has posted under a name, for processes of this
  /// node: one of this node itself, or what the server has of one of another.
  /// @returns nothing if it is not here: then the server has to be asked.
  std::optional<std::string> find(uint32_t rank, std::string_view name) const;

  /// The data of the job, as the server has put them there; none if it sends them.
  /// They live as long as this.
  std::string_view job() const {
    return {board_.data() + shape_.job(),
            static_cast<size_t>(shape_.job_bytes)};
  }

  /// What became of a post.
  enum class posting : uint8_t {
    /// Everybody sees it.
    done,

    /// The same, and somebody waits for it: an empty commit tells the server.
    wanted,

    /// It is not here: it has to go to the server.
    refused,
  };

  /// Posts entries of this process, all at once.
  posting post(const std::vector<store_entry>& entries);

  /// Shows that this process lives.
  /// @param clock Nanoseconds of the steady clock; asked after what is there has
  ///              been read, so that no beat of another thread lies ahead.
  /// @returns `wanted` if the server has to be told as well, `refused` if it is
  ///          the only way.
  posting beat(const std::function<uint64_t()>& clock);

  /// Ranks of the job.
  uint32_t ranks() const {
    return shape_.ranks;
  }

  /// What came of waiting.
  struct meeting {
    collective_cell::outcome what = collective_cell::outcome::closed;

    /// The round that this process has arrived in, if it has.
    std::optional<collective_cell::ticket> round{};
  };

  /// Where this process meets others in fences.
  /// @param ranks Who they are, itself among them; none: all of the job.
  /// @returns nothing if the server has to be asked.
  std::optional<meeting_place>
  find_meeting(const std::vector<uint32_t>& ranks) const;

  /// Waits for all others of a meeting: one thread at a time.
  /// @param collects Whether it wants data of other nodes.
  /// @returns `complete`, or else the server has to be asked, and told of the
  ///          round.
  meeting meet(const meeting_place& where, bool collects);

  /// Has those who wait in a cell ask the server.
  /// @param cell As in the place of a meeting.
  void break_up(uint32_t cell);

  /// What came of calling together.
  struct group_outcome {
    /// Whether all have called the same; if not, the server has to be asked.
    bool is_done = false;

    /// Of a group that has been made: the round, and its context identifier.
    uint32_t round = 0;
    uint64_t number = 0;

    /// Whether this process is to remind the server of reading the log.
    bool is_behind = false;
  };

  /// Makes a group of all processes of the job, or ends it, when all of them call
  /// for it: one thread at a time.
  /// @param made The round in which a group was made that is to end.
  group_outcome meet(const group_call& call, std::optional<uint32_t> made);

  /// Has those who wait there ask the server.
  void break_up_groups();

private:
  store_access(store_geometry shape, shared_segment board, shared_segment posts,
               std::optional<uint32_t> region, uint32_t self);

  /// Arrives in a cell and waits there.
  meeting meet_in(collective_cell cell, uint32_t place, bool collects) const;

  /// Where the processes of the job on this node make groups.
  /// @returns nothing if they do not, or not with this one.
  std::optional<group_cell> groups() const;

  posts_header& posts_head() const;

  const board_header& board_head() const;

  const rank_place* place_of(uint32_t rank) const;

  region_head& head_of(uint32_t number) const;

  /// Makes the writer.
  void prepare();

  store_geometry shape_;
  shared_segment board_;
  shared_segment posts_;

  std::optional<uint32_t> region_;
  const rank_place& own_;

  std::mutex mutex_;
  std::vector<bool> reserved_;           // guarded by mutex_
  std::optional<block_writer> writer_{}; // guarded by mutex_
};

} // namespace troupe
