#pragma once

#include "tools/event_text.hpp"

#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// What `troupe events watch` and `list` show.
struct event_choice {
  /// None: every event.
  std::vector<status> codes;

  /// Only events that affect one of these; none: whoever is affected.
  std::vector<proc_id> affected;

  /// Whose log; empty: all.
  std::string nspace;

  /// Of those that are kept, only those with a greater number.
  std::optional<uint64_t> since;

  bool admits(const event& x) const;
};

struct watch_events {
  std::string dvm;
  event_choice choice;
  data_range range = data_range::session;

  /// How many events to wait for; 0: any number.
  uint64_t count = 0;

  /// Seconds to watch; 0: for ever.
  double limit = 0;
  bool json = false;
};

struct send_event {
  std::string dvm;
  notify_request what;
};

struct list_events {
  std::string dvm;
  event_choice choice;
  bool json = false;
};

using events_order = std::variant<watch_events, send_event, list_events>;

/// Reads the command line of `troupe events`.
/// @returns what to do, or the exit status if there is nothing to do: help was
///          printed, or one line on stderr says what is wrong.
std::variant<events_order, int>
parse_events_options(std::vector<std::string> args);

/// `troupe events watch`, `send` and `list`: shows and raises events of a DVM,
/// as a tool of it.
/// @param args Without the names of the program and of the command.
/// @returns the exit status.
int events(std::vector<std::string> args);

} // namespace troupe
