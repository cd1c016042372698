#include "adapters/wire/node_map.hpp"

#include "adapters/wire/compression.hpp"
#include "adapters/wire/number_range.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <optional>

namespace troupe::wire {

namespace {

constexpr auto ranges_prefix = std::string_view{"pmix["};
constexpr auto raw_prefix = std::string_view{"raw:"};
constexpr auto blob_prefix =
  std::string_view{"blob:\0component=zlib:\0size=", 27};

caf::error invalid(const char* what, std::string_view where) {
  return make_error(status::bad_param,
                    std::string{what} + " in a node or process map near '"
                      + std::string{where.substr(0, 32)} + "'");
}

caf::error too_many() {
  return make_error(status::out_of_resource,
                    "a node or process map stands for too much");
}

bool starts_with(std::string_view x, std::string_view prefix) {
  return x.substr(0, prefix.size()) == prefix;
}

/// A map without what says its form.
struct inner_map {
  std::string text;
  bool has_ranges = false;
};

caf::expected<inner_map> unwrap_blob(std::string_view text) {
  text.remove_prefix(blob_prefix.size());
  const auto size = parse_number(take(text, ':'));
  if (!size || text.empty() || text.front() != '\0')
    return invalid("the size of a blob is missing", "blob:");
  text.remove_prefix(1);
  // A zero byte may follow, as after the other forms.
  if (*size > text.size() || text.size() - *size > 1)
    return invalid("a blob has another size than it says", "blob:");
  auto inflated = inflate_text(text.substr(0, *size));
  if (!inflated)
    return std::move(inflated.error());
  return inner_map{std::move(*inflated), false};
}

caf::expected<inner_map> unwrap(std::string_view text) {
  if (starts_with(text, blob_prefix))
    return unwrap_blob(text);
  if (!text.empty() && text.back() == '\0')
    text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos)
    return invalid("a zero byte", "\\0");
  if (starts_with(text, raw_prefix))
    return inner_map{std::string{text.substr(raw_prefix.size())}, false};
  if (!starts_with(text, ranges_prefix))
    return inner_map{std::string{text}, false};
  if (text.back() != ']')
    return invalid("a missing bracket", text);
  text.remove_prefix(ranges_prefix.size());
  text.remove_suffix(1);
  return inner_map{std::string{text}, true};
}

// -- nodes -------------------------------------------------------------------

/// Adds the names that `prefix[width:ranges]suffix` stands for.
caf::error expand(std::string_view prefix, std::string_view brackets,
                  std::string_view suffix, name_list& names) {
  const auto width = parse_number(take(brackets, ':'));
  if (!width || *width > max_name_digits || brackets.empty())
    return invalid("a missing number of digits", prefix);
  while (!brackets.empty()) {
    const auto text = take(brackets, ',');
    const auto range = parse_interval(text);
    if (!range)
      return invalid("a damaged range", text);
    const auto size = prefix.size() + *width + suffix.size();
    if (!names.has_room(range->last - range->first + 1, size))
      return too_many();
    for (auto i = range->first; i <= range->last; ++i) {
      auto name = std::string{prefix} + pad(i, *width);
      name += suffix;
      if (!names.add(std::move(name)))
        return too_many();
    }
  }
  return caf::none;
}

/// Reads the items between the outer brackets.
caf::error parse_items(std::string_view text, name_list& names) {
  while (!text.empty()) {
    const auto open = text.find_first_of("[],");
    if (open == std::string_view::npos || text[open] == ',') {
      auto name = std::string{take(text, ',')};
      if (name.empty())
        return invalid("an empty name", text);
      if (!names.add(std::move(name)))
        return too_many();
      continue;
    }
    const auto close = text.find_first_of("[]", open + 1);
    if (text[open] != '[' || close == std::string_view::npos
        || text[close] != ']')
      return invalid("unbalanced brackets", text);
    const auto prefix = text.substr(0, open);
    const auto brackets = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    const auto suffix = take(text, ',');
    if (suffix.find_first_of("[]") != std::string_view::npos)
      return invalid("unbalanced brackets", suffix);
    if (auto err = expand(prefix, brackets, suffix, names))
      return err;
  }
  return caf::none;
}

/// The parts of a name that lets itself be put into a range: letters, digits,
/// and a rest of letters and digits.
struct name_parts {
  std::string_view prefix;
  std::string_view digits;
  std::string_view suffix;
};

bool is_letter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

std::optional<name_parts> split(std::string_view name) {
  const auto* first = name.begin();
  const auto* end = name.end();
  if (!std::all_of(first, end,
                   [](char c) { return is_letter(c) || is_digit(c); }))
    return std::nullopt;
  const auto* digits = std::find_if(first, end, is_digit);
  const auto* rest = std::find_if_not(digits, end, is_digit);
  const auto begin = static_cast<size_t>(digits - first);
  const auto count = static_cast<size_t>(rest - digits);
  // Other libraries read the number into 32 bits.
  if (count == 0 || count > 9)
    return std::nullopt;
  return name_parts{name.substr(0, begin), name.substr(begin, count),
                    name.substr(begin + count)};
}

bool same_family(const name_parts& x, const name_parts& y) {
  return x.prefix == y.prefix && x.suffix == y.suffix
         && x.digits.size() == y.digits.size();
}

void append_interval(std::string& out, const interval& x) {
  out += std::to_string(x.first);
  if (x.last > x.first)
    out += '-' + std::to_string(x.last);
}

/// Writes the names from `i` on that differ in their number only.
/// @returns the index of the first name that does not belong to them.
size_t append_family(std::string& out, const std::vector<std::string>& nodes,
                     size_t i, const name_parts& parts) {
  out += parts.prefix;
  out += '[' + std::to_string(parts.digits.size()) + ':';
  auto range = std::optional<interval>{};
  for (; i < nodes.size(); ++i) {
    const auto next = split(nodes[i]);
    if (!next || !same_family(parts, *next))
      break;
    const auto number = *parse_number(next->digits);
    if (range && number == range->last + 1) {
      range->last = number;
      continue;
    }
    if (range) {
      append_interval(out, *range);
      out += ',';
    }
    range = interval{number, number};
  }
  append_interval(out, *range);
  out += ']';
  out += parts.suffix;
  return i;
}

// -- wrapping ----------------------------------------------------------------

std::string wrap(const std::string& list, map_form form) {
  if (form == map_form::ranges)
    return std::string{ranges_prefix} + list + ']';
  if (form == map_form::raw)
    return std::string{raw_prefix} + list;
  const auto compressed = deflate_text(list);
  auto result = std::string{blob_prefix};
  result += std::to_string(compressed.size()) + ':';
  result += '\0';
  result += compressed;
  return result;
}

} // namespace

caf::expected<std::vector<std::string>> parse_node_map(std::string_view text) {
  const auto inner = unwrap(text);
  if (!inner)
    return inner.error();
  auto names = name_list{max_map_entries, max_map_size};
  if (inner->has_ranges) {
    if (auto err = parse_items(inner->text, names))
      return err;
    return names.take();
  }
  auto rest = std::string_view{inner->text};
  while (!rest.empty()) {
    auto name = std::string{take(rest, ',')};
    if (name.empty())
      return invalid("an empty name", rest);
    if (!names.add(std::move(name)))
      return too_many();
  }
  return names.take();
}

caf::expected<proc_map> parse_proc_map(std::string_view text) {
  const auto inner = unwrap(text);
  if (!inner)
    return inner.error();
  auto result = proc_map{};
  auto total = size_t{0};
  auto rest = std::string_view{inner->text};
  while (!rest.empty()) {
    auto node = take(rest, ';');
    auto& ranks = result.emplace_back();
    // A node without ranks takes room as well.
    ++total;
    while (!node.empty()) {
      const auto item = take(node, ',');
      const auto range = parse_interval(item);
      if (!range || range->last >= UINT32_MAX)
        return invalid("a damaged range", item);
      total += range->last - range->first + 1;
      if (total > max_map_entries)
        return too_many();
      for (auto i = range->first; i <= range->last; ++i)
        ranks.push_back(static_cast<uint32_t>(i));
    }
  }
  return result;
}

caf::expected<std::string>
format_node_map(const std::vector<std::string>& nodes, map_form form) {
  constexpr auto special = std::string_view{"[]:,;\0", 6};
  for (const auto& node : nodes)
    if (node.empty() || node.find_first_of(special) != std::string::npos)
      return invalid("a name that is empty or has a special character", node);
  auto list = std::string{};
  for (size_t i = 0; i < nodes.size();) {
    if (i > 0)
      list += ',';
    const auto parts =
      form == map_form::ranges ? split(nodes[i]) : std::nullopt;
    if (parts)
      i = append_family(list, nodes, i, *parts);
    else
      list += nodes[i++];
  }
  return wrap(list, form);
}

std::string format_proc_map(const proc_map& ranks, map_form form) {
  auto list = std::string{};
  for (size_t node = 0; node < ranks.size(); ++node) {
    if (node > 0)
      list += ';';
    const auto& xs = ranks[node];
    for (size_t i = 0; i < xs.size();) {
      auto last = i;
      while (last + 1 < xs.size() && xs[last + 1] == xs[last] + 1)
        ++last;
      if (i > 0)
        list += ',';
      append_interval(list, {xs[i], xs[last]});
      i = last + 1;
    }
  }
  return wrap(list, form);
}

} // namespace troupe::wire
