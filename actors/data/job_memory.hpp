#pragma once

#include "messages/data.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// In the directives of a fence: the round of the memory that a process has
/// arrived in before it asked (uint32). Libraries tell their servers.
inline constexpr std::string_view fence_round = "troupe.fence.round";

/// BOOL, in the infos of a job's start or registration: its processes share no
/// memory with their servers, as with `--no-shared-memory`.
inline constexpr std::string_view no_shared_memory_key =
  "troupe.no_shared_memory";

/// INT, the first entry of a log request that our library makes by itself: the
/// process cannot see the memory that its server has told it of; the error number
/// of the system says why.
inline constexpr std::string_view unseen_memory_key = "troupe.memory.unseen";

/// STRING, beside it: where the server may hand it over (`job_memory::hand`). It
/// has if the request succeeds.
inline constexpr std::string_view memory_inbox_key = "troupe.memory.inbox";

/// BOOL, the one entry in an answer to a request for the data of a job: they are in
/// the memory that the server has told the process of. Who does not find them there
/// says so (`unseen_memory_key`), and asks again.
inline constexpr std::string_view job_in_memory_key = "troupe.memory.job";

/// What all processes of a job have done without a message: they have made a
/// group of them all, or ended it.
struct shared_group {
  std::string id;

  /// Whether it is over.
  bool has_ended = false;

  /// Its context identifier; none if nobody wants one, or if it has ended.
  std::optional<uint64_t> context_id{};
};

/// Whether a group of this name might have that of a job: those of our daemons
/// have an `@`. The server judges it, so that none is made without a message.
constexpr bool may_be_name_of_job(std::string_view id) {
  return id.find('@') != std::string_view::npos;
}

/// Memory that a server shares with the processes of a job on its node: what
/// they post there has no message. See docs/decisions/0005.
/// For the thread of the server.
class job_memory {
public:
  virtual ~job_memory() = default;

  /// Whether processes find the data of the job there that it was made with.
  virtual bool has_job() const = 0;

  /// Lets a process post there from now on: one connection of a rank at a time.
  /// @returns where it finds it.
  virtual std::string lend(uint32_t rank) = 0;

  /// The same for one that only reads.
  virtual std::string address() const = 0;

  /// Hands the memory to a process of the same user that cannot open it.
  /// @param inbox As the process has named it.
  /// @returns 0, or the number of the system's error.
  virtual int hand(const std::string& inbox) const = 0;

  /// Whether all that a rank posts is there, or will be.
  virtual bool has(uint32_t rank) const = 0;

  /// A rank's data are with the server from now on. Take what is there once
  /// more after this.
  virtual void retire(uint32_t rank) = 0;

  /// Whether a process is to commit by a message as well next time, since
  /// somebody waits for it. Look again after this: it may just have posted.
  virtual void want(uint32_t rank, bool is_wanted) = 0;

  /// What a rank has posted since the last time, in its order. A rank whose
  /// memory cannot be read is retired.
  virtual std::vector<posted_data> take(uint32_t rank) = 0;

  /// Shows what has come of a process of another node, beside what has come
  /// before; what has no room there, they ask the server for. Of one of this node
  /// it does nothing.
  virtual void bring(uint32_t rank, const std::vector<key_value>& entries) = 0;

  /// Shows nothing any more of what has come of a process.
  virtual void drop(uint32_t rank) = 0;

  // -- fences --

  /// Processes meet in cells: all of the job on this node in `whole_job`, parts of
  /// them in cells that they are given.
  using cell_number = uint32_t;

  static constexpr cell_number whole_job = 0;

  /// Gives a part of the processes a cell, which is closed.
  /// @returns nothing if none is free.
  virtual std::optional<cell_number>
  add_cell(const std::vector<uint32_t>& ranks) = 0;

  /// Takes the cell of a part back. Those who wait there ask the server.
  virtual void remove_cell(cell_number cell) = 0;

  /// A process has ended: it keeps no cell of a part from being used.
  virtual void leave_cells(uint32_t rank) = 0;

  /// Lets processes meet in fences without a message, if they find the memory. If
  /// some of the job are on other nodes, whoever comes last of all of this node
  /// tells the server. @pre It is closed, and none of them is in a fence.
  /// @returns false if it stays closed, since somebody may be in a part's still.
  virtual bool open_fences(cell_number cell) = 0;

  /// Whether all of the job are in a round that has not ended.
  virtual bool has_gathered(uint32_t round) const = 0;

  /// Whether one of them wants data of other nodes for it.
  virtual bool has_collected(uint32_t round) const = 0;

  /// Other nodes have joined: lets all go that wait in a round.
  virtual void end_fence(uint32_t round) = 0;

  /// Whether somebody waits for others.
  virtual bool has_arrivals(cell_number cell) const = 0;

  /// Whether a process has arrived in the round that goes on. @pre it is open
  /// @param place Its place among those of the cell on this node, by rank.
  virtual bool has_arrived(cell_number cell, uint32_t place) const = 0;

  /// Has all of a cell ask the server, those who wait as well.
  /// @returns whether some do.
  virtual bool close_fences(cell_number cell) = 0;

  /// Fences that have gone on without a message, roughly.
  virtual uint64_t fences(cell_number cell) const = 0;

  // -- heartbeats --

  /// When a rank has beaten last without a message, in nanoseconds of the steady
  /// clock as the process reads it; 0: never. Processes of the job may have
  /// written anything there.
  virtual uint64_t last_beat(uint32_t rank) const = 0;

  /// Whether a rank is to beat by a message as well next time, since its silence
  /// was noticed. Look again after this: it may just have beaten.
  virtual void want_beat(uint32_t rank, bool is_wanted) = 0;

  /// Draws a context identifier.
  using numbers = std::function<uint64_t()>;

  /// Lets the processes of the job, all of which are on this node, make groups of
  /// them all without a message, and end what they have made so. Look at groups
  /// after `take_groups` only. @pre It is closed, all has been taken, and none of
  /// them waits there.
  virtual void open_groups(const numbers& next) = 0;

  /// Has all of them ask the server.
  virtual void close_groups() = 0;

  /// Rounds that they have met in to that end, roughly.
  virtual uint32_t group_rounds() const = 0;

  /// How many groups may be made there until they are taken.
  virtual uint32_t most_groups() const = 0;

  /// Whether there is something to take.
  virtual bool has_groups() const = 0;

  /// Takes what they have done since the last time, in its order.
  /// @returns nothing if that makes no sense: then it is closed.
  virtual std::optional<std::vector<shared_group>>
  take_groups(const numbers& next) = 0;

  /// Bytes of memory, and the most that it may take.
  virtual uint64_t used() const = 0;
  virtual uint64_t size() const = 0;
};

/// Makes such memory.
/// @param ranks Ranks of the job.
/// @param locals Those of this node.
/// @param bytes What each of them may post there.
/// @param data The data of the job, which it has if there is room for them.
/// @param why Gets the reason if there is none.
using job_memory_maker = std::function<std::unique_ptr<job_memory>(
  uint32_t ranks, const std::vector<uint32_t>& locals, uint64_t bytes,
  const job_info& data, std::string& why)>;

} // namespace troupe
