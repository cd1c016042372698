#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/event.hpp"
#include "messages/io.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string>
#include <string_view>

// What a server sends without being asked. The writers append a payload to
// `out` and leave `out` as it was on an error; infos whose type the peer cannot
// read are left out.
// Source: OpenPMIx wire protocol, event push and output forwarding.

namespace troupe::wire {

/// Whether an event names its range at the end: all servers but 3.2's do so,
/// and all clients accept both.
enum class event_form : uint8_t { with_range, without_range };

/// Payload of a frame with `tag_event`.
caf::error encode_event(const event& x, const dialect& d, std::string& out,
                        event_form form = event_form::with_range);

/// Reads an event; its range is `undef` if the server did not name one.
caf::expected<event> decode_event(std::string_view payload, const dialect& d);

/// Payload of a frame with `tag_output`.
caf::error encode_output(const io_delivery& x, const dialect& d,
                         std::string& out);

caf::expected<io_delivery> decode_output(std::string_view payload,
                                         const dialect& d);

} // namespace troupe::wire
