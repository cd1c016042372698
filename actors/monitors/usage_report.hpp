#pragma once

#include "actors/monitors/usage_request.hpp"
#include "messages/usage.hpp"

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The node of a report.
struct usage_node {
  std::string hostname;
  std::optional<uint32_t> id;
};

/// What is wanted of a sample, as arrays of infos: PMIX_PROC_RESOURCE_USAGE for
/// each process and its neighbours for node, disks and networks; in each, first
/// whose it is, at last when it was taken.
/// @param samples Those of processes say which process it is in `proc`.
/// Source: OpenPMIx, PMIX_PROC_RESOURCE_USAGE and neighbours.
std::vector<info> usage_report(const usage_request& request,
                               const usage_samples& samples,
                               const usage_node& node);

} // namespace troupe
