#pragma once

#include "messages/control.hpp"
#include "messages/process.hpp"

#include <caf/expected.hpp>

#include <string>
#include <vector>

namespace troupe {

/// What a request registers for the end of the job.
struct cleanup_request {
  /// To be removed.
  std::vector<cleanup_path> paths;

  /// To be left alone: PMIX_CLEANUP_IGNORE.
  std::vector<std::string> kept;
};

/// Reads a job control request that registers what is to be removed at the end
/// of the job, as Open MPI does for its session directories and segments.
/// PMIX_CLEANUP_EMPTY takes PMIX_CLEANUP_RECURSIVE back: a directory goes only
/// if it is empty.
/// @returns
///   - `not_supported` if it asks for anything else,
///   - `bad_param` for a path that is not absolute or has `..` in it,
///   - `conflicting_cleanup_directives` for a path that is to be removed and to
///     be left alone.
/// Source: PMIx Standard v5, PMIX_REGISTER_CLEANUP and the attributes after it.
caf::expected<cleanup_request> read_cleanup(const job_control_request& request);

/// What a job has registered so far.
class cleanup_list {
public:
  /// @returns `out_of_resource` if that is too much; then nothing is added.
  caf::error add(cleanup_request what);

  /// What is to be removed, which is forgotten: not what has to be left alone,
  /// whoever of the job said so, nor a directory with all below it if some of
  /// that has.
  std::vector<cleanup_path> take();

private:
  cleanup_request all_;
};

} // namespace troupe
