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
inline constexpr size_t event_spool_records = 64;
inline constexpr size_t event_spool_batch = size_t{256} << 10;

} // namespace defaults

/// Bytes that the events of a node take, and may take.
struct event_budget {
  size_t used = 0;
  size_t limit = defaults::event_node_bytes;
};

struct namespace_log_limits {
  /// Bytes in memory, and of the state table (L9).
  size_t memory = defaults::event_log_memory;
  size_t state = defaults::event_state_bytes;

  /// Bytes on disk, of which so many are in memory for those who are about to
  /// get them. 0: there is no disk.
  size_t spool = 0;
  size_t loaded = defaults::event_log_loaded;

  /// Bytes that go to the disk, or come back, at a time.
  size_t batch = defaults::event_spool_batch;

  /// Whether what processes that have yet to connect may want counts as owed.
  /// Source: guarantees, section 4, `event_history = hold`.
  bool holds_history = false;
};

/// What a log does with the disk. Each write and each read is answered, in the
/// order asked. Source: guarantees 5.1, "Spool".
struct spool_effects {
  using payload = std::pair<uint64_t, std::shared_ptr<const event>>;

  std::function<void(uint64_t log, const std::vector<payload>&)> write;
  std::function<void(uint64_t log, std::vector<uint64_t> numbers)> read;

  /// @param numbers None: all of the log.
  std::function<void(uint64_t log, std::vector<uint64_t> numbers)> erase;

  /// Something is wrong with the disk.
  std::function<void(const std::string& line)> warn;
};

/// The events that processes of a namespace on this node may see. An event
/// stays while somebody is owed it, and for later registrations while a process
/// that it is for has not had it; of the latter the oldest go when there is too
/// much. What the system tells are the rows of a state table, which need no
/// room. Source: guarantees 5.1; RFC0002, "Notifications".
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

  /// Whether there is room for an event, be it that others are dropped.
  bool fits(size_t bytes) const;

  /// Whether anybody is to get such an event now, or may want it later.
  bool is_wanted(const event_entry& x) const;

  /// Takes an event for which there is room.
  /// @param row Its row of the state table; empty: none.
  /// @returns the connections that are to get it.
  std::vector<client_id> append(event_entry x, const std::string& row);

  /// Whether the state table has room for an event.
  bool has_state_room(size_t bytes) const {
    return state_ + bytes <= limits_.state;
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
    return memory_;
  }

  bool is_writing() const noexcept {
    return !writing_.empty();
  }

  size_t on_disk() const noexcept {
    return spooled_;
  }

  /// What could be dropped.
  size_t droppable() const noexcept {
    return holds() ? 0 : history_bytes_ + history_on_disk_;
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

  size_t& bytes_of(const event_entry& x);
  size_t& history_of(const event_entry& x);
  std::optional<uint64_t> oldest_in_memory() const;
  void spool();
  bool make_disk_room(size_t bytes);
  void unload();
  void flush_erased();

  namespace_log_limits limits_;
  event_budget& node_;
  bool is_open_;
  std::map<uint32_t, participant> procs_;
  size_t expected_ = 0;

  /// What nobody is owed and somebody may want: what can be dropped.
  number_set history_;
  size_t history_bytes_ = 0;
  size_t history_on_disk_ = 0;

  std::map<std::string, uint64_t> rows_;
  std::map<uint64_t, std::string> row_names_;

  size_t memory_ = 0;
  size_t state_ = 0;
  uint64_t accepted_ = 0;
  bool freed_ = false;

  uint64_t id_;
  const spool_effects* disk_;
  size_t spooled_ = 0;

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
