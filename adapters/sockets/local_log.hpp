#pragma once

#include "base/journal.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace troupe {

/// Writes lines about peers; when one of them causes too many, its surplus is
/// counted instead, and the lines about others are written all the same.
/// Source: guarantees, limit L25.
class local_log {
public:
  using clock = std::chrono::steady_clock;

  /// @param sink May be empty.
  /// @param lines_per_second About each source.
  local_log(journal sink, size_t lines_per_second);

  /// @param source Who caused the line, such as `user 1000`: something that
  ///               the kernel vouches for, since it is counted by it.
  void write(const std::string& source, severity weight,
             const std::string& line, clock::time_point now = clock::now());

private:
  struct count {
    clock::time_point second;
    size_t lines = 0;
  };

  /// Begins a new second and says what was left out of the old one.
  void renew(const std::string& source, count& x, clock::time_point now);

  journal sink_;
  size_t lines_per_second_;
  std::map<std::string, count> counts_;
};

} // namespace troupe
