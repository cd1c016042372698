#include "tools/time_span.hpp"

#include "adapters/wire/number_range.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace troupe {

namespace {

constexpr auto most = uint64_t{std::numeric_limits<int32_t>::max()};

using span = std::optional<std::chrono::seconds>;

/// Adds up numbers that each count some seconds.
class total {
public:
  /// @returns whether `digits` is a number and the sum has room for it.
  bool add(std::string_view digits, uint64_t unit) {
    const auto number = wire::parse_number(digits);
    if (!number || *number > (most - sum_) / unit)
      return false;
    sum_ += *number * unit;
    return true;
  }

  span get() const {
    return std::chrono::seconds{sum_};
  }

private:
  uint64_t sum_ = 0;
};

/// Reads `1h30m`.
span parse_units(std::string_view text) {
  auto result = total{};
  while (!text.empty()) {
    const auto end = text.find_first_not_of("0123456789");
    if (end == std::string_view::npos)
      return std::nullopt;
    const auto sign = text[end];
    const auto unit = sign == 's'   ? 1
                      : sign == 'm' ? 60
                      : sign == 'h' ? 3600
                      : sign == 'd' ? 86400
                                    : 0;
    if (unit == 0 || !result.add(text.substr(0, end), unit))
      return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return result.get();
}

/// Reads `D-HH[:MM[:SS]]`, `HH:MM:SS` and `MM:SS`.
span parse_clock(std::string_view text) {
  auto result = total{};
  const auto dash = text.find('-');
  const auto has_days = dash != std::string_view::npos;
  if (has_days) {
    if (!result.add(text.substr(0, dash), 86400))
      return std::nullopt;
    text.remove_prefix(dash + 1);
  }
  auto parts = std::vector<std::string_view>{};
  for (;;) {
    const auto colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos)
      break;
    text.remove_prefix(colon + 1);
  }
  if (parts.size() > 3)
    return std::nullopt;
  auto unit = has_days || parts.size() == 3 ? uint64_t{3600} : uint64_t{60};
  for (const auto part : parts) {
    if (!result.add(part, unit))
      return std::nullopt;
    unit /= 60;
  }
  return result.get();
}

} // namespace

span parse_time_span(std::string_view text, std::chrono::seconds plain) {
  if (text.empty())
    return std::nullopt;
  if (text.find_first_of("-:") != std::string_view::npos)
    return parse_clock(text);
  if (text.find_first_not_of("0123456789") != std::string_view::npos)
    return parse_units(text);
  auto result = total{};
  return result.add(text, static_cast<uint64_t>(plain.count())) ? result.get()
                                                                : std::nullopt;
}

} // namespace troupe
