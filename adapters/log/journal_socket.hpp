#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "base/log_levels.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace troupe {

/// Where the journal of a node listens.
inline constexpr auto journal_path = "/run/systemd/journal/socket";

/// Writes lines to the journal of the node by its own protocol, a datagram of
/// fields for each: MESSAGE, PRIORITY, SYSLOG_IDENTIFIER, SYSLOG_PID,
/// TROUPE_SUBJECT and, for steps of an operation or event, TROUPE_TRACE. Never
/// waits: what the journal does not take is counted, and told with the next line
/// that it takes. Any thread may write.
/// Source: systemd, "Native Journal Protocol".
class journal_socket {
public:
  /// @param path Where it listens.
  /// @param name Names the process in each line.
  journal_socket(std::string path, std::string name);

  journal_socket(const journal_socket&) = delete;
  journal_socket& operator=(const journal_socket&) = delete;

  /// Whether a descriptor leads to the journal already, as systemd says in
  /// JOURNAL_STREAM. Source: systemd.exec(5).
  static bool is_behind(int fd);

  /// Whether there is one.
  bool is_there() const;

  void write(const log_line& x);

private:
  bool send(const std::string& datagram) const;

  std::string path_;
  std::string name_;
  unique_fd fd_;
  std::mutex mutex_;
  size_t dropped_ = 0;
};

} // namespace troupe
