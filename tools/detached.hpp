#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <string>

namespace troupe {

/// Lets a program go on in the background, and whoever started it wait until it
/// can say how it went.
///
///     auto self = detached::split();   // before there are threads
///     ... begin to work ...
///     self.report(0, "ready\n");       // the caller's wait ends
class detached {
public:
  /// The process that was called waits for a report, writes it, and ends with
  /// its status; it ends the other one if nobody listens to it any more. Only
  /// the other process, in a session of its own, returns from here.
  static detached split();

  /// What goes on in the foreground: reports are written at once.
  static detached none() {
    return {};
  }

  detached() = default;
  detached(detached&&) = default;
  detached& operator=(detached&&) = default;

  /// Says how it went: the exit status, and the text for standard output, or
  /// for standard error if the status is not 0. Only the first report counts.
  void report(int status, const std::string& text);

  bool is_in_background() const {
    return is_split_;
  }

  /// Hangs up when nobody waits for the report any more; -1 if there is nothing
  /// to watch.
  int fd() const {
    return pipe_.get();
  }

private:
  bool is_split_ = false;
  bool is_reported_ = false;
  unique_fd pipe_;
};

/// Replaces standard input and output by /dev/null, and standard error by a
/// file that grows; an empty name is /dev/null, too.
/// @returns whether the file could be opened.
bool redirect_standard_streams(const std::string& log_file);

} // namespace troupe
