#pragma once

#include "adapters/wire/requests.hpp"

#include <string>

namespace troupe::wire {

/// `decode_request` for a long payload that is given away: the bytes of an
/// `io_push_request` stay in its memory, so that they are not there twice.
/// Source: guarantees 5.7; I18.
caf::expected<request> decode_long_request(std::string payload,
                                           const dialect& d);

} // namespace troupe::wire
