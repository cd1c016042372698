#pragma once

// The inside of the EVENT CACHE actor: shared by actors/events/event_cache*.cpp
// only.

#include "actors/answer.hpp"
#include "actors/events/event_askers.hpp"
#include "actors/events/event_cache.hpp"
#include "actors/reminders.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace troupe::event_cache_internals {

using delivery_list = std::vector<std::shared_ptr<const event>>;

struct event_cache_state {
  static inline const char* name = "event-cache";

  event_cache_options options;
  std::unique_ptr<event_log> log;

  /// Sessions that have registered something, by connection.
  std::map<uint32_t, client_actor> sessions;

  /// Those whose default handlers ask for events of the environment.
  std::set<uint32_t> takes_environment;

  /// What to do when an offer that waits has been taken, by its ticket.
  std::map<uint64_t, std::function<void()>> waiting;
  uint64_t next_ticket = 1;

  /// Who wants to hear of other jobs.
  event_askers askers;

  /// Codes of the environment that somebody here wants.
  std::set<status> of_environment;

  /// Codes that the host was asked to tell of: those, and what askers want.
  std::set<status> asked_for;

  /// What is to be delivered when this turn is over, by connection.
  std::map<uint32_t, delivery_list> deliveries;
  size_t num_deliveries = 0;
  bool will_deliver = false;

  /// Whether an event is being offered: who gets it is not complete yet.
  bool is_offering = false;

  /// What is to be tried again.
  reminders later;

  /// Whether a look at who is in the way is due some time.
  bool is_watching = false;

  void note(severity weight, const std::string& line) const {
    if (options.lines)
      options.lines(weight, line);
  }
};

TROUPE_SELF_POINTER(event_cache_actor, event_cache_state);

/// Offers an event to the log.
/// @param then Called when the log has taken it; gets an error if it never
///             will.
void offer(self_pointer self, offered_event what,
           std::function<void(const caf::error&)> then);

/// Delivers an event once what is in the mailbox has been seen to: what comes
/// together goes out together.
void deliver(self_pointer self, uint32_t to,
             const std::shared_ptr<const event>& what,
             const missed_events& missed);

/// The number of the `deadline` by which the actor tells itself to deliver.
constexpr uint64_t for_deliveries = UINT64_MAX;

/// Hands over what is to be delivered, if there is something, when the mailbox
/// has been seen to.
void deliver_soon(self_pointer self);

/// Hands over what is to be delivered. Those that get the same share a message.
void send_deliveries(self_pointer self);

/// How full the logs are.
gauge_list gauges_of(const event_cache_state& state);

/// What the log does with the disk.
spool_effects means_of_disk(self_pointer self);

/// What is kept, and for whom.
caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request);

} // namespace troupe::event_cache_internals
