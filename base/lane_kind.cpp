#include "base/lane_kind.hpp"

#include "messages/status.hpp"

namespace troupe {

std::string_view text_of(lane_kind x) {
  return x == lane_kind::local ? "unix" : "tcp";
}

caf::expected<lane_kinds>
read_lane_kinds(const std::vector<std::string>& words) {
  if (words.empty())
    return lane_kinds{};
  auto result = lane_kinds{false, false};
  for (const auto& x : words)
    if (x == text_of(lane_kind::tcp))
      result.tcp = true;
    else if (x == text_of(lane_kind::local))
      result.local = true;
    else
      return make_error(status::bad_param,
                        "there are no lanes of kind \"" + x
                          + "\"; write unix, tcp, or unix,tcp");
  return result;
}

} // namespace troupe
