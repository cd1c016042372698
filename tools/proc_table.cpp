#include "tools/proc_table.hpp"

#include "config/escape.hpp"
#include "tools/json_output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace troupe {

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
