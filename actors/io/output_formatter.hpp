#pragma once

#include "actors/io/output_tag.hpp"
#include "config/defaults.hpp"
#include "messages/io_wiring.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Turns output of processes into text. Lines of different processes are never
/// mixed, an unfinished line is kept until it is finished or the stream ends;
/// without a format, bytes pass as they come. What a stream has lost is shown
/// where it is missing. Plain data: no descriptor; the clock is a parameter.
/// Source: PMIx Standard v5, "IO Forwarding attributes"; OpenPMIx 6.1.
class output_formatter {
public:
  /// Bytes of an unfinished line that are kept; a longer line is passed on in
  /// pieces of this length, each shown as a line.
  static constexpr size_t max_line = size_t{64} << 10;

  /// The local time of a moment in nanoseconds since 1970, as RFC 3339 has it:
  /// `2025-11-20T16:43:59.123+01:00`.
  using clock = std::function<std::string(int64_t)>;

  /// The host of a process; empty: not known.
  using hosts = std::function<std::string(const proc_id&)>;

  explicit output_formatter(output_format format = {}, clock show_time = {},
                            hosts host_of = {});

  /// Takes the next bytes of a stream.
  /// @returns what to write now; may be empty.
  std::string format(io_fragment&& x);

  /// Whether bytes pass as they come, and what is missing is told by `notice`.
  bool is_plain() const noexcept {
    return !is_formatted_;
  }

  /// Shows lines, not bytes, also without a format: for a file of several
  /// processes.
  void keep_lines_whole() noexcept {
    is_formatted_ = true;
  }

  /// @returns whether the text for `channel` belongs on standard error; JSON
  ///          and XML say themselves where it comes from.
  bool on_stderr(io_channels channel) const noexcept;

  /// Bytes of unfinished lines.
  size_t unfinished() const noexcept {
    return held_;
  }

private:
  using stream = std::pair<proc_id, io_channels>;

  /// What is kept of a stream between fragments.
  struct begun {
    std::string line;

    /// When its first byte was read.
    int64_t read_at = 0;

    /// Raw output that ended within a line.
    bool is_within_line = false;
  };

  /// What all lines of one fragment share.
  struct frame {
    const io_fragment& from;
    std::string time;

    /// What stands in front of the text: for JSON, the members that say where
    /// it comes from.
    std::string before;
  };

  frame make_frame(const io_fragment& x, int64_t read_at);
  output_place place_of(const io_fragment& x);
  std::string add_lines(const io_fragment& x, begun& kept);
  void add_gap(std::string& result, const io_fragment& x, begun& kept);
  void add_line(std::string& result, const frame& how,
                std::string_view line) const;
  static void add_json(std::string& result, const frame& how,
                       std::string_view line);

  output_format format_;
  clock show_time_;
  hosts host_of_;

  /// Those that are known, of streams that have not ended: a job may be
  /// forgotten before its last lines are shown.
  std::map<stream, std::string> known_hosts_;
  bool is_formatted_ = false;
  std::string first_nspace_;
  std::map<stream, begun> begun_;
  size_t held_ = 0;
};

/// A line that stands where bytes are missing.
std::string missing_line(uint64_t missed);

/// What tells a person of bytes that are missing from a stream.
std::string missing_notice(const io_stream& stream, uint64_t missed);

} // namespace troupe
