#pragma once

#include "messages/event.hpp"

#include <caf/expected.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

// What users write and read of events: names of codes, ranges, processes.

namespace troupe {

/// Reads the code of an event: a number, the name that the Standard gives it,
/// or that name without `PMIX_`, `PMIX_EVENT_` or `PMIX_ERR_`, in any case and
/// with `-` for `_`.
/// @returns `bad_param` in a sentence.
caf::expected<status> read_event_code(const std::string& text);

/// Reads a range: `local`, `namespace`, `session`, `global`, `rm`.
/// @returns `bad_param` in a sentence.
caf::expected<data_range> read_event_range(const std::string& text);

std::string to_string(data_range x);

/// Reads `NAMESPACE:RANK`, `NAMESPACE:*` or `NAMESPACE`, which is the same.
/// @returns `bad_param` in a sentence.
caf::expected<proc_id> read_proc(const std::string& text);

/// Reads `KEY=TEXT` or `KEY:TYPE=VALUE` with one of the types `string`, `bool`,
/// `int`, `uint32`, `uint64` and `status`.
/// @returns `bad_param` in a sentence.
caf::expected<info> read_event_info(const std::string& text);

/// The processes that an event says it affects.
std::vector<proc_id> affected_by(const event& x);

/// Every code of the Standard that may be an event, each once.
std::vector<status> named_event_codes();

/// An event that a server keeps, with its number there; a number of 0 is none.
struct numbered_event {
  event what;
  uint64_t number = 0;

  /// Whose log it is in; empty: not known.
  std::string nspace;
};

/// Reads the answer to the query `troupe.event.retained`, in its order.
std::vector<numbered_event> read_retained(const value& answer);

/// The event as JSON: `code`, `name`, `source` (null: the resource manager),
/// `range`, `affected`, `infos`; `number` and `nspace` if it has some.
nlohmann::json to_json(const numbered_event& x);

/// The event in a line. What it quotes cannot reach the terminal.
std::string to_text(const numbered_event& x);

} // namespace troupe
