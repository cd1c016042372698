#include "actors/jobs/number_list.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace troupe {

namespace {

/// The largest number of a processor that any kernel has.
constexpr uint32_t most = 65535;

std::optional<uint32_t> parse_number(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [rest, err] = std::from_chars(text.data(), end, result);
  if (err != std::errc{} || rest != end || result > most)
    return std::nullopt;
  return result;
}

caf::error wrong(std::string_view text) {
  return make_error(status::bad_param, "\"" + std::string{text}
                                         + "\" is no list of processors; "
                                           "write 0-3,5");
}

} // namespace

std::string to_ranges(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  auto result = std::string{};
  for (size_t i = 0; i < numbers.size();) {
    auto last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    result += (result.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      result += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return result;
}

caf::expected<std::vector<uint32_t>> parse_numbers(std::string_view text) {
  auto result = std::vector<uint32_t>{};
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto item = text.substr(begin, end - begin);
    const auto dash = std::min(item.find('-'), item.size());
    const auto first = parse_number(item.substr(0, dash));
    const auto last =
      dash < item.size() ? parse_number(item.substr(dash + 1)) : first;
    if (!first || !last || *first > *last
        || *last - *first >= most - std::min<size_t>(most, result.size()))
      return wrong(text);
    for (auto x = *first; x <= *last; ++x)
      result.push_back(x);
    begin = end + 1;
  }
  return result;
}

} // namespace troupe
