#include "adapters/sockets/local_log.hpp"

#include <utility>

namespace troupe {

local_log::local_log(journal sink, size_t lines_per_second)
  : sink_(std::move(sink)), lines_per_second_(lines_per_second) {
  // nop
}

void local_log::renew(const std::string& source, count& x,
                      clock::time_point now) {
  if (x.lines > lines_per_second_)
    sink_(severity::warning, std::to_string(x.lines - lines_per_second_)
                               + " more lines about " + source
                               + " were not written (L25)");
  x = {now, 0};
}

void local_log::write(const std::string& source, severity weight,
                      const std::string& line, clock::time_point now) {
  if (!sink_)
    return;
  auto& x = counts_[source];
  if (now - x.second >= std::chrono::seconds{1})
    renew(source, x, now);
  if (++x.lines <= lines_per_second_)
    sink_(weight, line);
}

} // namespace troupe
