#include "tools/host_list.hpp"

#include "adapters/wire/number_range.hpp"
#include "tools/host_text.hpp"

#include <algorithm>
#include <unordered_map>

namespace troupe {

namespace {

using tools::text_place;

/// The most slots of a node; a local rank has 16 bits, sums may have more.
constexpr uint64_t most_slots = uint64_t{1} << 20;

/// Gathers nodes, each once, and adds up what is said about it.
class host_gatherer {
public:
  /// @param one_is_a_slot  whether a single mention without a number is one
  ///                       slot, rather than all cores.
  explicit host_gatherer(bool one_is_a_slot) : one_is_a_slot_(one_is_a_slot) {
    // nop
  }

  struct mention {
    std::optional<uint64_t> slots;
    bool has_all_cores = false;
    uint64_t max_slots = 0;
  };

  /// @returns what is wrong, or nothing.
  const char* add(const std::string& name, const mention& x) {
    const auto [i, is_new] = index_.emplace(name, entries_.size());
    if (is_new)
      entries_.push_back({name, 0, 0, 0, false});
    auto& known = entries_[i->second];
    known.sum += x.slots.value_or(0);
    known.unnumbered += x.slots || x.has_all_cores ? 0 : 1;
    known.has_all_cores |= x.has_all_cores;
    if (x.max_slots > 0)
      known.max_slots = x.max_slots;
    if (known.sum + known.unnumbered > most_slots)
      return "too many slots";
    return nullptr;
  }

  caf::expected<host_list> finish(const text_place& place) const {
    auto result = host_list{};
    result.reserve(entries_.size());
    for (const auto& x : entries_) {
      const auto is_single = x.sum == 0 && x.unnumbered == 1 && !one_is_a_slot_;
      const auto slots =
        x.has_all_cores || is_single ? 0 : x.sum + x.unnumbered;
      if (x.max_slots > 0 && slots > x.max_slots)
        return place.error(x.name, "has more slots than max_slots; raise "
                                   "max_slots or lower slots");
      result.push_back({x.name, static_cast<uint32_t>(slots),
                        static_cast<uint32_t>(x.max_slots)});
    }
    if (result.empty())
      return place.error("", "names no node; name at least one");
    return result;
  }

private:
  struct entry {
    std::string name;
    uint64_t sum = 0;
    uint64_t unnumbered = 0;
    uint64_t max_slots = 0;
    bool has_all_cores = false;
  };

  bool one_is_a_slot_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<entry> entries_;
};

std::optional<uint64_t> parse_slots(std::string_view text) {
  const auto result = wire::parse_number(text);
  return result && *result > 0 && *result <= most_slots ? result : std::nullopt;
}

/// Reads ` slots=4 max_slots = 8` behind a name.
caf::expected<host_gatherer::mention> parse_words(std::string_view rest,
                                                  text_place place) {
  auto result = host_gatherer::mention{};
  for (;;) {
    place.skip_blanks(rest);
    if (rest.empty())
      return result;
    const auto start = place;
    const auto key = place.take_until(rest, " \t=");
    place.skip_blanks(rest);
    const auto has_value = !rest.empty() && rest.front() == '=';
    if (has_value) {
      place.drop(rest, 1);
      place.skip_blanks(rest);
    }
    const auto value_place = place;
    const auto text = place.take_until(rest, " \t");
    const auto is_slots = key == "slots" || key == "cpus" || key == "count";
    const auto is_max = key == "max_slots" || key == "max-slots"
                        || key == "maxslots" || key == "max_cpus";
    if (!has_value || (!is_slots && !is_max))
      return start.error(key, "is no word of a hostfile; write slots=N or "
                              "max_slots=N");
    const auto number = parse_slots(text);
    if (!number)
      return value_place.error(text, "is no number of slots; write 1 to "
                                     "1048576");
    if (is_slots)
      result.slots = number;
    else
      result.max_slots = *number;
  }
}

/// Reads Slurm's `4(x2),2`.
caf::expected<std::vector<uint64_t>>
parse_repeats(std::string_view text, text_place place, size_t most) {
  auto result = std::vector<uint64_t>{};
  while (!text.empty()) {
    const auto start = place;
    const auto item = place.take_until(text, ",");
    place.drop(text, text.empty() ? 0 : 1);
    const auto open = std::min(item.find('('), item.size());
    const auto number = wire::parse_number(item.substr(0, open));
    auto times = std::optional<uint64_t>{1};
    if (open < item.size()) {
      const auto inner = item.substr(open);
      times = inner.size() > 3 && inner[1] == 'x' && inner.back() == ')'
                ? wire::parse_number(inner.substr(2, inner.size() - 3))
                : std::nullopt;
    }
    if (!number || *number > most_slots || !times || *times == 0)
      return start.error(item, "is no number with a count; it should look like "
                               "4(x2)");
    if (*times > most - std::min(most, result.size()))
      return start.error(item, "stands for more nodes than there are");
    result.insert(result.end(), static_cast<size_t>(*times), *number);
  }
  return result;
}

caf::expected<allocation> slurm_allocation(const std::string& list_name,
                                           const environment& variables) {
  auto names = expand_names(variables.at(list_name), list_name);
  if (!names)
    return std::move(names.error());
  auto count_name = std::string{"SLURM_TASKS_PER_NODE"};
  if (variables.count(count_name) == 0)
    count_name = "SLURM_JOB_CPUS_PER_NODE";
  const auto i = variables.find(count_name);
  auto counts = std::vector<uint64_t>{};
  if (i != variables.end()) {
    const auto place = text_place{count_name};
    auto given = parse_repeats(i->second, place, names->size());
    if (!given)
      return std::move(given.error());
    if (given->size() != names->size())
      return place.error(
        i->second, "counts " + std::to_string(given->size()) + " nodes and "
                     + list_name + " names " + std::to_string(names->size())
                     + "; ask Slurm for a new allocation, or give --host");
    counts = std::move(*given);
  }
  auto all = host_gatherer{false};
  for (size_t n = 0; n < names->size(); ++n) {
    auto mention = host_gatherer::mention{};
    mention.has_all_cores = counts.empty() || counts[n] == 0;
    if (!mention.has_all_cores)
      mention.slots = counts[n];
    all.add((*names)[n], mention);
  }
  auto hosts = all.finish(text_place{list_name});
  if (!hosts)
    return std::move(hosts.error());
  return allocation{"slurm", std::move(*hosts)};
}

caf::expected<host_list> parse_lines(std::string_view text,
                                     const std::string& file,
                                     bool one_is_a_slot) {
  auto all = host_gatherer{one_is_a_slot};
  auto lines = tools::line_reader{text, file};
  if (auto err = lines.check_size())
    return err;
  auto total = size_t{0};
  while (lines.next()) {
    auto line = lines.line();
    auto place = lines.place();
    const auto word = place.take_until(line, " \t");
    const auto name = word.substr(0, word.find(':'));
    auto names = tools::expand(name, lines.place());
    if (!names)
      return std::move(names.error());
    auto words = parse_words(line, place);
    if (!words)
      return std::move(words.error());
    if (name.size() < word.size()) {
      // MPICH writes `node:4`.
      const auto slots = parse_slots(word.substr(name.size() + 1));
      if (!slots || words->slots)
        return lines.place().error(word, slots
                                           ? "has two numbers of slots; write "
                                             "node:N or node slots=N"
                                           : "has no number of slots behind "
                                             "the colon; write node:N");
      words->slots = slots;
    }
    total += names->size();
    if (total > tools::most_names)
      return tools::too_many(lines.place(), name);
    for (const auto& x : *names)
      if (const auto* what = all.add(x, *words))
        return lines.place().error(name, what);
  }
  return all.finish(text_place{file});
}

} // namespace

caf::expected<std::vector<std::string>>
expand_names(std::string_view text, const std::string& source) {
  return tools::expand(text, text_place{source});
}

caf::expected<host_list> parse_host_option(std::string_view text) {
  auto all = host_gatherer{true};
  auto place = text_place{"--host"};
  const auto start = place;
  if (text.size() > tools::most_bytes)
    return tools::too_many(place, text);
  auto total = size_t{0};
  while (!text.empty()) {
    const auto item_place = place;
    const auto item = place.take_item(text);
    const auto colon = item.find(':');
    auto names = tools::expand(item.substr(0, colon), item_place);
    if (!names)
      return std::move(names.error());
    auto mention = host_gatherer::mention{};
    if (colon != std::string_view::npos) {
      const auto number = item.substr(colon + 1);
      mention.has_all_cores = number == "*" || number == "auto";
      if (!mention.has_all_cores)
        mention.slots = parse_slots(number);
      if (!mention.has_all_cores && !mention.slots)
        return item_place.error(item, "has no number of slots behind the "
                                      "colon; write node:N or node:*");
    }
    total += names->size();
    if (total > tools::most_names)
      return tools::too_many(item_place, item);
    for (const auto& x : *names)
      if (const auto* what = all.add(x, mention))
        return item_place.error(item, what);
  }
  return all.finish(start);
}

caf::expected<host_list> parse_hostfile(std::string_view text,
                                        const std::string& file) {
  return parse_lines(text, file, false);
}

caf::expected<std::optional<allocation>>
find_allocation(const environment& variables, const file_reader& read) {
  for (const auto* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
    if (variables.count(name) > 0) {
      auto result = slurm_allocation(name, variables);
      if (!result)
        return std::move(result.error());
      return std::optional<allocation>{std::move(*result)};
    }
  const auto file = variables.find("PBS_NODEFILE");
  if (file == variables.end())
    return std::optional<allocation>{};
  const auto text = read(file->second);
  if (!text)
    return text.error();
  auto hosts = parse_lines(*text, file->second, true);
  if (!hosts)
    return std::move(hosts.error());
  return std::optional<allocation>{allocation{"pbs", std::move(*hosts)}};
}

} // namespace troupe
