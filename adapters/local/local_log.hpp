#pragma once

#include "config/journal.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace troupe {

/// Writes lines about peers; when they cause too many, the surplus is counted
/// instead. Source: guarantees, limit L25.
class local_log {
public:
  using clock = std::chrono::steady_clock;

  /// @param sink May be empty.
  local_log(journal sink, size_t lines_per_second);

  void write(severity weight, const std::string& line,
             clock::time_point now = clock::now());

private:
  journal sink_;
  size_t lines_per_second_;
  clock::time_point second_{};
  size_t lines_ = 0;
};

} // namespace troupe
