#pragma once

#include "messages/actors.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// Makes a sink that keeps what it is given, unanswered, until it is told
/// `deadline`; then it passes everything on, in order, and answers what `to`
/// answers. So who comes later loses nothing, however little of a stream is
/// kept. Ends with `to`.
buffered_sink_actor spawn_output_gate(caf::actor_system& sys,
                                      const output_sink_actor& to);

} // namespace troupe
