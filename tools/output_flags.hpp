#pragma once

#include "tools/output_options.hpp"

#include <caf/error.hpp>

namespace troupe {

/// Adds what the options `-l`, `--timestamp` and `--json` say.
/// @returns `bad_param` with the remedy if `--output` says something else.
caf::error add_flags(bool label, bool timestamp, bool json, output_options& x);

} // namespace troupe
