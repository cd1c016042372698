#include "tools/report.hpp"

#include "base/escape.hpp"
#include "base/report_values.hpp"
#include "messages/attributes.hpp"
#include "messages/custom_monitor.hpp"
#include "messages/monitor.hpp"
#include "tools/printing.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

using nlohmann::json;

struct column {
  const char* title;
  const char* key;
};

using row = std::vector<std::string>;

/// What one cell shows.
std::string cell(const json& object, const char* key) {
  if (!object.is_object())
    return {};
  const auto i = object.find(key);
  if (i == object.end())
    return "-";
  if (i->is_string())
    return escape_control_characters(i->get<std::string>());
  if (i->is_boolean())
    return i->get<bool>() ? "yes" : "no";
  return i->dump();
}

/// Whether a column holds numbers, and dashes where there is none.
bool is_numeric(const std::vector<row>& rows, size_t column) {
  auto has_number = false;
  for (size_t r = 1; r < rows.size(); ++r) {
    const auto& x = rows[r][column];
    if (x.empty() || x.find_first_not_of("0123456789.-") != std::string::npos)
      return false;
    has_number |= x != "-";
  }
  return has_number;
}

std::string table(const std::vector<column>& columns, const json& items) {
  auto rows = std::vector<row>(1);
  for (const auto& x : columns)
    rows.front().emplace_back(x.title);
  if (items.is_array())
    for (const auto& item : items) {
      auto& next = rows.emplace_back();
      for (const auto& x : columns)
        next.push_back(cell(item, x.key));
    }
  return align(rows);
}

const json& member(const json& object, const char* key) {
  static const auto none = json::array();
  if (!object.is_object())
    return none;
  const auto i = object.find(key);
  return i != object.end() ? *i : none;
}

/// Such as `0.12 ms`.
std::string round_trip_of(const json& lane) {
  const auto& x = member(lane, "round_trip_ns");
  if (!x.is_number_unsigned() || x.get<uint64_t>() == 0)
    return "-";
  return fmt::format("{:.3f} ms", static_cast<double>(x.get<uint64_t>()) / 1e6);
}

/// The lanes of one node.
/// Over which network a lane leads, or through whom.
std::string way_of(const json& lane) {
  if (lane.contains("relay"))
    return "through " + cell(lane, "relay");
  const auto network = cell(lane, "network");
  return network == "relay" ? "through others" : network;
}

std::string network_text(const json& x) {
  if (!x.contains("duty"))
    return fmt::format("node {}: {}\n", cell(x, "rank"), cell(x, "trouble"));
  auto result = fmt::format("node {} ({}), {}, epoch {}", cell(x, "rank"),
                            cell(x, "name"), cell(x, "duty"), cell(x, "epoch"));
  if (x.contains("parent"))
    result += ", parent " + cell(x, "parent");
  result += "\n";
  for (const auto& y : member(x, "addresses"))
    result += fmt::format(
      "listens on {} {}{}\n", cell(y, "network"), cell(y, "address"),
      cell(y, "kind") == "unix" ? "" : " port " + cell(y, "port"));
  auto rows = std::vector<row>{{"RANK", "NAME", "NETWORK", "KIND", "LOCAL",
                                "REMOTE", "USABLE", "ROUND TRIP", "SENT",
                                "RESENT", "DELIVERED", "WAITING"}};
  for (const auto& peer : member(x, "peers")) {
    const auto begin = row{cell(peer, "rank"), cell(peer, "name")};
    const auto end = row{cell(peer, "sent"), cell(peer, "resent"),
                         cell(peer, "delivered"), cell(peer, "waiting_bytes")};
    const auto add = [&](row middle) {
      auto& next = rows.emplace_back(begin);
      next.insert(next.end(), middle.begin(), middle.end());
      next.insert(next.end(), end.begin(), end.end());
    };
    const auto& lanes = member(peer, "lanes");
    for (const auto& lane : lanes)
      add({way_of(lane), cell(lane, "kind"), cell(lane, "local"),
           cell(lane, "remote"), cell(lane, "usable"), round_trip_of(lane)});
    if (lanes.empty())
      add({"-", "-", "-", "-", "no", "-"});
  }
  result += align(rows);
  for (const auto& peer : member(x, "peers"))
    if (peer.contains("trouble"))
      result += cell(peer, "name") + ": " + cell(peer, "trouble") + "\n";
  return result;
}

std::string networks_text(const json& nodes) {
  auto result = std::string{};
  if (nodes.is_array())
    for (const auto& x : nodes)
      if (x.is_object())
        result += (result.empty() ? "" : "\n") + network_text(x);
  return result;
}

} // namespace

std::string align(const std::vector<row>& rows) {
  auto lines = std::vector<std::string>(rows.size());
  for (size_t i = 0; i < rows.front().size(); ++i) {
    auto width = size_t{0};
    for (const auto& x : rows)
      width = std::max(width, x[i].size());
    const auto numeric = is_numeric(rows, i);
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto blanks = std::string(width - rows[r][i].size(), ' ');
      lines[r] += i > 0 ? "  " : "";
      lines[r] += numeric ? blanks + rows[r][i] : rows[r][i] + blanks;
    }
  }
  auto result = std::string{};
  for (auto& x : lines) {
    x.erase(x.find_last_not_of(' ') + 1);
    result += x + "\n";
  }
  return result;
}

std::string_view query_key(report_kind x) {
  switch (x) {
    case report_kind::nodes:
      return "troupe.nodes";
    case report_kind::jobs:
      return "troupe.jobs";
    case report_kind::processes:
      return "troupe.ps";
    case report_kind::monitors:
      return monitor_list_key;
    default:
      return "troupe.net";
  }
}

std::string_view json_name(report_kind x) {
  switch (x) {
    case report_kind::jobs:
      return "jobs";
    case report_kind::processes:
      return "processes";
    case report_kind::monitors:
      return "monitors";
    default:
      return "nodes";
  }
}

json to_json(const value& x) {
  if (x.type == data_type::bool_)
    return x.truth();
  if (const auto* text = x.text())
    return *text;
  if (const auto* proc = x.proc())
    return to_string(*proc);
  if (const auto number = x.number<uint64_t>())
    return *number;
  if (const auto number = x.number<int64_t>())
    return *number;
  if (const auto* y = std::get_if<double>(&x.data))
    return *y;
  const auto* array = x.array();
  if (array == nullptr)
    return nullptr;
  auto infos = std::vector<const info*>{};
  for (const auto& y : array->elements)
    if (const auto* z = std::get_if<box<info>>(&y.data))
      infos.push_back(&**z);
  const auto is_list =
    infos.size() < array->elements.size()
    || std::all_of(infos.begin(), infos.end(),
                   [](const info* y) { return y->key == report_item_key; });
  if (is_list) {
    auto result = json::array();
    for (const auto& y : array->elements) {
      const auto* z = std::get_if<box<info>>(&y.data);
      result.push_back(to_json(z != nullptr ? (*z)->val : y));
    }
    return result;
  }
  auto result = json::object();
  for (const auto* y : infos)
    result[y->key] = to_json(y->val);
  return result;
}

std::string to_text(report_kind kind, const json& x) {
  switch (kind) {
    case report_kind::nodes:
      return table({{"RANK", "rank"},
                    {"NAME", "name"},
                    {"STATE", "state"},
                    {"SLOTS", "slots"},
                    {"PROCS", "procs"},
                    {"LANES", "lanes"}},
                   x);
    case report_kind::jobs:
      return table({{"JOB", "nspace"},
                    {"STATE", "state"},
                    {"NODES", "nodes"},
                    {"PROCS", "procs"},
                    {"COMMAND", "cmd"}},
                   x);
    case report_kind::processes:
      return table({{"JOB", "nspace"},
                    {"RANK", "rank"},
                    {"NODE", "host"},
                    {"PID", "pid"},
                    {"STATE", "state"},
                    {"COMMAND", "cmd"}},
                   x);
    case report_kind::monitors:
      return table({{"NUMBER", monitor_number_key.data()},
                    {"PROCESS", attr::procid.data()},
                    {"NODE", attr::hostname.data()},
                    {"KIND", monitor_kind_key.data()},
                    {"ID", attr::monitor_id.data()},
                    {"LAST", monitor_last_key.data()},
                    {"DUE", monitor_due_key.data()},
                    {"EVERY", monitor_interval_key.data()},
                    {"FILE", attr::monitor_file.data()},
                    {"USE OF", monitor_target_key.data()},
                    {"ASKED BY", monitor_requestor_key.data()},
                    {"ALERT", monitor_reason_key.data()}},
                   x);
    default:
      return networks_text(x);
  }
}

namespace {

std::string host_of(const proc_info& x) {
  return x.hostname.value_or("?");
}

} // namespace

std::vector<proc_info> processes_in(const value& table) {
  auto result = std::vector<proc_info>{};
  if (const auto* array = table.array())
    for (const auto& x : array->elements)
      if (const auto* y = std::get_if<box<proc_info>>(&x.data))
        result.push_back(**y);
  std::sort(result.begin(), result.end(),
            [](const proc_info& x, const proc_info& y) {
              return x.proc.rank < y.proc.rank;
            });
  return result;
}

std::string map_text(const std::string& nspace,
                     const std::vector<proc_info>& procs) {
  auto hosts = std::vector<std::string>{};
  for (const auto& x : procs)
    if (std::find(hosts.begin(), hosts.end(), host_of(x)) == hosts.end())
      hosts.push_back(host_of(x));
  auto result = fmt::format("troupe: job {}: {} process{} on ",
                            escape_control_characters(nspace), procs.size(),
                            procs.size() == 1 ? "" : "es");
  for (size_t i = 0; i < hosts.size(); ++i)
    result += (i > 0 ? "," : "") + escape_control_characters(hosts[i]);
  result += "\n";
  for (const auto& x : procs)
    result +=
      fmt::format("troupe:   rank {}: {}, node {}\n", x.proc.rank,
                  escape_control_characters(x.executable_name.value_or("?")),
                  escape_control_characters(host_of(x)));
  return result;
}

std::string map_line(const std::string& nspace,
                     const std::vector<proc_info>& procs) {
  using nlohmann::json;
  auto list = json::array();
  for (const auto& x : procs)
    list.push_back({{"rank", x.proc.rank},
                    {"node", host_of(x)},
                    {"program", x.executable_name.value_or("")},
                    {"pid", x.pid}});
  return json_line(json{
    {"type", "job_mapped"}, {"nspace", nspace}, {"procs", std::move(list)}});
}

std::string binding_text(uint32_t rank, const std::string& host,
                         const std::string& cpus) {
  return fmt::format("rank {} on {}: {}", rank, escape_control_characters(host),
                     cpus.empty()
                       ? "not bound"
                       : "bound to cpus " + escape_control_characters(cpus));
}

} // namespace troupe
