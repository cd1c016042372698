#include "tools/host_text.hpp"

#include "adapters/wire/number_range.hpp"

#include <algorithm>

namespace troupe::tools {

namespace {

/// The longest name of a node. Source: RFC 1035, 2.3.4.
constexpr size_t max_name = 255;

/// How much of a text an error shows.
constexpr size_t max_shown = 60;

/// The beginning of a text, without what a terminal or a log would take for
/// more than text.
std::string shown(std::string_view text) {
  auto result = std::string{text.substr(0, max_shown)};
  for (auto& c : result)
    if (c < ' ' || c > '~')
      c = '?';
  if (text.size() > max_shown)
    result += "...";
  return result;
}

bool is_name_character(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')
         || ('0' <= c && c <= '9') || c == '-' || c == '.' || c == '_';
}

/// A part of a name: a text, or numbers of which each name has one.
struct part {
  std::string_view text;
  std::vector<std::pair<wire::interval, size_t>> ranges;
  uint64_t count = 1;
};

/// Says why a part of a name cannot be one, or nothing.
const char* flaw_of(std::string_view text, bool is_first) {
  if (is_first && !text.empty()) {
    if (text.front() == '-')
      return "begins with a dash; no node may";
    if (text.front() == '^' || text.front() == '+')
      return "is relative or excludes a node; name the nodes themselves";
  }
  if (text.find('@') != std::string_view::npos)
    return "names a user; name the node alone and the user in the "
           "configuration of ssh";
  if (text.find_first_of("[]") != std::string_view::npos)
    return "has a bracket without its partner; write n[1-4]";
  if (!std::all_of(text.begin(), text.end(), is_name_character))
    return "is no name of a node; use letters, digits, dots and dashes";
  return nullptr;
}

/// Reads what is between two brackets.
caf::expected<part> parse_ranges(std::string_view text,
                                 const text_place& place) {
  auto result = part{};
  result.count = 0;
  if (text.empty() || text.back() == ',')
    return place.error(text, "is an empty range; write n[1-4]");
  while (!text.empty()) {
    const auto item = wire::take(text, ',');
    const auto range = wire::parse_interval(item);
    if (!range)
      return place.error(item, "is no range of numbers, the smaller first; "
                               "write n[1-4,7]");
    const auto n = range->last - range->first + 1;
    if (n > most_names - result.count)
      return too_many(place, item);
    result.count += n;
    result.ranges.emplace_back(*range, std::min(item.find('-'), item.size()));
  }
  return result;
}

/// Reads one name with its brackets.
caf::expected<std::vector<part>> parse_name(std::string_view name,
                                            text_place place) {
  auto result = std::vector<part>{};
  const auto whole = name;
  while (!name.empty() || result.empty()) {
    const auto start = place;
    const auto text = place.take_until(name, "[");
    if (const auto* flaw = flaw_of(text, result.empty()))
      return start.error(whole, flaw);
    result.emplace_back();
    result.back().text = text;
    if (name.empty())
      break;
    place.drop(name, 1);
    const auto inner_place = place;
    const auto inner = place.take_until(name, "]");
    if (name.empty())
      return start.error(whole, "has a bracket without its partner; write "
                                "n[1-4]");
    place.drop(name, 1);
    auto ranges = parse_ranges(inner, inner_place);
    if (!ranges)
      return std::move(ranges.error());
    result.push_back(std::move(*ranges));
  }
  return result;
}

/// The number at `index` of a part, with its digits.
std::string number_at(const part& x, uint64_t index) {
  for (const auto& [range, width] : x.ranges) {
    const auto n = range.last - range.first + 1;
    if (index < n)
      return wire::pad(range.first + index, width);
    index -= n;
  }
  return {};
}

/// Adds what one name stands for.
caf::error expand_one(std::string_view name, const text_place& place,
                      wire::name_list& out) {
  if (name.empty())
    return place.error("", "an empty name; leave the comma out");
  auto parts = parse_name(name, place);
  if (!parts)
    return std::move(parts.error());
  auto count = uint64_t{1};
  for (const auto& x : *parts) {
    // Both factors have 20 bits.
    count *= x.count;
    if (count > most_names)
      return too_many(place, name);
  }
  if (!out.has_room(count, 1))
    return too_many(place, name);
  for (auto i = uint64_t{0}; i < count; ++i) {
    auto result = std::string{};
    // The last brackets run fastest.
    auto block = count;
    for (const auto& x : *parts) {
      block /= x.count;
      if (x.ranges.empty())
        result += x.text;
      else
        result += number_at(x, i / block % x.count);
    }
    if (result.size() > max_name)
      return place.error(name, "is longer than 255 characters; no node is "
                               "named so");
    if (!out.add(std::move(result)))
      return too_many(place, name);
  }
  return caf::none;
}

} // namespace

caf::error text_place::error(std::string_view text,
                             std::string_view what) const {
  auto result = source_;
  if (line_ > 0)
    result += ", line " + std::to_string(line_);
  result += ", column " + std::to_string(column_) + ": ";
  if (!text.empty())
    result += "'" + shown(text) + "' ";
  result += what;
  return make_error(status::bad_param, std::move(result));
}

void text_place::skip_blanks(std::string_view& rest) {
  drop(rest, std::min(rest.find_first_not_of(" \t"), rest.size()));
}

std::string_view text_place::take_until(std::string_view& rest,
                                        std::string_view ends) {
  const auto n = std::min(rest.find_first_of(ends), rest.size());
  const auto result = rest.substr(0, n);
  drop(rest, n);
  return result;
}

std::string_view text_place::take_item(std::string_view& rest) {
  auto is_inside = false;
  auto n = size_t{0};
  for (; n < rest.size() && (is_inside || rest[n] != ','); ++n)
    is_inside = rest[n] == '[' || (is_inside && rest[n] != ']');
  const auto result = rest.substr(0, n);
  drop(rest, std::min(n + 1, rest.size()));
  return result;
}

caf::error line_reader::check_size() const {
  if (rest_.size() <= defaults::host_file_bytes)
    return caf::none;
  return place_.error("", "is larger than "
                            + std::to_string(defaults::host_file_bytes >> 20)
                            + " MiB; write ranges such as n[1-4096]");
}

bool line_reader::next() {
  while (!rest_.empty()) {
    line_ = wire::take(rest_, '\n');
    place_.start_line(++number_);
    line_ = line_.substr(0, line_.find('#'));
    place_.skip_blanks(line_);
    const auto last = line_.find_last_not_of(" \t\r");
    line_ = line_.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (!line_.empty())
      return true;
  }
  return false;
}

caf::expected<std::vector<std::string>> expand(std::string_view text,
                                               text_place place) {
  auto result = wire::name_list{most_names, most_bytes};
  if (text.empty())
    return place.error("", "names no node; name at least one");
  if (text.size() > most_bytes)
    return too_many(place, text);
  while (!text.empty()) {
    const auto start = place;
    const auto has_more = text.back() == ',';
    const auto item = place.take_item(text);
    if (auto err = expand_one(item, start, result))
      return err;
    if (text.empty() && has_more)
      return place.error("", "an empty name; leave the comma out");
  }
  return result.take();
}

caf::error too_many(const text_place& place, std::string_view text) {
  return place.error(text, "stands for more than " + std::to_string(most_names)
                             + " names, or for "
                             + std::to_string(most_bytes >> 20)
                             + " MiB of them; name fewer nodes");
}

} // namespace troupe::tools
