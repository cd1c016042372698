#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace troupe {

/// Processes of one node that meet in a cell; larger sets ask the server.
inline constexpr uint32_t cell_participants = 1024;

/// The memory of a cell. All zeros: it is closed.
///
///     word   round << 1 | is open
///     bits   of each participant one: in an even round it is set by its
///            arrival, in an odd one cleared, so that nothing is ever reset
///            while somebody may arrive
///     collects   the last word in which a participant wanted data collected
struct alignas(64) cell_memory {
  std::atomic<uint32_t> word;
  std::atomic<uint32_t> collects;
  alignas(64) std::atomic<uint64_t> bits[cell_participants / 64];
};

static_assert(std::atomic<uint32_t>::is_always_lock_free
              && std::atomic<uint64_t>::is_always_lock_free);

/// A collective operation of processes of one node, round after round, without
/// a server: whoever arrives last ends the round and wakes the others. If other
/// nodes take part, the last one tells the server instead, which ends the round
/// when all nodes have.
///
/// Every step may be done twice and by anybody: who is killed between two of
/// them leaves what another one completes. A round ends by one store, and so
/// does the use of the cell: of the two, one comes first for all. Who is in a
/// round that does not end here asks the server as if there were no cell.
///
/// A cell may be spoilt by those who share it, no further than that their
/// rounds end early, or not before somebody closes it. All functions are safe
/// in any thread and process.
class collective_cell {
public:
  /// What became of a call.
  enum class outcome : uint8_t {
    /// All have arrived.
    complete,

    /// The cell was closed first: ask the server.
    closed,

    /// This call has not been answered yet.
    open,

    /// All of this node have arrived, others take part: tell the server which
    /// round it is, unless it knows.
    gathered,
  };

  /// The round that a call is in.
  using ticket = uint32_t;

  using time = std::chrono::steady_clock::time_point;

  /// @param count Participants of this node, from 1 to `cell_participants`.
  /// @param is_whole Whether there are no others.
  collective_cell(cell_memory& memory, uint32_t count,
                  bool is_whole = true) noexcept
    : memory_(memory), count_(count), is_whole_(is_whole) {
    // nop
  }

  // -- of participants --

  /// Notes that a participant is there, and ends the round if it is the last. It
  /// calls again only when the round has ended or the cell was closed.
  /// @param place Its number among the participants, from 0.
  /// @param mine Names the round; as it was if the cell is closed already.
  /// @param collects Whether it wants data of other nodes.
  /// @returns `open` if others are missing.
  outcome arrive(uint32_t place, ticket& mine, bool collects = false) noexcept;

  /// Waits until the round has ended or the cell is closed. If other nodes take
  /// part it closes the cell itself when that takes long: only the server hears
  /// of what fails elsewhere.
  /// @param spins How often to look before sleeping: 0 unless each participant
  ///              has a processor.
  outcome wait(ticket mine, uint32_t spins) noexcept;

  /// What became of the round by now; ends it if all are there, whoever was to
  /// do that.
  outcome look(ticket mine) noexcept;

  /// Looks so often whether the round has ended or the cell is closed.
  void spin(ticket mine, uint32_t spins) const noexcept;

  /// Until when the server may stay without word of who begins to wait now.
  static time end_of_patience() noexcept;

  /// Sleeps until one of the two happens, or a signal comes, but no longer than
  /// until then.
  /// @returns whether it is as late.
  bool doze(ticket mine, time until) const noexcept;

  /// Ends the use of the cell if the round has not ended.
  void give_up(ticket mine) noexcept;

  /// Ends the use of a cell, whoever takes part in it, and wakes all who wait.
  /// @returns whether it was open.
  static bool shut(cell_memory& memory) noexcept;

  // -- of the server --

  /// Lets participants arrive in a new round. @pre it is closed, and nobody is
  /// in a round any more
  void open() noexcept;

  /// Ends the use of the cell, and wakes all who wait: for the server, or for a
  /// participant that has lost it. A round for which all are there has ended.
  /// @returns whether it was open.
  bool close() noexcept;

  bool is_open() const noexcept;

  /// Whether all have arrived in a round that has not ended.
  bool has_gathered(ticket round) const noexcept;

  /// Whether one of them has wanted data in it.
  bool has_collected(ticket round) const noexcept;

  /// Ends a round that all have arrived in, unless the cell was closed first. Of
  /// participants as well, if one has more to look at than who has arrived.
  void end(ticket round) noexcept;

  /// Whether a participant has arrived in the last round of a closed cell, or
  /// in that which goes on.
  bool has_arrived(uint32_t place) const noexcept;

  /// The same of any participant.
  bool has_any_arrived() const noexcept;

  /// Rounds that have begun.
  uint32_t rounds() const noexcept;

  /// The same of a ticket: its own included.
  static uint32_t round_of(ticket x) noexcept {
    return x / 2;
  }

  /// The round that goes on, as whoever arrived now would get it; nothing if the
  /// cell is closed.
  std::optional<ticket> current() const noexcept;

private:
  bool is_full(uint32_t word) const noexcept;

  static void wake(const cell_memory& memory) noexcept;

  /// Bits of those who take part in one of `bits`.
  uint64_t mask_of(uint32_t i) const noexcept;

  cell_memory& memory_;
  uint32_t count_;
  bool is_whole_;
};

} // namespace troupe
