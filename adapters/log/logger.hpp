#pragma once

#include "adapters/log/journal_socket.hpp"
#include "base/journal.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// What the lines of a log look like.
enum class log_format : uint8_t {
  /// `name[pid] level: text`; entries of the journal if that is what the
  /// descriptor leads to.
  text,

  /// An object of JSON a line: docs/json.md.
  json,

  /// Entries of the journal; `text` where there is none.
  journald,
};

/// As `--log-format` takes it; nothing for another word.
std::optional<log_format> read_log_format(std::string_view word);

struct logger_settings {
  /// Names the process in each line.
  std::string name = "troupe";

  /// What matters less is not logged, whatever it is about, until the levels of
  /// the log are set (`log_levels_of`).
  severity level = severity::warning;

  log_format format = log_format::text;

  /// Where to; not owned.
  int fd = 2;

  /// Where the journal listens.
  std::string journal = journal_path;
};

/// Sets up the log of the process: a `subject_journal` about its daemon. The
/// result may be called on any thread and does not block: while nobody takes the
/// lines they are dropped, and their number is logged as soon as possible. Control
/// characters are escaped.
journal open_log(const logger_settings& settings);

} // namespace troupe
