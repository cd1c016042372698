#pragma once

#include "base/journal.hpp"

#include <caf/error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

/// What a line of a process's own log is about. Each subject has a level.
enum class log_subject : uint8_t {
  daemon,      ///< the process itself: how it starts and ends, its files
  server,      ///< sessions of processes and tools, and what they post
  connections, ///< who connects, and who is refused
  collectives, ///< fences, connects and disconnects
  events,      ///< events and sensors
  groups,      ///< process groups
  jobs,        ///< jobs and their processes
  io,          ///< standard streams
  monitors,    ///< who watches what
  networks,    ///< connections between nodes
  nodes,       ///< members of the DVM
};

inline constexpr size_t log_subject_count = 11;

/// As options and reports write it, such as `events`.
std::string_view text_of(log_subject x);

/// Likewise: `debug`, `info`, `warning` or `error`.
std::string_view text_of(severity x);

/// The key of the levels of a node: a query for them, and a directive of job
/// control that sets them on all nodes of a DVM (a string, as `log_levels::set`
/// takes it).
inline constexpr std::string_view log_levels_key = "troupe.log.levels";

/// What the lines of each subject have to matter for a process to log them. Read
/// and set by any thread.
class log_levels {
public:
  explicit log_levels(severity all = severity::warning);

  severity of(log_subject about) const noexcept {
    return static_cast<severity>(
      levels_[static_cast<size_t>(about)].load(std::memory_order_relaxed));
  }

  bool wants(log_subject about, severity how) const noexcept {
    return how >= of(about);
  }

  /// Sets levels, from left to right: `info,events=debug` is `info` for all
  /// subjects but one.
  /// @returns `bad_param` in a sentence for what is no subject or level; then
  ///          nothing is set.
  caf::error set(std::string_view words);

private:
  std::array<std::atomic<uint8_t>, log_subject_count> levels_;
};

/// A line of a log, for as long as somebody writes it.
struct log_line {
  severity how;
  log_subject about;
  const std::string& text;

  /// The operation or event that it is about, as `troupe trace` takes it; may
  /// be empty.
  const std::string& trace;
};

/// Writes a line. Called on any thread.
using log_output = std::function<void(const log_line&)>;

/// A log that knows what its lines are about, and leaves out those that nobody
/// wants. What a `journal` holds that `open_log` has made.
struct subject_journal {
  std::shared_ptr<log_levels> levels;
  std::shared_ptr<const log_output> out;
  log_subject about = log_subject::daemon;

  /// Leaves out more; empty: nothing.
  std::function<bool(severity)> admits = {};

  void operator()(severity how, const std::string& text) const;
};

/// The same log, for lines about a subject. A log of another kind, such as an
/// embedder's, stays as it is.
journal about(const journal& log, log_subject what);

/// The same log without the lines that `admits` does not want.
journal only_if(const journal& log, std::function<bool(severity)> admits);

/// The levels of a log; null if it has none.
std::shared_ptr<log_levels> log_levels_of(const journal& log);

} // namespace troupe
