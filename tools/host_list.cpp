#include "tools/host_list.hpp"

#include "adapters/wire/number_range.hpp"
#include "messages/status.hpp"
#include "tools/defaults.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

// -- texts that name nodes ---------------------------------------------------

namespace {

constexpr size_t most_names = defaults::host_list_names;
constexpr size_t most_bytes = defaults::host_list_name_bytes;

/// A place in a text, for errors.
class text_place {
public:
  /// @param source  the name of a file, of an option or a variable.
  explicit text_place(std::string source) : source_(std::move(source)) {
    // nop
  }

  /// `hosts.txt, line 3, column 7: 'slot=4' is no word ...`
  caf::error error(std::string_view text, std::string_view what) const;

  void start_line(size_t line) {
    line_ = line;
    column_ = 1;
  }

  void drop(std::string_view& rest, size_t n) {
    rest.remove_prefix(n);
    column_ += n;
  }

  void skip_blanks(std::string_view& rest);

  /// Takes what comes before one of `ends`, or all.
  std::string_view take_until(std::string_view& rest, std::string_view ends);

  /// Takes what comes before the next comma that is not in brackets, and drops
  /// the comma.
  std::string_view take_item(std::string_view& rest);

private:
  std::string source_;

  /// 0: the text has only one.
  size_t line_ = 0;
  size_t column_ = 1;
};

/// Walks through the lines of a file that say something; without comments and
/// the blanks around.
class line_reader {
public:
  line_reader(std::string_view text, const std::string& file)
    : rest_(text), place_(file) {
    // nop
  }

  caf::error check_size() const;

  /// @returns whether there is another line.
  bool next();

  std::string_view line() const {
    return line_;
  }

  const text_place& place() const {
    return place_;
  }

private:
  std::string_view rest_;
  std::string_view line_;
  text_place place_;
  size_t number_ = 0;
};

caf::error too_many(const text_place& place, std::string_view text);

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
  struct range {
    wire::interval numbers;
    size_t digits;
    /// How many numbers the ranges before have.
    uint64_t before;
  };

  std::string_view text;
  std::vector<range> ranges;
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
    result.ranges.push_back(
      {*range, std::min(item.find('-'), item.size()), result.count});
    result.count += n;
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
  const auto after = std::upper_bound(
    x.ranges.begin(), x.ranges.end(), index,
    [](uint64_t i, const part::range& y) { return i < y.before; });
  const auto& range = *std::prev(after);
  return wire::pad(range.numbers.first + index - range.before, range.digits);
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
                               "named so, write a shorter one");
    if (!out.add(std::move(result)))
      return too_many(place, name);
  }
  return caf::none;
}

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

/// What names with brackets, and commas between, stand for.
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

// -- lists and files of hosts ------------------------------------------------

/// The most slots of a node; a local rank has 16 bits, sums may have more.
constexpr uint64_t most_slots = uint64_t{1} << 20;

/// Gathers nodes, each once, and adds up what is said about it.
class host_gatherer {
public:
  /// @param one_is_a_slot  whether a single mention without a number is one
  ///                       slot, rather than all processors.
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
      return start.error(
        item, "is no number with a count; it should look like "
              "4(x2); ask Slurm for a new allocation, or give --host");
    if (*times > most - std::min(most, result.size()))
      return start.error(item, "stands for more nodes than there are; ask "
                               "Slurm for a new allocation, or give --host");
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
  auto lines = line_reader{text, file};
  if (auto err = lines.check_size())
    return err;
  auto total = size_t{0};
  while (lines.next()) {
    auto line = lines.line();
    auto place = lines.place();
    const auto word = place.take_until(line, " \t");
    const auto name = word.substr(0, word.find(':'));
    auto names = expand(name, lines.place());
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
    if (total > most_names)
      return too_many(lines.place(), name);
    for (const auto& x : *names)
      if (const auto* what = all.add(x, *words))
        return lines.place().error(name, what);
  }
  return all.finish(text_place{file});
}

} // namespace

caf::expected<std::vector<std::string>>
expand_names(std::string_view text, const std::string& source) {
  return expand(text, text_place{source});
}

caf::expected<host_list> parse_host_option(std::string_view text) {
  auto all = host_gatherer{true};
  auto place = text_place{"--host"};
  const auto start = place;
  if (text.size() > most_bytes)
    return too_many(place, text);
  auto total = size_t{0};
  while (!text.empty()) {
    const auto item_place = place;
    const auto item = place.take_item(text);
    const auto colon = item.find(':');
    auto names = expand(item.substr(0, colon), item_place);
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
    if (total > most_names)
      return too_many(item_place, item);
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

// -- bootstrap files ---------------------------------------------------------

namespace {

/// Keys that we understand elsewhere, or that say how PRRTE works inside.
constexpr auto other_keys =
  std::array<std::string_view, 20>{"ControllerLogJobState",
                                   "ControllerLogPath",
                                   "ControllerLogProcState",
                                   "DVMConnectMaxTime",
                                   "DVMControllerPort",
                                   "DVMIPVersion",
                                   "DVMLanes",
                                   "DVMNetmask",
                                   "DVMNetworks",
                                   "DVMRetryMaxDelay",
                                   "DVMTempDir",
                                   "KeepFQDNHostnames",
                                   "PRTEDLogJobState",
                                   "PRTEDLogPath",
                                   "PRTEDLogProcState",
                                   "PRTEDPort",
                                   "SessionTmpDir",
                                   "Insecure",
                                   "LaunchAgent",
                                   "AuthorityFile"};

/// Sets one key.
caf::error set(bootstrap_settings& x, std::string_view key,
               std::string_view value, const text_place& key_place,
               const text_place& place) {
  const auto number = [&](uint64_t most) -> std::optional<uint64_t> {
    const auto result = wire::parse_number(value);
    return result && *result > 0 && *result <= most ? result : std::nullopt;
  };
  if (key == "ClusterName") {
    x.cluster = value;
  } else if (key == "DVMControllerHost") {
    auto names = expand(value, place);
    if (!names)
      return std::move(names.error());
    if (names->size() != 1)
      return place.error(value, "is more than one node; name one");
    x.controller = std::move(names->front());
  } else if (key == "DVMPort") {
    const auto port = number(UINT16_MAX);
    if (!port)
      return place.error(value, "is no port; write 1 to 65535");
    x.port = static_cast<uint16_t>(*port);
  } else if (key == "DVMRadix") {
    const auto radix = number(1024);
    if (!radix)
      return place.error(value, "is no radix; write 1 to 1024");
    x.radix = static_cast<uint32_t>(*radix);
  } else if (key == "DVMNodes") {
    auto names = expand(value, place);
    if (!names)
      return std::move(names.error());
    x.nodes = std::move(*names);
  } else if (std::find(other_keys.begin(), other_keys.end(), key)
             != other_keys.end()) {
    x.others[std::string{key}] = value;
  } else {
    return key_place.error(key, "is no key of a bootstrap file; the first are "
                                "ClusterName, DVMControllerHost, DVMNodes, "
                                "DVMPort, DVMRadix");
  }
  return caf::none;
}

/// The controller first, then as written, each once.
caf::error put_in_order(bootstrap_settings& x, const text_place& place) {
  if (x.controller.empty())
    return place.error("", "no controller; add a line DVMControllerHost=NODE");
  if (x.nodes.empty())
    return place.error("", "no nodes; add a line DVMNodes=n[1-4]");
  auto sorted = x.nodes;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return place.error(
      *twice, "is named twice; two nodes cannot have one name, leave one out");
  const auto root = std::find(x.nodes.begin(), x.nodes.end(), x.controller);
  if (root == x.nodes.end())
    x.nodes.insert(x.nodes.begin(), x.controller);
  else
    std::rotate(x.nodes.begin(), root, root + 1);
  return caf::none;
}

} // namespace

caf::expected<bootstrap_settings> parse_bootstrap(std::string_view text,
                                                  const std::string& file) {
  auto result = bootstrap_settings{};
  auto lines = line_reader{text, file};
  if (auto err = lines.check_size())
    return err;
  while (lines.next()) {
    auto rest = lines.line();
    auto place = lines.place();
    auto key = place.take_until(rest, "=");
    if (rest.empty() || key.empty())
      return lines.place().error(lines.line(), "sets nothing; write Key=value");
    place.drop(rest, 1);
    place.skip_blanks(rest);
    key = key.substr(0, key.find_last_not_of(" \t") + 1);
    if (rest.empty())
      return place.error(lines.line(), "has no value; write Key=value");
    if (auto err = set(result, key, rest, lines.place(), place))
      return err;
  }
  if (auto err = put_in_order(result, text_place{file}))
    return err;
  return result;
}

} // namespace troupe
