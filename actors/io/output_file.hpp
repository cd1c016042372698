#pragma once

#include "messages/io_wiring.hpp"

#include <string>
#include <vector>

namespace troupe {

/// A file for output of processes.
struct output_file {
  /// The folder that the user named: as it is, through whatever links it has.
  std::string folder;

  /// Folders below it whose names are made up here; never links.
  std::vector<std::string> below;
  std::string name;

  /// Whether several processes write to it: it is continued, not begun anew.
  bool is_shared = false;
};

/// Which file takes a stream of a job.
///
///     directory     DIR/NSPACE/rank.RANK/stdout, stderr, stddiag
///     file          FILE.NSPACE.RANK.out, .err, .diag
///     pattern       FILE.out, .err, .diag with %n for the namespace, %r for
///                   the rank and %% for a percent sign
///
/// RANK has as many digits as the size of the job. With `merge` there is only
/// the file of standard output. A slash in a namespace becomes an underscore.
/// @pre The job writes to files.
/// Source: OpenPMIx 6.1, `pmix_iof_setup`; for the pattern, which it takes
/// literally, PMIx Standard v5, PMIX_IOF_FILE_PATTERN.
output_file file_of(const io_job_begun& job, const io_stream& stream);

/// Whether a job writes to files.
bool has_files(const io_wiring& wiring) noexcept;

std::string path_of(const output_file& file);

} // namespace troupe
