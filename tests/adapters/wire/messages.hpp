#pragma once

// Random requests and replies, for property tests.

#include "adapters/wire/replies.hpp"
#include "tests/adapters/wire/values.hpp"

namespace troupe::wire::test {

/// A request of the kind with index `i` in `request`.
request any_request(value_source& source, size_t i, const dialect& d);

/// A reply body of the kind with index `i` in `reply_body`.
reply_body any_reply(value_source& source, size_t i, const dialect& d);

/// The command that a reply body of the kind with index `i` answers.
command asked_for(size_t i);

} // namespace troupe::wire::test
