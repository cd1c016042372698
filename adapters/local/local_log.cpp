#include "adapters/local/local_log.hpp"

#include <utility>

namespace troupe {

local_log::local_log(journal sink, size_t lines_per_second)
  : sink_(std::move(sink)), lines_per_second_(lines_per_second) {
  // nop
}

void local_log::write(severity weight, const std::string& line,
                      clock::time_point now) {
  if (!sink_)
    return;
  if (now - second_ >= std::chrono::seconds{1}) {
    if (lines_ > lines_per_second_)
      sink_(severity::warning, std::to_string(lines_ - lines_per_second_)
                                 + " more lines were not written (L25)");
    second_ = now;
    lines_ = 0;
  }
  if (++lines_ <= lines_per_second_)
    sink_(weight, line);
}

} // namespace troupe
