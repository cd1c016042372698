#include "actors/job_plan.hpp"
#include "actors/timeout.hpp"
#include "messages/attributes.hpp"

#include <array>
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
  if (name == "node" || name == "board" || name == "seq")
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

caf::error read_policy(const std::vector<info>& infos, std::string_view key,
                       resource_kind& kind, job_options& options) {
  const auto given = text(infos, key);
  if (!given || given->empty())
    return {};
  const auto [name, modifiers] = split_policy(*given);
  if (!name.empty()) {
    const auto found = kind_named(name);
    if (!found)
      return make_error(status::not_supported,
                        std::string{key} + " is \"" + *given
                          + "\"; known are slot, hwthread, core, l3cache, numa,"
                            " package and none");
    kind = *found;
  }
  if (modifiers.find("OVERSUBSCRIBE") != std::string::npos
      && modifiers.find("NOOVERSUBSCRIBE") == std::string::npos)
    options.oversubscribe = true;
  return {};
}

/// Source: PMIx Standard v5, PMIX_STDIN_TGT: a process, or in older releases a
/// rank.
std::optional<uint32_t> stdin_target(const std::vector<info>& infos) {
  const auto* x = find(infos, attr::stdin_tgt);
  if (x == nullptr)
    return std::nullopt;
  if (const auto* proc = x->proc())
    return proc->rank;
  return x->number<uint32_t>();
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
  if (auto err = read_policy(infos, attr::mapby, result.map_by, result))
    return err;
  if (auto err = read_policy(infos, attr::bindto, result.bind_to, result))
    return err;
  if (result.map_by == resource_kind::none)
    return make_error(status::bad_param,
                      "PMIX_MAPBY is \"none\": processes have to be somewhere");
  result.recoverable = flag(infos, attr::job_recoverable);
  if (const auto* x = find(infos, attr::abort_non_zero_term))
    result.abort_non_zero = x->truth();
  result.timeout = timeout_of(infos, attr::job_timeout);
  if (const auto target = stdin_target(infos))
    result.stdin_target = *target;
  return result;
}

bool needs_topology(const job_options& options) {
  return options.bind_to != resource_kind::none
         || options.map_by != resource_kind::slot;
}

} // namespace troupe
