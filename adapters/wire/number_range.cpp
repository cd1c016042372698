#include "adapters/wire/number_range.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::wire {

std::optional<uint64_t> parse_number(std::string_view x) {
  auto result = uint64_t{0};
  const auto* end = x.data() + x.size();
  const auto [stop, error] = std::from_chars(x.data(), end, result);
  if (x.empty() || x.size() > max_name_digits || stop != end
      || error != std::errc{})
    return std::nullopt;
  return result;
}

std::string_view take(std::string_view& rest, char separator) {
  const auto n = std::min(rest.find(separator), rest.size());
  const auto result = rest.substr(0, n);
  rest.remove_prefix(std::min(n + 1, rest.size()));
  return result;
}

std::optional<interval> parse_interval(std::string_view x) {
  const auto dash = x.find('-');
  const auto first = parse_number(x.substr(0, dash));
  const auto last =
    dash == std::string_view::npos ? first : parse_number(x.substr(dash + 1));
  if (!first || !last || *last < *first)
    return std::nullopt;
  return interval{*first, *last};
}

std::string pad(uint64_t number, size_t width) {
  auto result = std::to_string(number);
  if (result.size() < width)
    result.insert(0, width - result.size(), '0');
  return result;
}

bool name_list::add(std::string x) {
  size_ += x.size();
  if (names_.size() == most_names_ || size_ > most_bytes_)
    return false;
  names_.push_back(std::move(x));
  return true;
}

bool name_list::has_room(uint64_t n, size_t size) const {
  // Without a product or a difference that overflows.
  return n <= most_names_ - names_.size() && size_ <= most_bytes_
         && n * size <= most_bytes_ - size_;
}

} // namespace troupe::wire
