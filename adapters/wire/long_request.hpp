#pragma once

#include "adapters/wire/requests.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace troupe::wire {

/// The command that a payload begins with; nothing if it begins with none.
std::optional<command> command_in(std::string_view payload, const dialect& d);

/// Whether what answers `x` begins with a status: then a request that has more
/// of something than we take (`out_of_resource`, found before any of it is
/// read) can be refused. The others close the connection.
bool can_be_refused(command x);

/// `decode_request` for a long payload that is given away: the bytes of an
/// `io_push_request` stay in its memory, so that they are not there twice.
/// @param memory Ends with the payload.
/// @param size Of the payload, in bytes.
/// Source: guarantees 5.7; I18.
caf::expected<request> decode_long_request(std::string memory, size_t size,
                                           const dialect& d);

} // namespace troupe::wire
