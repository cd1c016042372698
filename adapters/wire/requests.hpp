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
#define TROUPE_REQUEST(number, command, request, answer) command = number,
#include "messages/requests.def"

  // What no client of ours sends, or no client at all.
  group_join = 25,
  group_invite = 26,
  system_info = 36,
  gds_fallback = 39,
};

/// A command that we do not know or that no client sends: the caller answers
/// `not_supported`.
struct unknown_request {
  uint8_t number = 0;
};

TROUPE_MESSAGE(unknown_request, x.number)

/// Whatever a client may ask.
using request = std::variant<unknown_request
#define TROUPE_REQUEST(number, command, request, answer) , request
#include "messages/requests.def"
                             >;

/// Type of what a request is answered with; `void` for one that is not.
template <class Request>
struct answer_to;

#define TROUPE_REQUEST(number, command, request, answer)                       \
  template <>                                                                  \
  struct answer_to<request> {                                                  \
    using type = answer;                                                       \
  };
#include "messages/requests.def"

template <class Request>
using answer_to_t = typename answer_to<Request>::type;

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
