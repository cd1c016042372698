#pragma once

#include "tools/report.hpp"

#include <string>
#include <vector>

namespace troupe {

/// `troupe nodes`, `jobs`, `ps` and `net`: show what a DVM answers.
/// @param command How the user called it.
/// @param args    Without the names of the program and of the command.
/// @returns the exit status.
int ask(report_kind what, const std::string& command,
        std::vector<std::string> args);

/// `troupe down`: ends a DVM and waits until it is gone.
int down(std::vector<std::string> args);

} // namespace troupe
