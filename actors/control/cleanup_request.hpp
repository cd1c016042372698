#pragma once

#include "messages/control.hpp"
#include "messages/process.hpp"

#include <caf/expected.hpp>

namespace troupe {

/// Reads a job control request that registers what is to be removed at the end
/// of the job, as Open MPI does for its session directories and segments.
/// PMIX_CLEANUP_EMPTY: directories go only if nothing is in them.
/// PMIX_CLEANUP_IGNORE: what stays, also in a directory that goes; a path that
/// is no directory and has `leave_top`. Before or after what it is kept from.
/// @returns
///   - `not_supported` if it asks for anything else,
///   - `bad_param` for a path that is not absolute or has `..` in it.
/// Source: PMIx Standard v5, PMIX_REGISTER_CLEANUP and the attributes after it.
caf::expected<std::vector<cleanup_path>>
read_cleanup(const job_control_request& request);

/// What a job has registered so far.
class cleanup_list {
public:
  /// @returns `out_of_resource` if that is too much; then nothing is added.
  caf::error add(std::vector<cleanup_path> paths);

  /// All of it, which is forgotten.
  std::vector<cleanup_path> take();

private:
  std::vector<cleanup_path> paths_;
};

} // namespace troupe
