#pragma once

#include "messages/value.hpp"

namespace troupe {

/// What the server or its host supports, as `PMIx_Query_info` with
/// PMIX_QUERY_ATTRIBUTE_SUPPORT asks it.
/// @param qualifiers PMIX_SERVER_FUNCTIONS or PMIX_HOST_FUNCTIONS: the names of
///                   the functions; PMIX_SERVER_ATTRIBUTES or
///                   PMIX_HOST_ATTRIBUTES with a list of functions or `all`:
///                   the attributes of each.
/// @returns one info per qualifier answered and per function.
/// Source: PMIx Standard v5, "Query keys", "Descriptive Attributes".
std::vector<info> supported(const std::vector<info>& qualifiers);

} // namespace troupe
