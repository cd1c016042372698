#pragma once

#include "actors/events/defaults.hpp"
#include "actors/events/event_shelf.hpp"
#include "actors/events/namespace_log.hpp"
#include "base/journal.hpp"
#include "config/defaults.hpp"
#include "messages/host.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace troupe {

class trace_ring;

namespace defaults {

using namespace std::chrono_literals;

/// Bytes of events handed to a connection that the kernel has not taken (L11).
inline constexpr size_t event_window = size_t{64} << 10;

/// A process that has taken nothing for so long while others wait is named
/// (L12).
inline constexpr auto event_stall = 30s;

} // namespace defaults

/// The newest events of the environment, for those who want them now or later.
/// When it is full, the code with the most events loses its oldest, so that no
/// code's storm drives out the others; whoever has not had it is told how much
/// it has missed. Holds nobody back.
/// Source: RFC0002, "ring buffer"; guarantees 5.1, P-E1.
class event_ring : public event_shelf {
public:
  /// @param size Events to keep; 0: none for later registrations.
  explicit event_ring(size_t size, size_t bytes = defaults::event_ring_bytes);

  /// Takes an event.
  /// @returns the connections that are to get it.
  std::vector<client_id> append(event_entry x);

  /// A connection has taken an event.
  void take(client_id id, uint64_t number);

  /// A connection has ended.
  void disconnect(client_id id) {
    remove_reader(id);
  }

  size_t bytes() const noexcept {
    return bytes_;
  }

  uint64_t accepted() const noexcept {
    return accepted_;
  }

private:
  friend struct event_log_audit;

  /// Events of a code (fewer come later), the number of the oldest, the code:
  /// the first is the one that loses an event.
  using share = std::tuple<size_t, uint64_t, status>;

  void on_owed(event_entry&) override {
    // Being owed does not keep an event from going.
  }

  void on_settled(event_entry& x) override;
  void on_erased(const event_entry& x) override;

  share share_of(status code);
  void trim();

  size_t size_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  uint64_t accepted_ = 0;
  std::set<share> shares_;
};

struct event_log_options {
  namespace_log_limits per_namespace;

  /// Bytes of all events of the node in memory, and on disk (L9). Beyond either
  /// the namespace that has most of what nobody has registered for loses the
  /// oldest of it; if there is none, sources wait. Of the disk a namespace may be
  /// owed half at most, whatever its backlog.
  size_t node_bytes = defaults::event_node_bytes;
  size_t node_spool = defaults::event_node_spool;

  /// Events of the environment to keep (L10).
  size_t ring_size = defaults::event_cache_size;

  /// Bytes handed to a connection that it has not taken (L11).
  size_t window = defaults::event_window;

  /// Codes that one process may register for (L6).
  size_t codes_per_client = defaults::event_codes_per_client;

  /// How long a process may take nothing while others wait (L12).
  std::chrono::nanoseconds stall = defaults::event_stall;

  /// The server's own name: only what is meant for the resource manager, or
  /// asked for by its code, is for it.
  proc_id server;

  /// Remembers what becomes of events; null: nothing does.
  std::shared_ptr<trace_ring> trace = {};
};

/// Which events a registration asks for. Source: RFC0002, "Event
/// Registration"; A7, A8.
struct event_levels {
  bool job = true;
  bool environment = false;
};

/// An event for processes of this node.
struct offered_event {
  event what;

  /// Whom it is for; none: whom its range names.
  std::vector<proc_id> targets;

  /// Events of the same stream are taken in order.
  std::string stream;

  /// Whether the host or the server raises it: it does not go back to the host.
  bool is_from_host = false;

  /// Which it is in the order of a namespace.
  event_mark mark = {};
};

/// The events of a node: a log for each namespace with processes here, one for
/// namespaces to come, and the ring of the environment. Gives each connection
/// what it asks for, once, in the order of arrival, as fast as it takes it; and
/// has whoever raises too much wait. Plain data: what is to be done comes out
/// as effects. Source: guarantees 5.1; RFC0002.
class event_log {
public:
  using client_id = event_shelf::client_id;
  using time_point = std::chrono::nanoseconds;

  struct effects {
    /// Hands an event to a connection.
    std::function<void(client_id to, const std::shared_ptr<const event>& what,
                       const missed_events& missed)>
      deliver;

    /// An offer that had to wait has been taken.
    std::function<void(uint64_t ticket)> accept;

    journal note;

    /// What is kept on disk; not needed if nothing is.
    spool_effects disk;

    /// A process is in the way of others (L12).
    std::function<void(client_id)> stalled;
  };

  /// What became of an offer.
  enum class outcome : uint8_t { taken, waits, too_large };

  struct counts {
    std::string nspace;
    uint64_t accepted = 0;
    uint64_t entries = 0;
    uint64_t owed = 0;
    uint64_t bytes = 0;
    uint64_t spooled = 0;
    uint64_t missed = 0;
    uint64_t held = 0;
  };

  event_log(event_log_options options, effects out);

  /// Asks for nothing any more.
  ~event_log();

  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  // -- processes --

  /// Processes that may connect.
  void await(const std::string& nspace, const std::vector<uint32_t>& ranks);

  void connect(const proc_id& proc, client_id id, time_point now);

  void disconnect(client_id id);

  /// A process has ended.
  void end(const proc_id& proc);

  /// Nothing is kept for a namespace any more.
  void forget(const std::string& nspace);

  /// Whose connection it is.
  proc_id proc_of(client_id id) const {
    const auto i = clients_.find(id);
    return i != clients_.end() ? i->second.proc : proc_id{};
  }

  // -- registrations --

  /// Registers codes; none: default handlers. What is kept for them comes with
  /// `resume`.
  caf::error subscribe(client_id id, std::vector<status> codes,
                       event_levels levels);

  void unsubscribe(client_id id, const std::vector<status>& codes);

  /// Codes of the environment that somebody asks for; `default_events`: all.
  /// Nothing if they are the same as when this was asked last.
  std::optional<std::set<status>> take_environment_codes() {
    return ring_.take_wanted();
  }

  /// Hands a connection what it has room for.
  void resume(client_id id);

  // -- events --

  /// @param ticket Names the offer in `accept` if it has to wait.
  outcome offer(uint64_t ticket, offered_event x);

  /// Whether any offer waits.
  bool is_waiting() const noexcept {
    return !streams_.empty();
  }

  /// The kernel has taken so many events of a connection since it began.
  /// @returns whether that can be.
  bool take(client_id id, uint64_t count, time_point now);

  // -- the disk --

  /// The answer to a write of a log.
  void note_written(uint64_t log, bool is_done);

  /// The answer to a read of a log.
  void note_loaded(uint64_t log,
                   const std::vector<spool_effects::payload>& found);

  /// Names those who are in the way of others.
  void look_for_stalled(time_point now);

  // -- questions --

  std::vector<counts> count() const;

  /// What the events of the node take.
  const event_budget& budget() const noexcept {
    return node_;
  }

  /// Those of `procs` that have registered `code` and are connected; default
  /// handlers do not count.
  std::vector<proc_id> listeners(status code,
                                 const std::vector<proc_id>& procs) const;

  /// Calls `f` with each event of a namespace above `since`; null is passed for
  /// one that is only on disk.
  void each(const std::string& nspace, uint64_t since,
            const std::function<void(const event_entry&)>& f) const;

private:
  friend struct event_log_audit;

  struct delivery {
    event_shelf* from;
    uint64_t number;
    size_t bytes;
  };

  struct client {
    proc_id proc;
    namespace_log* log = nullptr;

    /// Registered now, besides default handlers.
    std::set<status> codes;
    std::deque<delivery> in_flight;
    size_t in_flight_bytes = 0;
    uint64_t taken = 0;
    time_point since{0};
    bool is_named = false;
  };

  struct waiting_offer {
    uint64_t ticket;
    offered_event what;
  };

  struct stream {
    std::deque<waiting_offer> offers;

    /// Whose room it waits for; null: the node's.
    namespace_log* lacks = nullptr;
  };

  using log_map = std::map<std::string, std::unique_ptr<namespace_log>>;

  /// @returns a log, and whether it is new: then it has to inherit.
  std::pair<namespace_log*, bool> log_of(const std::string& nspace);
  void inherit(namespace_log& log);
  std::shared_ptr<const range_filter> filter_of(const offered_event& x);
  std::vector<namespace_log*> logs_for(const range_filter& filter);
  bool has_waiting(namespace_log* log, namespace_log*& lacks) const;
  bool is_moving_to_disk(size_t bytes);
  bool make_node_room(size_t bytes);

  /// Notes that an event is in the log.
  void trace(const offered_event& x, uint64_t number) const;

  /// @returns whether it is taken; if not, `lacks` says who has no room.
  bool try_offer(offered_event& x, bool may_pass, namespace_log*& lacks);

  namespace_log* find_log(uint64_t id);
  void retry();
  void hand_over(client_id id, client& to);

  event_log_options options_;
  effects out_;
  event_budget node_;
  uint64_t next_number_ = 1;
  uint64_t next_log_ = 1;

  /// For namespaces to come.
  namespace_log open_;
  log_map logs_;
  event_ring ring_;
  std::map<client_id, client> clients_;

  /// Filters of late: events of one source and range have the same one. By a
  /// number that is made of these.
  std::vector<std::shared_ptr<const range_filter>> filters_;
  std::map<std::string, stream> streams_;
  time_point now_{0};

  /// Whether what is on disk may be asked for, and who had it asked for last.
  bool may_load_ = true;
  client_id last_loader_ = 0;

  /// The stream of the last offer that was taken after it had waited.
  std::string last_served_;
};

/// Which events a registration asks for.
/// @param is_default Whether it names no codes.
/// @returns `bad_param` if it asks for none.
caf::expected<event_levels> levels_of(const std::vector<info>& directives,
                                      bool is_default);

} // namespace troupe
