#include "actors/server/wait_report.hpp"

#include "actors/jobs/number_list.hpp"
#include "base/report_values.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace troupe {

namespace {

std::optional<uint32_t> parse_rank(std::string_view text) {
  auto result = uint32_t{0};
  const auto* end = text.data() + text.size();
  const auto [rest, err] = std::from_chars(text.data(), end, result);
  if (err != std::errc{} || rest != end || result > rank_valid_max)
    return std::nullopt;
  return result;
}

/// Adds the processes of one job, such as `0-3,7`.
/// @returns false if it is no such list, or if they are too many.
bool add_ranks(std::vector<proc_id>& to, const std::string& nspace,
               std::string_view ranks) {
  for (size_t begin = 0; begin <= ranks.size();) {
    const auto end = std::min(ranks.find(',', begin), ranks.size());
    const auto item = ranks.substr(begin, end - begin);
    const auto dash = std::min(item.find('-'), item.size());
    const auto first = parse_rank(item.substr(0, dash));
    const auto last =
      dash < item.size() ? parse_rank(item.substr(dash + 1)) : first;
    if (!first || !last || *first > *last
        || *last - *first >= defaults::waits_ranks
        || to.size() + (*last - *first) >= defaults::waits_ranks)
      return false;
    for (auto rank = *first; rank <= *last; ++rank)
      to.push_back({nspace, rank});
    begin = end + 1;
  }
  return true;
}

std::optional<collective_kind> read_kind(std::string_view text) {
  for (const auto x : {collective_kind::fence, collective_kind::connect,
                       collective_kind::disconnect})
    if (text == text_of(x))
      return x;
  return std::nullopt;
}

value text_list(const std::vector<std::string>& texts) {
  return report_list(texts, [](const auto& x) { return value::string(x); });
}

std::vector<std::string> read_texts(const value& x, size_t most) {
  auto result = std::vector<std::string>{};
  for (const auto& y : infos_of(x))
    if (const auto* text = y.val.text();
        text != nullptr && result.size() < most)
      result.push_back(*text);
  return result;
}

value describe_part(const wait_part& x) {
  return value::infos(
    {report_text("id", x.id), report_text("kind", text_of(x.kind)),
     report_number("generation", x.generation),
     make_info("participants", text_list(x.participants)),
     report_number("size", x.size), report_number("joined", x.joined),
     report_number("missing", x.missing),
     make_info("named", value::procs(x.named)),
     report_number("age_ms", static_cast<uint64_t>(x.age.count())),
     report_flag("at_least", x.is_at_least)});
}

std::optional<wait_part> read_part(const std::vector<info>& infos) {
  // Ten years, which fit into any clock.
  constexpr auto longest = uint64_t{1000} * 3600 * 24 * 366 * 10;
  const auto kind = read_kind(text(infos, "kind").value_or(""));
  const auto* participants = find(infos, "participants");
  const auto* named = find(infos, "named");
  if (!kind || participants == nullptr || named == nullptr)
    return std::nullopt;
  const auto amount = [&](std::string_view key) {
    return number<uint64_t>(infos, key).value_or(0);
  };
  auto result = wait_part{};
  result.id = text(infos, "id").value_or("");
  result.kind = *kind;
  result.generation = amount("generation");
  result.participants = read_texts(*participants, defaults::waits_jobs);
  result.size = amount("size");
  result.joined = amount("joined");
  result.missing = amount("missing");
  result.named = procs_of(*named);
  if (result.named.size() > defaults::waits_missing)
    result.named.resize(defaults::waits_missing);
  result.age = std::chrono::milliseconds{
    static_cast<int64_t>(std::min(amount("age_ms"), longest))};
  result.is_at_least = flag(infos, "at_least");
  return result;
}

/// What is under way for the longest time is first.
bool is_longer(const wait_part& x, const wait_part& y) {
  return x.age > y.age;
}

/// Alike on all nodes that take part, and for no other operation.
std::string key_of(uint32_t node, const wait_part& x) {
  auto result = std::string{text_of(x.kind)} + '#';
  if (x.generation == 0)
    return result + std::to_string(node) + '@' + x.id + '/'
           + (x.participants.empty() ? "" : x.participants.front());
  result += std::to_string(x.generation);
  if (x.participants.empty())
    return result + '/' + (x.id.empty() ? std::to_string(node) : x.id);
  for (const auto& y : x.participants)
    result += '/' + y;
  return result;
}

std::string job_of(const wait_part& x) {
  const auto& first =
    x.participants.empty() ? std::string{} : x.participants.front();
  return first.substr(0, first.rfind(':'));
}

} // namespace

std::string_view text_of(collective_kind x) {
  switch (x) {
    case collective_kind::connect:
      return "connect";
    case collective_kind::disconnect:
      return "disconnect";
    default:
      return "fence";
  }
}

std::vector<std::string> participants_of(const std::vector<proc_id>& procs) {
  auto jobs = std::map<std::string, std::vector<uint32_t>>{};
  for (const auto& proc : procs) {
    auto& ranks = jobs[proc.nspace];
    ranks.push_back(proc.rank);
    if (jobs.size() > defaults::waits_jobs)
      return {};
  }
  auto result = std::vector<std::string>{};
  auto letters = size_t{0};
  for (auto& [nspace, ranks] : jobs) {
    const auto is_all =
      std::find(ranks.begin(), ranks.end(), rank_wildcard) != ranks.end();
    result.push_back(
      nspace + ':' + (is_all ? std::string{"*"} : to_ranges(std::move(ranks))));
    letters += result.back().size() - nspace.size();
  }
  return letters <= defaults::waits_letters ? result
                                            : std::vector<std::string>{};
}

std::vector<proc_id> read_participants(const std::vector<std::string>& texts) {
  auto result = std::vector<proc_id>{};
  for (const auto& x : texts) {
    const auto colon = x.rfind(':');
    if (colon == std::string::npos || colon > max_nspace_length)
      return {};
    const auto nspace = x.substr(0, colon);
    const auto ranks = std::string_view{x}.substr(colon + 1);
    if (ranks == "*")
      result.push_back({nspace, rank_wildcard});
    else if (!add_ranks(result, nspace, ranks))
      return {};
  }
  return result;
}

value wait_parts_report(std::vector<wait_part> parts) {
  std::stable_sort(parts.begin(), parts.end(), is_longer);
  if (parts.size() > defaults::waits_told)
    parts.resize(defaults::waits_told);
  return report_list(parts, describe_part);
}

std::vector<wait_part> read_wait_parts(const value& x) {
  auto result = std::vector<wait_part>{};
  for (const auto& item : infos_of(x)) {
    if (result.size() >= defaults::waits_told)
      break;
    if (auto part = read_part(infos_of(item.val)))
      result.push_back(std::move(*part));
  }
  return result;
}

void wait_list::add(uint32_t node, std::vector<wait_part> parts) {
  answered_.insert(node);
  for (auto& x : parts) {
    auto& to = operations_[key_of(node, x)];
    const auto is_first = to.nodes.empty();
    to.nodes.insert(node);
    if (is_first) {
      to.sum = std::move(x);
      continue;
    }
    auto& sum = to.sum;
    sum.joined += x.joined;
    sum.missing += x.missing;
    sum.named.insert(sum.named.end(), x.named.begin(), x.named.end());
    sum.age = std::max(sum.age, x.age);
    sum.is_at_least |= x.is_at_least;
  }
}

std::vector<proc_id> wait_list::jobs() const {
  auto result = std::vector<proc_id>{};
  auto seen = std::set<std::string>{};
  for (const auto& [key, x] : operations_)
    for (const auto& text : x.sum.participants)
      if (auto nspace = text.substr(0, text.rfind(':'));
          seen.insert(nspace).second)
        result.push_back({std::move(nspace), 0});
  return result;
}

/// Who has not come is on a node that does not know the operation.
/// @param budget Processes that may be looked for still.
/// @returns processes of which nothing is known.
uint64_t wait_list::add_absent(operation& x, const job_locations& places,
                               uint64_t& budget) const {
  auto& sum = x.sum;
  const auto told = sum.joined + sum.missing;
  const auto procs = read_participants(sum.participants);
  if (procs.empty() || sum.size > budget)
    return sum.size - std::min(sum.size, told);
  budget -= sum.size;
  auto unknown = uint64_t{0};
  auto named = size_t{0};
  const auto look_at = [&](const proc_id& proc) {
    const auto node = places.node_of(proc);
    if (!node || x.nodes.count(*node) > 0)
      return;
    if (answered_.count(*node) == 0) {
      ++unknown;
      return;
    }
    ++sum.missing;
    if (named++ < defaults::waits_missing)
      sum.named.push_back(proc);
  };
  for (auto proc : procs) {
    if (proc.rank != rank_wildcard) {
      look_at(proc);
      continue;
    }
    const auto size = places.size_of(proc.nspace);
    for (proc.rank = 0; proc.rank < size; ++proc.rank)
      look_at(proc);
  }
  return unknown;
}

value wait_list::describe(operation x, const job_locations& places,
                          uint64_t& budget) const {
  auto& sum = x.sum;
  const auto unknown =
    sum.generation > 0 ? add_absent(x, places, budget) : uint64_t{0};
  std::sort(sum.named.begin(), sum.named.end());
  if (sum.named.size() > defaults::waits_missing)
    sum.named.resize(defaults::waits_missing);
  const auto name = [&](const proc_id& proc) {
    auto infos = std::vector<info>{report_text("proc", to_string(proc))};
    if (const auto host = places.host_of(proc); !host.empty())
      infos.push_back(report_text("host", host));
    return value::infos(std::move(infos));
  };
  auto infos = std::vector<info>{
    report_text("kind", text_of(sum.kind)), report_text("job", job_of(sum)),
    report_number("size", sum.size), report_number("joined", sum.joined)};
  if (!sum.id.empty())
    infos.push_back(report_text("id", sum.id));
  infos.push_back(make_info("participants", text_list(sum.participants)));
  infos.push_back(make_info("missing", report_list(sum.named, name)));
  infos.push_back(report_number(
    "others", sum.missing - std::min<uint64_t>(sum.missing, sum.named.size())));
  infos.push_back(report_number("unknown", unknown));
  infos.push_back(
    report_number("age_ms", static_cast<uint64_t>(sum.age.count())));
  infos.push_back(report_flag("at_least", sum.is_at_least));
  return value::infos(std::move(infos));
}

std::vector<info> wait_list::report(const job_locations& places) const {
  auto all = std::vector<const operation*>{};
  for (const auto& [key, x] : operations_)
    all.push_back(&x);
  std::stable_sort(all.begin(), all.end(),
                   [](const operation* x, const operation* y) {
                     return is_longer(x->sum, y->sum);
                   });
  const auto shown = std::min(all.size(), defaults::waits_told);
  const auto left_out = all.size() - shown;
  all.resize(shown);
  auto budget = uint64_t{defaults::waits_ranks};
  auto result = std::vector<info>{
    make_info(waits_key, report_list(all, [&](const operation* x) {
                return describe(*x, places, budget);
              }))};
  if (left_out > 0)
    result.push_back(report_number(waits_left_out_key, left_out));
  return result;
}

} // namespace troupe
