#include "tools/ctl_words.hpp"

#include "config/escape.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

namespace troupe {

namespace {

caf::error bad(std::string why) {
  return make_error(status::bad_param, std::move(why));
}

std::string in_quotes(const std::string& text) {
  return "\"" + escape_control_characters(text) + "\"";
}

std::optional<uint32_t> read_number(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (text.empty() || failure != std::errc{} || at != end)
    return std::nullopt;
  return result;
}

} // namespace

caf::expected<std::vector<proc_id>> read_targets(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto nspace = text.substr(0, colon);
  if (nspace.empty() || nspace.size() > max_nspace_length)
    return bad(in_quotes(text)
               + " names no processes; write NAMESPACE or NAMESPACE:RANKS");
  const auto ranks =
    colon == std::string::npos ? std::string{"*"} : text.substr(colon + 1);
  if (ranks == "*")
    return std::vector<proc_id>{{nspace, rank_wildcard}};
  auto result = std::vector<proc_id>{};
  for (size_t begin = 0; begin <= ranks.size();) {
    const auto end = std::min(ranks.find(',', begin), ranks.size());
    const auto part = std::string_view{ranks}.substr(begin, end - begin);
    const auto dash = part.find('-');
    const auto first = read_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos
                        ? first
                        : read_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > rank_valid_max)
      return bad(in_quotes(text)
                 + " names no processes: ranks are a list such as 0,4-7, or *");
    if (*last - *first >= max_control_targets - result.size())
      return bad(in_quotes(text) + " names more than "
                 + std::to_string(max_control_targets)
                 + " processes; leave the ranks away for all of them");
    for (auto rank = *first; rank <= *last; ++rank)
      result.push_back({nspace, rank});
    begin = end + 1;
  }
  return result;
}

caf::expected<int32_t> read_signal(const std::string& text) {
  const auto refused = bad("there is no signal " + in_quotes(text)
                           + "; give a name such as USR1 or a number from 0 to "
                           + std::to_string(SIGRTMAX));
  if (const auto number = read_number(text)) {
    if (*number > static_cast<uint32_t>(SIGRTMAX))
      return refused;
    return static_cast<int32_t>(*number);
  }
  auto name = text;
  for (auto& c : name)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.rfind("SIG", 0) == 0)
    name.erase(0, 3);
  for (int number = 1; number < SIGRTMIN; ++number)
    if (const auto* known = sigabbrev_np(number);
        known != nullptr && name == known)
      return number;
  if (name.rfind("RTMIN", 0) == 0) {
    const auto rest = name.substr(5);
    const auto offset = rest.empty()          ? std::optional<uint32_t>{0}
                        : rest.front() == '+' ? read_number(rest.substr(1))
                                              : std::nullopt;
    if (offset && *offset <= static_cast<uint32_t>(SIGRTMAX - SIGRTMIN))
      return SIGRTMIN + static_cast<int32_t>(*offset);
  }
  return refused;
}

} // namespace troupe
