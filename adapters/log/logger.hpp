#pragma once

#include "base/journal.hpp"

#include <string>

namespace troupe {

struct logger_settings {
  /// Names the process in each line.
  std::string name = "troupe";

  /// What matters less is not logged.
  severity level = severity::warning;

  /// One JSON object per line instead of text.
  bool json = false;

  /// Where to; not owned.
  int fd = 2;
};

/// Sets up the log of the process. The result may be called on any thread and
/// does not block: while nobody takes the lines they are dropped, and their
/// number is logged as soon as possible. Control characters are escaped.
journal open_log(const logger_settings& settings);

} // namespace troupe
