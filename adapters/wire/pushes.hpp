#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/event.hpp"
#include "messages/io.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// -- input ----------------------------------------------------------------

/// Whether who pushes input is to stop, or to go on.
struct flow_control {
  /// Who pushes; `rank_wildcard` without a namespace: everybody.
  proc_id source;
  io_channels channel = io_channels::stdin_;
  bool is_stop = false;
  std::vector<info> directives;
};

TROUPE_MESSAGE(flow_control, x.source, x.channel, x.is_stop, x.directives)

/// Whether a peer knows such messages: others take them for a mistake.
/// Source: OpenPMIx, PMIX_CAP_IOF_FLOW_CONTROL.
bool knows_flow_control(const release& peer);

/// Payload of a frame with `tag_flow_control`.
caf::error encode_flow_control(const flow_control& x, const dialect& d,
                               std::string& out);

caf::expected<flow_control> decode_flow_control(std::string_view payload,
                                                const dialect& d);

// -- between ourselves ----------------------------------------------------

/// What our own libraries append to the release that they greet with.
inline constexpr std::string_view own_mark = "troupe";

/// The same of those that share memory with their server, with the number of what
/// that looks like: it may have the data of their job.
inline constexpr std::string_view sharing_mark = "+7troupe";

/// Whether it is a library of ours that greets with this release.
bool is_own_library(std::string_view version);

/// Whether it is one that shares memory as we do.
bool can_share_memory(std::string_view version);

/// Payload of a frame with `tag_output_credit`. From the server, once: how many
/// bytes of payload may be on their way. From the library: how many its program
/// has taken since they are connected.
void encode_output_credit(uint64_t bytes, std::string& out);

caf::expected<uint64_t> decode_output_credit(std::string_view payload);

} // namespace troupe::wire
