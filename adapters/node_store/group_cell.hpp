#pragma once

#include "adapters/node_store/collective_cell.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Groups that the processes of a job may make or end before the server has to
/// have read of them.
inline constexpr uint32_t group_log_size = 64;

/// Bytes of a group's name at most.
inline constexpr size_t group_name_bytes = 255;

/// What a participant of a round calls: those of others have to be equal.
struct shared_call {
  std::atomic<uint64_t> parts[2];
};

/// The same in full, of the round whose number it has by the size of the log;
/// written by the first participant. Zeros: none.
struct group_record {
  uint8_t kind;
  uint8_t wants_number;
  uint16_t size;
  char id[group_name_bytes + 1];
};

struct group_log_memory {
  group_record records[group_log_size];
};

/// What the server grants, on the board.
struct group_terms {
  /// The round in which the cell was opened last, and the first one that has to
  /// wait until the server has read of others.
  std::atomic<uint32_t> opening;
  std::atomic<uint32_t> limit;

  /// Context identifiers, by rounds as in the log.
  std::atomic<uint64_t> numbers[group_log_size];
};

/// What all processes of a job do at once: they make a group of them all, or
/// end it.
struct group_call {
  enum class kind : uint8_t { construct = 1, destruct = 2 };

  kind what = kind::construct;
  std::string id;

  /// Whether the group has a context identifier.
  bool wants_number = false;
};

/// The cell in which the processes of a job meet that make a group of them all,
/// or end one that they have made there. It is as in fences, but a round ends
/// only if all call the same; if not, all of them ask the server. Whoever has
/// waited for long asks it, too. What has come of the rounds stands in a log,
/// which the server reads before it looks at groups.
/// All functions are safe in any thread and process.
class group_cell {
public:
  using outcome = collective_cell::outcome;
  using ticket = collective_cell::ticket;

  group_cell(cell_memory& memory, group_log_memory& log,
             const group_terms& terms, shared_call* calls,
             uint32_t count) noexcept
    : cell_(memory, count, false), log_(log), terms_(terms), calls_(calls),
      count_(count) {
    // nop
  }

  /// What a participant that arrives learns.
  struct place_in_round {
    /// 0: it has not arrived.
    ticket mine = 0;

    /// The context identifier of the group.
    uint64_t number = 0;
  };

  /// Notes that a participant calls, as `collective_cell::arrive`. One that finds
  /// no room in the log closes the cell.
  /// @param made The round in which a group was made that is to end.
  outcome arrive(uint32_t place, const group_call& call,
                 std::optional<uint32_t> made, place_in_round& mine) noexcept;

  /// Waits until the round has ended or the cell is closed; closes it itself when
  /// that takes long.
  outcome wait(ticket mine, uint32_t spins) noexcept;

  /// What became of the round by now; ends it if all call the same, and closes
  /// the cell if they do not.
  outcome look(ticket mine) noexcept;

  /// Has all of them ask the server. A round that all have arrived in ends first.
  void close() noexcept;

  /// Whether half of the log waits for the server.
  bool is_behind(ticket mine) const noexcept;

private:
  bool are_equal() const noexcept;

  collective_cell cell_;
  group_log_memory& log_;
  const group_terms& terms_;
  shared_call* calls_;
  uint32_t count_;
};

/// The server's end of it: grants rounds, and reads what came of them. For one
/// thread.
class group_reader {
public:
  using numbers = std::function<uint64_t()>;

  group_reader(cell_memory& memory, group_log_memory& log, group_terms& terms,
               shared_call* calls, uint32_t count)
    : memory_(memory), log_(log), terms_(terms), calls_(calls), count_(count) {
    // nop
  }

  /// Lets processes meet. @pre it is closed, all has been read, and nobody is in
  /// a round any more
  /// @param next Draws a context identifier.
  void open(const numbers& next);

  void close();

  /// Rounds that have ended, roughly.
  uint32_t rounds() const;

  bool has_news() const {
    return rounds() != read_;
  }

  /// Reads of what has been done since, in its order.
  /// @param use Gets each call with its context identifier.
  /// @returns false if it makes no sense: the cell is closed, and what is there
  ///          is passed over.
  bool read(const std::function<void(const group_call&, uint64_t)>& use,
            const numbers& next);

private:
  group_cell cell() const {
    return {memory_, log_, terms_, calls_, count_};
  }

  cell_memory& memory_;
  group_log_memory& log_;
  group_terms& terms_;
  shared_call* calls_;
  uint32_t count_;
  uint32_t read_ = 0;
};

} // namespace troupe
