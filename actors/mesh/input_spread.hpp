#pragma once

#include "actors/mesh/job_locations.hpp"
#include "messages/io_stream.hpp"

#include <caf/expected.hpp>

#include <functional>

namespace troupe {

/// Gets what has become of input.
using input_taken_callback = std::function<void(caf::expected<io_input_taken>)>;

/// Sends input to a node; calls back once.
using input_sender =
  std::function<void(uint32_t node, io_input part, input_taken_callback then)>;

/// Sends input to each node of its processes once, and tells what has become of
/// it when all have answered. Ranks that the job does not have are left out;
/// who is on a lost node reads no more. Source: guarantees 5.7, "stdin"; A46.
void spread_input(const job_locations& places, const io_input& what,
                  const input_sender& send, input_taken_callback done);

} // namespace troupe
