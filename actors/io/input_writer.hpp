#pragma once

#include "messages/fwd.hpp"
#include "messages/process.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The INPUT WRITER interface: writes the standard input of the processes of a
/// node. The PROCESS LAUNCHER is one.
using input_writer_actor = caf::typed_actor<
  // Input for a process; answered when it has been written, `not_found` for
  // one that is not known, `lost_connection` if nobody reads it any more.
  caf::replies_to<write_stdin>::with<ack>,
  // The input is at its end.
  caf::reacts_to<close_stdin>>;

} // namespace troupe
