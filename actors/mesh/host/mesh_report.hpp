#pragma once

#include "messages/control.hpp"
#include "messages/mesh.hpp"

#include <string>
#include <string_view>

// What tools ask of nodes with keys of ours, in the form of
// base/report_values.hpp.

namespace troupe {

/// Such as `live`.
std::string_view text_of(node_state x);
std::string_view text_of(mesh_duty x);

/// An item of what answers `troupe.net`: a node's lanes to its peers, and how
/// full it is.
value net_report(const mesh_status& x);

/// The item of a node that has not answered.
value silent_report(uint32_t rank, const std::string& why);

} // namespace troupe
