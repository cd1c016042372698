#pragma once

#include "messages/io_wiring.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// Turns output of processes into text. Lines of different processes are never
/// mixed, an unfinished line is kept until it is finished or the stream ends.
/// Plain data: no descriptor; the clock is a parameter.
class output_formatter {
public:
  /// Bytes of an unfinished line that are kept; a longer line is passed on in
  /// pieces of this length, each shown as a line.
  static constexpr size_t max_line = size_t{64} << 10;

  /// The local time of a moment in nanoseconds since 1970, as text.
  using clock = std::function<std::string(int64_t)>;

  explicit output_formatter(output_format format = {}, clock now = {});

  /// Takes the next bytes of a stream; none at its end.
  /// @returns what to write now; may be empty.
  std::string format(io_fragment&& x);

  /// @returns whether the text for `channel` belongs on standard error.
  bool on_stderr(io_channels channel) const noexcept;

private:
  using stream = std::pair<proc_id, io_channels>;

  void add_line(std::string& result, const stream& source,
                std::string_view line) const;
  void add_json(std::string& result, const stream& source,
                std::string_view line) const;
  std::string label_of(const proc_id& proc) const;

  output_format format_;
  clock now_;
  std::string first_nspace_;
  std::map<stream, std::string> unfinished_;
};

/// The local time of day, `2025-11-20T16:43:59.123+01:00`.
std::string local_time();

} // namespace troupe
