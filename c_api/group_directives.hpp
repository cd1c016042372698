#pragma once

#include "messages/value.hpp"

#include <caf/error.hpp>

#include <vector>

namespace troupe::c_api {

/// What is wrong with the directives of a call about a group: an attribute of
/// groups whose value is of no use to it. None: nothing is.
/// Source: requirements, edge case 171.
caf::error fault_of_directives(const std::vector<info>& directives);

} // namespace troupe::c_api
