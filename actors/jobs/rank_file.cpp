#include "actors/jobs/rank_file.hpp"

#include "actors/jobs/number_list.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace troupe {

namespace {

constexpr auto blanks = std::string_view{" \t\r"};

/// Takes the next word, without the blanks around.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const auto end = std::min(rest.find_first_of(blanks), rest.size());
  const auto result = rest.substr(0, end);
  rest.remove_prefix(end);
  return result;
}

/// Takes a line without its comment.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto result = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return result.substr(0, result.find('#'));
}

caf::error wrong_line(size_t number, std::string_view line) {
  return make_error(status::bad_param,
                    "line " + std::to_string(number) + " of the rank file, \""
                      + std::string{line}
                      + "\", is none; write rank N=HOST slot=PROCESSORS, such "
                        "as rank 0=n1 slot=0-1 or rank 0=n1 slot=0:1");
}

/// Reads `rank 3=n1 slot=0:1`.
std::optional<std::pair<uint32_t, rank_line>> read_line(std::string_view rest) {
  if (take_word(rest) != "rank")
    return std::nullopt;
  const auto whose = take_word(rest);
  const auto sign = whose.find('=');
  auto rank = uint32_t{0};
  const auto* end = whose.data() + std::min(sign, whose.size());
  const auto [stop, err] = std::from_chars(whose.data(), end, rank);
  if (sign == std::string_view::npos || err != std::errc{} || stop != end
      || sign + 1 == whose.size() || rank > UINT16_MAX)
    return std::nullopt;
  auto result = rank_line{std::string{whose.substr(sign + 1)}, {}};
  constexpr auto slot = std::string_view{"slot="};
  const auto where = take_word(rest);
  if (!where.empty()) {
    if (where.substr(0, slot.size()) != slot || where.size() == slot.size())
      return std::nullopt;
    result.slot = where.substr(slot.size());
  }
  if (!take_word(rest).empty())
    return std::nullopt;
  return std::pair{rank, std::move(result)};
}

caf::error wrong_slot(const rank_line& line, std::string_view why) {
  return make_error(status::bad_param, "the rank file has slot=" + line.slot
                                         + " on " + line.host + ": "
                                         + std::string{why});
}

/// The logical numbers of processors in `range`, each once.
using numbering = std::vector<uint32_t>;

numbering number_all(const node_topology& topology,
                     std::optional<uint32_t> package, bool threads) {
  auto result = std::set<uint32_t>{};
  for (const auto& x : topology.units)
    if (!package || x.package == *package
        || (*package == 0 && x.package == UINT32_MAX))
      result.insert(threads ? x.hwthread : x.core);
  return {result.begin(), result.end()};
}

} // namespace

caf::expected<rank_file> parse_rank_file(std::string_view text) {
  auto lines = std::map<uint32_t, rank_line>{};
  for (size_t number = 1; !text.empty(); ++number) {
    const auto line = take_line(text);
    if (line.find_first_not_of(blanks) == std::string_view::npos)
      continue;
    auto found = read_line(line);
    if (!found)
      return wrong_line(number, line);
    if (!lines.insert(std::move(*found)).second)
      return make_error(status::bad_param,
                        "line " + std::to_string(number)
                          + " of the rank file names a rank that an earlier "
                            "line has; name each rank once");
  }
  if (lines.empty())
    return make_error(status::bad_param, "the rank file names no rank; write "
                                         "rank 0=HOST slot=0");
  auto result = rank_file{};
  for (auto& [rank, line] : lines) {
    if (rank != result.size())
      return make_error(status::bad_param, "the rank file has no line for rank "
                                             + std::to_string(result.size())
                                             + "; name all ranks from 0 on");
    result.push_back(std::move(line));
  }
  return result;
}

caf::expected<std::vector<uint32_t>>
cpus_of(const rank_line& line, const node_topology& topology, bool threads) {
  auto wanted = std::set<uint32_t>{};
  auto rest = std::string_view{line.slot};
  while (!rest.empty()) {
    const auto end = std::min(rest.find(';'), rest.size());
    auto part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto packages = std::vector<std::optional<uint32_t>>{std::nullopt};
    if (const auto colon = part.find(':'); colon != std::string_view::npos) {
      const auto named = parse_numbers(part.substr(0, colon));
      if (!named)
        return wrong_slot(line, reason_of(named.error()));
      packages.assign(named->begin(), named->end());
      part.remove_prefix(colon + 1);
    }
    for (const auto& package : packages) {
      const auto known = number_all(topology, package, threads);
      if (part == "*") {
        wanted.insert(known.begin(), known.end());
        continue;
      }
      const auto numbers = parse_numbers(part);
      if (!numbers)
        return wrong_slot(line, reason_of(numbers.error()));
      for (const auto number : *numbers) {
        // Within a package they count from 0.
        const auto is_known =
          package ? number < known.size()
                  : std::binary_search(known.begin(), known.end(), number);
        if (!is_known)
          return wrong_slot(line,
                            "there is no processor " + std::to_string(number));
        wanted.insert(package ? known[number] : number);
      }
    }
  }
  auto result = std::vector<uint32_t>{};
  for (const auto& x : topology.units)
    if (wanted.count(threads ? x.hwthread : x.core) > 0)
      result.push_back(x.os_index);
  if (result.empty())
    return wrong_slot(line, "the node has none of them");
  return result;
}

std::vector<std::string> parse_sequence(std::string_view text) {
  auto result = std::vector<std::string>{};
  while (!text.empty()) {
    auto line = take_line(text);
    if (const auto name = take_word(line); !name.empty())
      result.emplace_back(name);
  }
  return result;
}

} // namespace troupe
