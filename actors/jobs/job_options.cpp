#include "actors/jobs/job_options.hpp"

#include "actors/jobs/io_options.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace troupe {

namespace {

constexpr std::array<std::pair<resource_kind, std::string_view>, 7> kind_names{{
  {resource_kind::none, "none"},
  {resource_kind::slot, "slot"},
  {resource_kind::hwthread, "hwthread"},
  {resource_kind::core, "core"},
  {resource_kind::l3, "l3cache"},
  {resource_kind::numa, "numa"},
  {resource_kind::package, "package"},
}};

std::optional<resource_kind> kind_named(std::string_view name) {
  // Other words of the field for the same things.
  if (name == "board" || name == "seq")
    return resource_kind::slot;
  if (name == "socket")
    return resource_kind::package;
  if (name == "cpu")
    return resource_kind::hwthread;
  for (const auto& [kind, text] : kind_names)
    if (text == name)
      return kind;
  return std::nullopt;
}

/// Splits `core:OVERSUBSCRIBE` at its first colon.
std::pair<std::string, std::string> split_policy(const std::string& text) {
  const auto colon = text.find(':');
  auto name = text.substr(0, colon);
  for (auto& c : name)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  auto modifiers =
    colon == std::string::npos ? std::string{} : text.substr(colon + 1);
  for (auto& c : modifiers)
    c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return {std::move(name), std::move(modifiers)};
}

void read_modifiers(const std::string& modifiers, job_options& options) {
  if (modifiers.find("OVERSUBSCRIBE") != std::string::npos
      && modifiers.find("NOOVERSUBSCRIBE") == std::string::npos)
    options.oversubscribe = true;
}

/// Reads `N:node` and what follows.
/// Source: PRRTE's `--map-by ppr:N:resource`.
caf::error read_ppr(const std::string& text, job_options& options) {
  const auto* end = text.data() + text.size();
  auto count = uint32_t{0};
  const auto [rest, err] = std::from_chars(text.data(), end, count);
  const auto unit = std::string(rest, end);
  const auto is_node = unit == ":NODE" || unit.compare(0, 6, ":NODE:") == 0;
  if (err != std::errc{} || count == 0 || !is_node)
    return make_error(status::bad_param,
                      "PMIX_MAPBY is \"ppr:" + text
                        + "\"; write ppr:N:node with N above 0");
  options.nodes = node_policy::ppr;
  options.per_node = count;
  read_modifiers(unit, options);
  return {};
}

caf::error read_mapping(const std::vector<info>& infos, job_options& options) {
  if (const auto given = text(infos, attr::ppr); given && !given->empty())
    return read_ppr(split_policy(":" + *given).second, options);
  const auto given = text(infos, attr::mapby);
  if (!given || given->empty())
    return {};
  const auto [name, modifiers] = split_policy(*given);
  if (name == "ppr")
    return read_ppr(modifiers, options);
  read_modifiers(modifiers, options);
  if (name == "node") {
    options.nodes = node_policy::node;
    options.rank_by_node = true;
    return {};
  }
  if (name.empty())
    return {};
  const auto found = kind_named(name);
  if (!found)
    return make_error(status::not_supported,
                      "PMIX_MAPBY is \"" + *given
                        + "\"; known are slot, node, ppr:N:node, hwthread,"
                          " core, l3cache, numa and package");
  if (*found == resource_kind::none)
    return make_error(status::bad_param, "PMIX_MAPBY is \"none\": processes "
                                         "have to be somewhere");
  options.map_by = *found;
  return {};
}

caf::error read_ranking(const std::vector<info>& infos, job_options& options) {
  const auto given = text(infos, attr::rankby);
  if (!given || given->empty())
    return {};
  const auto name = split_policy(*given).first;
  if (name == "node")
    options.rank_by_node = true;
  else if (name == "slot" || name == "fill" || name.empty())
    options.rank_by_node = false;
  else
    return make_error(status::not_supported, "PMIX_RANKBY is \"" + *given
                                               + "\"; known are slot and node");
  return {};
}

caf::error read_binding(const std::vector<info>& infos, job_options& options) {
  const auto given = text(infos, attr::bindto);
  if (!given || given->empty())
    return {};
  const auto [name, modifiers] = split_policy(*given);
  read_modifiers(modifiers, options);
  if (name.empty())
    return {};
  const auto found = kind_named(name);
  if (!found)
    return make_error(status::not_supported,
                      "PMIX_BINDTO is \"" + *given
                        + "\"; known are slot, hwthread, core, l3cache, numa,"
                          " package and none");
  options.bind_to = *found;
  return {};
}

/// The options that PRRTE's launcher hands over as text, with commas between.
/// Source: PMIX_RUNTIME_OPTIONS; PRRTE's `--runtime-options`.
void read_runtime_options(const std::vector<info>& infos,
                          job_options& options) {
  const auto given = text(infos, attr::runtime_options);
  if (!given)
    return;
  for (size_t begin = 0; begin <= given->size();) {
    const auto end = std::min(given->find(',', begin), given->size());
    const auto word = split_policy(given->substr(begin, end - begin) + ":");
    auto name = word.first;
    auto is_set = true;
    if (const auto sign = name.find('='); sign != std::string::npos) {
      const auto val = name.substr(sign + 1);
      is_set = val != "0" && val != "false" && val != "no";
      name.resize(sign);
    }
    if (name == "recoverable" || name == "continuous")
      options.recoverable = is_set;
    else if (name == "error-nonzero-status")
      options.abort_non_zero = is_set;
    begin = end + 1;
  }
}

} // namespace

std::string to_string(resource_kind kind) {
  for (const auto& [x, text] : kind_names)
    if (x == kind)
      return std::string{text};
  return "slot";
}

caf::expected<job_options> read_options(const spawn_request& request) {
  auto result = job_options{};
  auto infos = request.job_infos;
  // Launchers give a job's directives with its first program, too.
  if (!request.apps.empty())
    infos.insert(infos.end(), request.apps.front().infos.begin(),
                 request.apps.front().infos.end());
  if (auto err = read_mapping(infos, result))
    return err;
  if (auto err = read_ranking(infos, result))
    return err;
  if (auto err = read_binding(infos, result))
    return err;
  read_runtime_options(infos, result);
  if (find(infos, attr::job_recoverable) != nullptr)
    result.recoverable = flag(infos, attr::job_recoverable);
  if (const auto* x = find(infos, attr::abort_non_zero_term))
    result.abort_non_zero = x->truth();
  result.is_dry = flag(infos, dry_run_key);
  result.timeout = timeout_of(infos, attr::job_timeout);
  auto wiring = read_io_wiring(request);
  if (!wiring)
    return std::move(wiring.error());
  result.io = std::move(*wiring);
  return result;
}

std::string mapping_of(const job_options& options) {
  if (options.nodes == node_policy::ppr)
    return "ppr:" + std::to_string(options.per_node) + ":node";
  if (options.nodes == node_policy::node)
    return "node";
  return to_string(options.map_by);
}

bool needs_topology(const job_options& options) {
  return options.bind_to != resource_kind::none
         || options.map_by != resource_kind::slot;
}

} // namespace troupe
