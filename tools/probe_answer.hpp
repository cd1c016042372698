#pragma once

#include "tools/node_facts.hpp"

#include <string>

namespace troupe {

/// Looks at this node. Waits for its name service, and for those to whom it tries
/// to connect; not for the thread of a loop.
/// @param port Where it takes connections meanwhile, see `open_any_port`.
node_facts look_at_node(const probe_request& what, uint16_t port,
                        const std::string& port_trouble);

/// `trouped --probe`: answers `troupe doctor`, which has started us and reads our
/// standard output, and takes connections until our standard input ends.
/// @returns the exit status: 2 if standard input is no request.
int answer_probe();

} // namespace troupe
