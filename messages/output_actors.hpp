#pragma once

#include "messages/actors.hpp"

#include <caf/typed_actor.hpp>

namespace troupe {

/// The BUFFERED SINK interface: an OUTPUT SINK that keeps output for a while if
/// it is told to. Source: PMIx Standard v5, PMIX_IOF_BUFFERING_TIME.
using buffered_sink_actor = output_sink_actor::extend<
  // INTERNAL: what is kept has waited long enough.
  caf::reacts_to<deadline>>;

} // namespace troupe
