#pragma once

#include <string>

namespace troupe {

/// What people are told when standard output of a launcher cannot be written
/// any more.
inline std::string unwritten_notice(const std::string& reason) {
  return "standard output is not written any more (" + reason
         + "): what processes write is discarded, and the job goes on";
}

} // namespace troupe
