#pragma once

#include <functional>
#include <string>

namespace troupe {

/// How much a line of the process's own log matters.
enum class severity { debug, info, warning, error };

/// Takes a line for the process's own log. What a line quotes from outside may
/// hold any byte: the receiver escapes control characters.
using journal = std::function<void(severity, const std::string&)>;

} // namespace troupe
