#pragma once

#include "messages/custom_monitor.hpp"

#include <caf/error.hpp>
#include <caf/timespan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The number that a value holds, whatever its type: callers write 2, 2.0 and
/// "2".
std::optional<double> decimal(const value& x);

/// The number of bytes that a value holds: an integer, or a text such as
/// `512M`, with K, M, G or T for powers of 1024.
std::optional<uint64_t> byte_count(const value& x);

/// Reads the settings of a monitor of some kind, the directives that begin with
/// `troupe.monitor.`. What cannot be used is noted; `finish` tells of the
/// first.
class monitor_settings_reader {
public:
  monitor_settings_reader(std::string kind, const std::vector<info>& settings);

  /// A time in seconds, within these bounds.
  caf::timespan seconds(std::string_view key, caf::timespan otherwise,
                        caf::timespan least, caf::timespan most);

  /// The time between two looks.
  caf::timespan interval(caf::timespan otherwise);

  /// A number of 32 bits.
  uint32_t count(std::string_view key, uint32_t otherwise);

  /// How many looks in a row may be missed.
  uint32_t drops();

  /// A number of bytes above zero.
  /// @returns 0 if there is none, which is an error if it is needed.
  uint64_t bytes(std::string_view key, bool is_needed);

  /// A text that is not empty.
  std::string text(std::string_view key, bool is_needed);

  /// @returns `bad_param` for the first setting that cannot be used, and for
  /// one
  ///          that nobody has asked for.
  caf::error finish() const;

private:
  const value* take(std::string_view key);
  void complain(std::string_view key, const std::string& remedy);

  std::string kind_;
  const std::vector<info>& settings_;
  std::vector<std::string_view> known_;
  std::string complaint_;
};

} // namespace troupe
