#pragma once

#include "messages/control.hpp"
#include "messages/mesh.hpp"

#include <string>
#include <string_view>
#include <vector>

// What tools ask for with keys of ours, as the values that answer a query. An
// object is an array of infos; a list is one whose infos all have the key
// `item`. Tools show what they get, so a new member needs no new tool.

namespace troupe {

inline constexpr std::string_view report_item_key = "item";

/// Several values under one.
value report_list(std::vector<value> items);

/// Such as `live`.
std::string_view text_of(node_state x);
std::string_view text_of(mesh_duty x);

/// An item of what answers `troupe.net`: a node's lanes to its peers, and how
/// full it is.
value net_report(const mesh_status& x);

/// The item of a node that has not answered.
value silent_report(uint32_t rank, const std::string& why);

} // namespace troupe
