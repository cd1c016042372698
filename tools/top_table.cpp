#include "tools/top_table.hpp"

#include "base/escape.hpp"
#include "tools/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace troupe {

namespace {

using nlohmann::json;

top_cell text_cell(const json& x, const char* key) {
  return {escape_control_characters(text_at(x, key)), std::nullopt};
}

top_cell number_cell(const json& x, const char* key) {
  const auto i = x.find(key);
  if (i == x.end() || !i->is_number())
    return {"-", std::nullopt};
  return {i->dump(), i->get<double>()};
}

top_cell count_cell(size_t n) {
  return {std::to_string(n), static_cast<double>(n)};
}

top_cell cpu_cell(const std::optional<process_usage>& x) {
  if (!x)
    return {"-", std::nullopt};
  return {fmt::format("{:.1f}", x->cpu), x->cpu};
}

top_cell memory_cell(const std::optional<process_usage>& x) {
  if (!x)
    return {"-", std::nullopt};
  return {fmt::format("{:.0f}", x->memory), x->memory};
}

bool is_running(const json& process) {
  return text_at(process, "state") == "running";
}

std::optional<process_usage> usage_of(const dvm_picture& from,
                                      const json& process) {
  const auto i = from.usage.find(id_of(process));
  if (i == from.usage.end() || !is_running(process))
    return std::nullopt;
  return i->second;
}

/// What several processes use, and how many of them run.
struct sum {
  std::optional<process_usage> usage;
  size_t running = 0;

  void add(const dvm_picture& from, const json& process) {
    running += is_running(process) ? 1 : 0;
    const auto x = usage_of(from, process);
    if (!x)
      return;
    if (!usage)
      usage.emplace();
    usage->cpu += x->cpu;
    usage->memory += x->memory;
  }
};

/// Of the processes of each job, or each node.
std::map<std::string, sum> sums_by(const dvm_picture& from, const char* key) {
  auto result = std::map<std::string, sum>{};
  for (const auto& x : from.processes)
    if (x.is_object())
      result[text_at(x, key)].add(from, x);
  return result;
}

bool is_within(const json& process, const top_scope& scope) {
  return (!scope.nspace || text_at(process, "nspace") == *scope.nspace)
         && (!scope.node
             || text_at(process, "node") == std::to_string(*scope.node));
}

void add_ranks(const dvm_picture& from, const top_scope& scope,
               std::vector<top_row>& to) {
  for (const auto& x : from.processes) {
    if (!x.is_object() || !is_within(x, scope))
      continue;
    const auto usage = usage_of(from, x);
    to.push_back(
      {id_of(x),
       {text_cell(x, "nspace"), number_cell(x, "rank"), text_cell(x, "host"),
        number_cell(x, "pid"), text_cell(x, "state"), cpu_cell(usage),
        memory_cell(usage), text_cell(x, "cmd")}});
  }
}

void add_jobs(const dvm_picture& from, std::vector<top_row>& to) {
  auto sums = sums_by(from, "nspace");
  for (const auto& x : from.jobs) {
    if (!x.is_object())
      continue;
    const auto nspace = text_at(x, "nspace");
    const auto& mine = sums[nspace];
    to.push_back(
      {nspace,
       {text_cell(x, "nspace"), text_cell(x, "state"), number_cell(x, "nodes"),
        number_cell(x, "procs"), count_cell(mine.running), cpu_cell(mine.usage),
        memory_cell(mine.usage), text_cell(x, "cmd")}});
  }
}

void add_nodes(const dvm_picture& from, std::vector<top_row>& to) {
  auto sums = sums_by(from, "node");
  for (const auto& x : from.nodes) {
    if (!x.is_object())
      continue;
    const auto rank = text_at(x, "rank");
    const auto& mine = sums[rank];
    to.push_back(
      {rank,
       {number_cell(x, "rank"), text_cell(x, "name"), text_cell(x, "state"),
        number_cell(x, "slots"), number_cell(x, "procs"), cpu_cell(mine.usage),
        memory_cell(mine.usage), number_cell(x, "lanes")}});
  }
}

std::string in_small(std::string_view x) {
  auto result = std::string{x};
  for (auto& c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool matches(const top_row& x, const std::string& small_filter) {
  return std::any_of(x.cells.begin(), x.cells.end(), [&](const top_cell& y) {
    return in_small(y.text).find(small_filter) != std::string::npos;
  });
}

/// Numbers before text, so that what is not known is last or first.
bool is_before(const top_cell& x, const top_cell& y) {
  if (x.number && y.number)
    return *x.number < *y.number;
  if (x.number.has_value() != y.number.has_value())
    return y.number.has_value();
  return x.text < y.text;
}

std::string counted(size_t n, const char* what, const char* several) {
  return std::to_string(n) + " " + (n == 1 ? what : several);
}

} // namespace

std::string text_at(const json& x, const char* key) {
  const auto i = x.find(key);
  if (i == x.end())
    return {};
  return i->is_string()
           ? i->get<std::string>()
           : i->dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string id_of(const json& process) {
  return text_at(process, "nspace") + ":" + text_at(process, "rank");
}

std::string_view text_of(top_kind x) {
  switch (x) {
    case top_kind::jobs:
      return "jobs";
    case top_kind::nodes:
      return "nodes";
    default:
      return "ranks";
  }
}

std::optional<top_kind> read_top_kind(std::string_view word) {
  for (const auto x : {top_kind::ranks, top_kind::jobs, top_kind::nodes})
    if (word == text_of(x))
      return x;
  return std::nullopt;
}

const std::vector<top_column>& columns_of(top_kind x) {
  static const auto ranks = std::vector<top_column>{
    {"JOB", false, false}, {"RANK", true, false},    {"NODE", false, false},
    {"PID", true, false},  {"STATE", false, false},  {"CPU%", true, true},
    {"MEM", true, true},   {"COMMAND", false, false}};
  static const auto jobs = std::vector<top_column>{
    {"JOB", false, false}, {"STATE", false, false},  {"NODES", true, true},
    {"PROCS", true, true}, {"RUN", true, true},      {"CPU%", true, true},
    {"MEM", true, true},   {"COMMAND", false, false}};
  static const auto nodes = std::vector<top_column>{
    {"RANK", true, false}, {"NAME", false, false}, {"STATE", false, false},
    {"SLOTS", true, true}, {"PROCS", true, true},  {"CPU%", true, true},
    {"MEM", true, true},   {"LANES", true, true}};
  return x == top_kind::ranks ? ranks : x == top_kind::jobs ? jobs : nodes;
}

std::optional<size_t> find_column(top_kind x, std::string_view title) {
  const auto& all = columns_of(x);
  const auto wanted = in_small(title);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto name = in_small(all[i].title);
    // A shell may want no sign.
    if (name == wanted || name == wanted + "%")
      return i;
  }
  return std::nullopt;
}

size_t state_column(top_kind x) {
  return x == top_kind::ranks ? 4 : x == top_kind::jobs ? 1 : 2;
}

std::vector<top_row> rows_of(top_kind x, const dvm_picture& from,
                             const top_scope& scope) {
  auto result = std::vector<top_row>{};
  if (x == top_kind::ranks)
    add_ranks(from, scope, result);
  else if (x == top_kind::jobs)
    add_jobs(from, result);
  else
    add_nodes(from, result);
  if (!scope.filter.empty()) {
    const auto small = in_small(scope.filter);
    result.erase(
      std::remove_if(result.begin(), result.end(),
                     [&](const top_row& y) { return !matches(y, small); }),
      result.end());
  }
  return result;
}

void sort_rows(std::vector<top_row>& rows, size_t column, bool is_reversed) {
  std::stable_sort(
    rows.begin(), rows.end(), [&](const top_row& x, const top_row& y) {
      if (column >= x.cells.size() || column >= y.cells.size())
        return false;
      return is_reversed ? is_before(y.cells[column], x.cells[column])
                         : is_before(x.cells[column], y.cells[column]);
    });
}

std::string summary_of(const dvm_picture& x) {
  auto states = std::map<std::string, size_t>{};
  for (const auto& y : x.processes)
    if (y.is_object())
      ++states[escape_control_characters(text_at(y, "state"))];
  auto result = counted(x.nodes.size(), "node", "nodes") + ", "
                + counted(x.jobs.size(), "job", "jobs") + ", "
                + counted(x.processes.size(), "process", "processes");
  auto separator = ": ";
  for (const auto& [state, n] : states) {
    result += separator + std::to_string(n) + " " + state;
    separator = ", ";
  }
  return result;
}

std::string to_text(const dvm_picture& x, const std::vector<top_kind>& kinds,
                    const top_scope& scope, std::optional<size_t> column,
                    bool is_reversed) {
  auto result = std::string{};
  for (const auto kind : kinds) {
    auto rows = rows_of(kind, x, scope);
    if (column)
      sort_rows(rows, *column, is_reversed);
    auto cells = std::vector<std::vector<std::string>>(1);
    for (const auto& y : columns_of(kind))
      cells.front().emplace_back(y.title);
    for (const auto& y : rows) {
      auto& next = cells.emplace_back();
      for (const auto& z : y.cells)
        next.push_back(z.text);
    }
    result += (result.empty() ? "" : "\n") + align(cells);
  }
  return result;
}

json to_json(const dvm_picture& x) {
  auto processes = x.processes;
  for (auto& y : processes)
    if (y.is_object())
      if (const auto usage = usage_of(x, y)) {
        y["cpu_percent"] = usage->cpu;
        y["memory_mb"] = usage->memory;
      }
  return {
    {"nodes", x.nodes}, {"jobs", x.jobs}, {"processes", std::move(processes)}};
}

} // namespace troupe
