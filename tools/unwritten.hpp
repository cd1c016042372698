#pragma once

#include "tools/guarded_main.hpp"
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
/// @param lacks_output Whether a file could not be written.
/// @returns the launcher's: `cannot_write` if the job went well and some of its
///          output is missing.
inline int status_of_output(int error, int status, const output_options& x,
                            bool lacks_output = false) {
  if (status != 0)
    return status;
  if (is_unread(error, x))
    return unread_status;
  return error != 0 || lacks_output ? cannot_write : 0;
}

} // namespace troupe
