#pragma once

#include "actors/events/defaults.hpp"
#include "actors/events/event_shelf.hpp"
#include "actors/events/number_set.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// Events, and their bytes, that go to the disk or come back at a time.
inline constexpr size_t event_spool_records = 256;
inline constexpr size_t event_spool_batch = size_t{256} << 10;

/// Bytes of memory that an event takes whose payload is on disk: its entry, and
/// its share of what finds it.
inline constexpr size_t event_spool_entry = 64;

static_assert(sizeof(event_entry) <= event_spool_entry);

/// Processes that a filter of several events names at most; an event for more
/// has a filter of its own.
inline constexpr size_t event_shared_targets = 4;

} // namespace defaults

/// Whether an event has a filter of its own, which counts for it.
bool has_own_filter(const event_entry& x);

/// Bytes of memory that an event takes whose payload is on disk.
size_t memory_on_disk(const event_entry& x);

/// Bytes that the events of a node take, and may take: in memory, where one
/// whose payload is on disk takes what `memory_on_disk` says, and on disk.
struct event_budget {
  size_t used = 0;
  size_t limit = defaults::event_node_bytes;
  size_t on_disk = 0;
  size_t disk_limit = defaults::event_node_spool;
};

/// Room for the events of a namespace on a node. An event counts for its values
/// and 256 bytes more, in memory and on disk. Source: guarantees 5.1, L9.
struct namespace_log_limits {
  /// Bytes in memory; beyond half of it the oldest go to the disk.
  size_t memory = defaults::event_log_memory;

  /// Bytes of the state table: what the resource manager tells of processes.
  size_t state = defaults::event_state_bytes;

  /// Bytes on disk; 0: there is no disk. Beyond it the oldest that nobody has
  /// registered for is dropped: those who come later are told how many.
  size_t spool = 0;

  /// Bytes on disk that connections have registered for and not taken. Beyond it
  /// sources wait, even if there is room on the disk.
  size_t backlog = defaults::event_log_backlog;

  /// Bytes on disk that are in memory, too, for those who are about to get them.
  size_t loaded = defaults::event_log_loaded;

  /// Bytes that go to the disk, or come back, at a time.
  size_t batch = defaults::event_spool_batch;

  /// Whether sources wait when there is no room any more for what processes that
  /// have yet to connect may want; if not, the oldest of it is dropped. With it
  /// nothing is lost, and a job stalls of which a process never connects.
  /// Source: guarantees, section 4, `events.history`.
  bool holds_history = false;
};

/// How many events there are somewhere, their bytes, and the memory that they
/// take when these are on disk.
struct event_amount {
  size_t count = 0;
  size_t bytes = 0;
  size_t places = 0;

  void add(const event_entry& x) {
    ++count;
    bytes += x.bytes;
    places += memory_on_disk(x);
  }

  void remove(const event_entry& x) {
    --count;
    bytes -= x.bytes;
    places -= memory_on_disk(x);
  }
};

/// What a log does with the disk. Each write and each read is answered, in the
/// order asked. Source: guarantees 5.1, "Spool".
struct spool_effects {
  /// The number of an event, and its content as bytes (`kept_event`).
  using payload = std::pair<uint64_t, std::string>;

  std::function<void(uint64_t log, std::vector<payload>)> write;
  std::function<void(uint64_t log, std::vector<uint64_t> numbers)> read;

  /// @param numbers None: all of the log.
  std::function<void(uint64_t log, std::vector<uint64_t> numbers)> erase;

  /// Something is wrong with the disk.
  std::function<void(const std::string& line)> warn;
};

/// The events that processes of a namespace on this node may see. An event
/// stays while somebody is owed it, and for later registrations while a process
/// that it is for has not had it: in memory, and what is too much there on disk.
/// Of what nobody is owed, the oldest go when there is no room on disk either.
/// What the system tells are the rows of a state table, which need no room.
/// Source: guarantees 5.1; RFC0002, "Description" and "Notifications".
class namespace_log : public event_shelf {
public:
  /// @param node Outlives this.
  /// @param id Distinguishes the logs of the node.
  /// @param disk Outlives this; null: there is no disk.
  /// @param is_open Whether it keeps events for namespaces to come, and has no
  ///                processes.
  namespace_log(std::string nspace, const namespace_log_limits& limits,
                event_budget& node, uint64_t id = 0,
                const spool_effects* disk = nullptr, bool is_open = false);

  ~namespace_log() override;

  // -- processes --

  /// A process may connect.
  void await(uint32_t rank);

  /// A process has connected, once more perhaps.
  void connect(uint32_t rank, client_id id);

  /// A connection has ended; with the last one the process counts as served.
  void disconnect(uint32_t rank, client_id id);

  /// A process has ended.
  void end(uint32_t rank);

  // -- events --

  /// Whether there is room for an event, be it that others are dropped. If there
  /// is none, some go to the disk: the answer to that write makes room.
  bool make_room(size_t bytes);

  /// Whether anybody is to get such an event now, or may want it later.
  bool is_wanted(const event_entry& x) const;

  /// Takes an event for which there is room.
  /// @param row Its row of the state table; empty: none.
  /// @returns the connections that are to get it.
  std::vector<client_id> append(event_entry x, const std::string& row);

  /// Whether the state table has room for an event.
  bool has_state_room(size_t bytes) const {
    return state_.bytes + bytes <= limits_.state;
  }

  /// A connection has taken an event.
  void take(client_id id, uint32_t rank, uint64_t number);

  /// Forgets what processes of a namespace raised that is gone, without a
  /// trace: there will be nobody to miss it.
  void forget_source(const std::string& nspace);

  /// Drops the oldest that nobody is owed.
  /// @returns whether there was one.
  bool drop_oldest();

  // -- the disk --

  /// Sends the oldest of what is in memory to the disk, a batch, unless one is on
  /// its way, or there is no room.
  void spool();

  /// Asks for the payload of an entry that somebody is about to get.
  /// @returns whether it does: only one question is on its way at a time.
  bool load(const event_entry& x);

  /// The answer to a write.
  void note_written(bool is_done);

  /// The answer to a read; what is not there is lost: it is counted as missed.
  void note_loaded(const std::vector<spool_effects::payload>& found);

  // -- what there is --

  uint64_t id() const noexcept {
    return id_;
  }

  size_t in_memory() const noexcept {
    return memory_.bytes;
  }

  bool is_writing() const noexcept {
    return !writing_.empty();
  }

  size_t on_disk() const noexcept {
    return spooled_.bytes;
  }

  /// Bytes of memory, and of the disk, that could be had by dropping events.
  size_t droppable() const noexcept {
    return holds() ? 0 : history_in_memory_.bytes + history_on_disk_.places;
  }

  size_t droppable_on_disk() const noexcept {
    return holds() ? 0 : history_on_disk_.bytes;
  }

  uint64_t accepted() const noexcept {
    return accepted_;
  }

  /// Whether something has gone since this was asked last.
  bool take_freed() {
    return std::exchange(freed_, false);
  }

private:
  friend struct event_log_audit;

  struct participant {
    /// Has not connected yet.
    bool is_expected = false;
    std::set<client_id> connections;
  };

  void on_owed(event_entry& x) override;
  void on_settled(event_entry& x) override;
  void on_erased(const event_entry& x) override;

  bool holds() const {
    return limits_.holds_history && expected_ > 0;
  }

  uint32_t count_awaited(const range_filter& filter) const;
  bool is_had_by(const participant& proc, const event_entry& x,
                 client_id except) const;
  void await_all(uint32_t rank);
  void cease_awaiting(event_entry& x);
  void supersede(const std::string& row);
  void trim(uint64_t except);

  void enter(const event_entry& x);
  void leave(const event_entry& x);
  event_amount& amount_of(const event_entry& x);
  event_amount& history_of(const event_entry& x);
  std::optional<uint64_t> oldest_in_memory() const;

  /// Bytes on disk that somebody is owed.
  size_t backlog() const {
    return spooled_.bytes - history_on_disk_.bytes;
  }

  bool make_disk_room(size_t bytes, size_t owed);
  bool is_half_full() const;
  void unload();
  void flush_erased();

  namespace_log_limits limits_;
  event_budget& node_;
  bool is_open_;
  std::map<uint32_t, participant> procs_;
  size_t expected_ = 0;

  /// What nobody is owed and somebody may want: what can be dropped.
  number_set history_;
  event_amount history_in_memory_;
  event_amount history_on_disk_;

  std::map<std::string, uint64_t> rows_;
  std::map<uint64_t, std::string> row_names_;

  event_amount memory_;
  event_amount state_;
  uint64_t accepted_ = 0;
  bool freed_ = false;

  uint64_t id_;
  const spool_effects* disk_;
  event_amount spooled_;

  /// Entries with smaller numbers are on disk, or on their way.
  uint64_t spool_from_ = 0;

  /// On their way to the disk, and asked back from it.
  std::vector<uint64_t> writing_;
  std::vector<uint64_t> reading_;

  /// In memory and on disk.
  std::vector<uint64_t> loaded_;
  size_t loaded_bytes_ = 0;

  /// Gone from the log, but not from the disk.
  std::vector<uint64_t> erased_;

  bool has_spooled_ = false;

  /// Events to come before the disk is tried again.
  size_t disk_pause_ = 0;
};

} // namespace troupe
