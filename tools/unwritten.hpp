#pragma once

#include "tools/output_options.hpp"

#include <cerrno>
#include <string>

// Standard output of a launcher that cannot be written any more.

namespace troupe {

/// The exit status of a job whose output nobody reads: as of a program that
/// SIGPIPE ended.
inline constexpr int unread_status = 141;

/// Why such a job ended. Nobody is told: of the program that SIGPIPE ended, a
/// shell says nothing, either.
inline constexpr auto unread_reason =
  "nobody reads the output of the job any more";

/// The exit status of a job that went well, and whose output could not be
/// written. Source: sysexits.h, EX_IOERR.
inline constexpr int unwritten_status = 74;

/// What people are told.
inline std::string unwritten_notice(const std::string& reason) {
  return "standard output is not written any more (" + reason
         + "): what processes write is discarded, and the job goes on";
}

/// @param error What writing met: an errno.
/// @returns whether the job ends, since nobody reads what it writes, and it is
///          written nowhere else.
inline bool is_unread(int error, const output_options& x) {
  return error == EPIPE && x.file.empty() && x.directory.empty();
}

/// @param error  What writing met: an errno, or 0.
/// @param status That of the job.
/// @returns the launcher's.
inline int status_of_output(int error, int status, const output_options& x) {
  if (error == 0 || status != 0)
    return status;
  return is_unread(error, x) ? unread_status : unwritten_status;
}

} // namespace troupe
