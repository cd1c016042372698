#pragma once

#include "actors/events/handler_order.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"
#include "messages/event.hpp"

#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace troupe {

/// BOOL, to `PMIx_Register_event_handler`, by the library itself: what this handler
/// completes was for it, and is not kept for the program's (E49 is of theirs).
inline constexpr std::string_view own_handler_key = "troupe.handler.own";

namespace defaults {

using namespace std::chrono_literals;

/// A handler that has not completed after 2 ticks no longer holds up later
/// events; after 60 its event goes on without it.
inline constexpr auto event_handler_tick = 500ms;
inline constexpr uint32_t event_handler_patience_ticks = 2;
inline constexpr uint32_t event_handler_answer_ticks = 60;

} // namespace defaults

/// About how many bytes an event occupies.
size_t approximate_size(const event& x);

/// The events that a process has had lately, for handlers that come later: each
/// gets those of them that it wants, once, in the order of arrival. The server
/// sends a process an event once, however many handlers it has.
/// Source: RFC0002, "RM Notifications": a registration is matched with all
/// cached events; requirements, reading A12: each handler sees an event once.
class event_history {
public:
  using event_ptr = std::shared_ptr<const event>;

  struct settings {
    /// The most events, and about how many bytes.
    size_t capacity = 0;
    size_t max_bytes = 0;

    /// Functions of handlers that are gone, of which is remembered what they
    /// have had.
    size_t max_functions = 0;
  };

  /// What a handler has not had: whatever came before, but for these.
  struct horizon {
    uint64_t first = 0;
    uint64_t last = 0;
    std::vector<uint64_t> without; // in order
  };

  explicit event_history(settings x) : settings_(x) {
    // nop
  }

  /// An event begins its way through the handlers.
  /// @param bytes Its `approximate_size`.
  /// @returns its number, from 1; 0 if it is not kept.
  uint64_t begin(const event_ptr& what, size_t bytes);

  /// An event is through.
  void end(uint64_t number);

  /// It was for the library alone: no handler of the program's has missed it.
  void forget(uint64_t number);

  /// What a handler that is registered now has missed. Not what is under way:
  /// a handler does not see an event during which it was registered.
  /// @param function Stands for the program's function; 0: unknown.
  horizon seen_from(uint64_t function) const;

  /// A handler with this function is gone: it has had what came until now.
  void leave(uint64_t function);

  /// What is kept of what a handler has missed, in the order of arrival.
  std::vector<event_ptr> missed(const horizon& x) const;

  size_t size() const {
    return kept_.size();
  }

private:
  struct entry {
    uint64_t number = 0;
    size_t bytes = 0;
    event_ptr what;
  };

  settings settings_;
  std::deque<entry> kept_;
  size_t bytes_ = 0;
  uint64_t last_ = 0;

  /// In order: most come and go at the end.
  std::vector<uint64_t> under_way_;
  std::map<uint64_t, uint64_t> functions_;
};

/// A handler's turn at an event.
struct handler_turn {
  uint64_t handler = 0;

  /// Which event, and which of its turns: a verdict that comes later names
  /// them.
  uint64_t walk = 0;
  uint64_t turn = 0;

  /// The event's code as the handler knows it.
  status code = status::success;

  const event& what;

  /// What the handlers before it reported, an entry each; grows from turn to
  /// turn of an event, nothing else changes.
  const std::vector<info>& results;
};

/// What a process has room for.
enum class event_intake : uint8_t {
  /// Everything.
  all,

  /// Answers, and the events that come before them.
  answers,

  /// Nothing.
  nothing,
};

struct handler_chain_options {
  handler_order::settings order;

  event_history::settings history;

  /// Whether results are one flat list, as OpenPMIx has them, instead of one
  /// array for each handler.
  bool flat_results = false;

  /// How long later events wait for a handler that does not complete, and after
  /// how long the handler is passed over. Both are counted in `tick`s.
  caf::timespan tick;
  uint32_t patience_ticks = 0;
  uint32_t answer_ticks = 0;

  /// Events, and about how many bytes, that wait or are under way until less is
  /// taken in; `hard_factor` times that until nothing is. None is dropped.
  size_t max_events = 0;
  size_t max_bytes = 0;
  size_t hard_factor = 0;

  /// Handlers that run before others of the process have their turn.
  size_t calls_per_turn = 0;

  /// Runs a handler on the calling thread.
  /// @returns its verdict, if it has completed; else `handler_done` follows.
  std::function<std::optional<handler_verdict>(const handler_turn&)> run;

  /// An event has been through all its handlers; what was kept for its turns
  /// may go.
  std::function<void(uint64_t walk)> on_end;

  /// What the handlers of an event of a group decided: the last status, unless
  /// one of them aborts, and all their results, also of the one that ended the
  /// chain. Once for each such event, also if nobody handles it.
  /// Source: RFC0033; requirements, readings A31 and A32.
  std::function<void(const event&, handler_verdict)> on_decided;

  /// There is less room for events from outside, or more again.
  std::function<void(event_intake)> on_intake;

  journal log;

  /// The bounds of config/defaults.hpp.
  static handler_chain_options with_defaults();
};

/// Runs the event handlers of one process: the handlers of an event one after
/// another, each given what those before it reported, until one reports
/// `action_complete`; the events one after another in the order of their
/// arrival. A handler that overruns `patience_ticks` is named in the log and
/// holds up only its own event from then on, until it completes something;
/// after `answer_ticks` that event goes on without it.
///
/// A registration counts from its place in the chain's mailbox, but its handler
/// sees no event before whoever registered it has heard of it: an event that
/// comes earlier waits. First it gets what the process has had lately.
/// @param session Takes registrations and events to the server.
/// Source: RFC0002, "Client Registrations", "RM Notifications", "Client-Based
/// Notifications"; PMIx Standard v5, `PMIx_Register_event_handler`.
handler_chain_actor spawn_handler_chain(caf::actor_system& sys,
                                        event_session_actor session,
                                        handler_chain_options options);

/// Whether the process itself is among those whom its event is for.
/// Source: PMIx Standard v5, `pmix_data_range_t`.
bool is_for_notifier(const notify_request& request, const proc_id& notifier);

} // namespace troupe
