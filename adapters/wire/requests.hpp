#pragma once

#include "adapters/wire/dialect.hpp"
#include "messages/collective.hpp"
#include "messages/connection.hpp"
#include "messages/control.hpp"
#include "messages/data.hpp"
#include "messages/event.hpp"
#include "messages/group.hpp"
#include "messages/io.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"
#include "messages/spawn.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace troupe::wire {

/// The commands of a client, with the numbers of the wire.
/// Source: OpenPMIx wire protocol, command numbers.
enum class command : uint8_t {
  job_info = 0,
  abort = 1,
  commit = 2,
  fence = 3,
  get = 4,
  finalize = 5,
  publish = 6,
  lookup = 7,
  unpublish = 8,
  spawn = 9,
  connect = 10,
  disconnect = 11,
  notify = 12,
  register_events = 13,
  deregister_events = 14,
  query = 15,
  log = 16,
  allocate = 17,
  job_control = 18,
  monitor = 19,
  get_credential = 20,
  validate_credential = 21,
  io_pull = 22,
  io_push = 23,
  group_construct = 24,
  group_join = 25,
  group_invite = 26,
  group_leave = 27,
  group_destruct = 28,
  io_deregister = 29,
  fabric_register = 30,
  fabric_update = 31,
  device_distances = 32,
  refresh_cache = 33,
  resource_block = 34,
  session_control = 35,
  system_info = 36,
  resolve_peers = 37,
  resolve_nodes = 38,
  gds_fallback = 39,
};

/// A command that we do not know or that no client sends: the caller answers
/// `not_supported`.
struct unknown_request {
  uint8_t number = 0;
};

TROUPE_MESSAGE(unknown_request, x.number)

/// Whatever a client may ask.
using request = std::variant<
  unknown_request, job_info_request, abort_request, commit_request,
  fence_request, get_request, finalize_request, publish_request, lookup_request,
  unpublish_request, spawn_request, connect_procs_request,
  disconnect_procs_request, notify_request, register_events_request,
  deregister_events_request, query_request, log_request, allocation_request,
  job_control_request, monitor_request, get_credential_request,
  validate_credential_request, io_pull_request, io_push_request,
  io_deregister_request, group_construct_request, group_destruct_request,
  group_leave_request, fabric_register_request, fabric_update_request,
  device_distances_request, refresh_cache_request, resource_block_request,
  session_control_request, resolve_peers_request, resolve_nodes_request>;

/// The command that `x` travels as.
command command_of(const request& x);

/// Whether the client waits for a reply: all commands but DEREGEVENTS.
bool is_answered(const request& x);

/// Reads the payload of a request (a frame with a tag of a request).
/// @returns the request; or why the connection must be closed: the payload does
///          not decode, or it holds what no client may send (REGEX, a
///          topology).
/// Source: OpenPMIx wire protocol, requests and replies.
caf::expected<request> decode_request(std::string_view payload,
                                      const dialect& d);

/// Appends the payload of a request to `out`; `out` is as before on an error.
/// @returns `unknown_data_type` if the peer cannot read a value in it.
caf::error encode_request(const request& x, const dialect& d, std::string& out);

} // namespace troupe::wire
