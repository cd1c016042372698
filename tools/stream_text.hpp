#pragma once

#include "tools/stream_table.hpp"

#include <string>

// What `troupe io` prints.

namespace troupe {

/// The streams as aligned columns, and who gets each.
std::string streams_text(const std::vector<stream_row>& rows);

/// `JOB:RANK STREAM BEGIN END open`, or `over`, a stream a line.
std::string offsets_text(const std::vector<stream_row>& rows);

} // namespace troupe
