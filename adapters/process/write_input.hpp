#pragma once

#include "messages/connection.hpp"
#include "messages/fwd.hpp"
#include "messages/process.hpp"

#include <caf/typed_response_promise.hpp>

namespace troupe {

class input_pipe;

/// Writes input to the pipe of a process and answers what has become of it:
/// `lost_connection` if nobody reads it any more, `resource_busy` if too much
/// waits already.
/// @param pipe Null: the process has none.
void write_input(input_pipe* pipe, write_stdin&& request,
                 caf::typed_response_promise<ack> reply);

} // namespace troupe
