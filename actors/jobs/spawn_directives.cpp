#include "actors/jobs/spawn_directives.hpp"

#include "base/directives.hpp"
#include "messages/attributes.hpp"
#include "messages/status.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

constexpr std::string_view name_nodes =
  "name the nodes in PMIX_HOST, as n1:4,n2:4";
constexpr std::string_view no_agent =
  "processes are started by the daemon itself; name the agent as the program";

/// With what to do instead.
constexpr std::pair<std::string_view, std::string_view> refused_keys[] = {
  {attr::hostfile, name_nodes},
  {attr::add_hostfile, name_nodes},
  {attr::colocate_procs, name_nodes},
  {attr::colocate_npernode, name_nodes},
  {attr::colocate_nperproc, name_nodes},
  {attr::cospawn_app, "start it by a PMIx_Spawn of its own"},
  {attr::debug_stop_on_exec,
   "processes wait for a debugger in PMIx_Init only: PMIX_DEBUG_STOP_IN_INIT; "
   "or start them under gdbserver"},
  {attr::exec_agent, no_agent},
  {attr::forkexec_agent, no_agent},
  {attr::mapper, "PMIX_MAPBY says where processes go"},
  {attr::set_session_cwd, "name the directory in PMIX_WDIR"},
  {attr::do_not_launch, "troupe.dry_run maps a job and starts nothing"},
};

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// The name in C, or the key itself.
std::string name_of(std::string_view key) {
  const auto* x = attribute_of(key);
  return std::string{x != nullptr ? x->c_name : key};
}

caf::error check(const info& x) {
  if (begins_with(x.key, "pmix.iof."))
    return {};
  const auto fate = fate_of_directive(x.key);
  const auto is_required = (x.flags & info_required) != 0;
  if (fate == spawn_fate::refused) {
    // Somebody may say that he does not want it.
    const auto* says = std::get_if<bool>(&x.val.data);
    if (says != nullptr && !*says)
      return {};
    const auto* row =
      std::find_if(std::begin(refused_keys), std::end(refused_keys),
                   [&](const auto& y) { return y.first == x.key; });
    const auto remedy = row != std::end(refused_keys)
                          ? ": " + std::string{row->second}
                          : std::string{};
    return make_error(status::not_supported,
                      name_of(x.key) + " is not done here" + remedy);
  }
  if (fate == spawn_fate::ignored && is_required)
    return make_error(status::not_supported,
                      "directive " + name_of(x.key)
                        + " is required, but is not acted upon when jobs are "
                          "started here; leave it out, or do not require it");
  return {};
}

} // namespace

spawn_fate fate_of_directive(std::string_view key) {
  if (begins_with(key, "troupe."))
    return spawn_fate::done;
  const auto how = treatment_of(pmix_call::spawn, key);
  if (how == treatment::done)
    return spawn_fate::done;
  return how == treatment::refused ? spawn_fate::refused : spawn_fate::ignored;
}

caf::error check_directives(const spawn_request& request) {
  for (const auto& x : request.job_infos)
    if (auto why = check(x))
      return why;
  for (const auto& program : request.apps)
    for (const auto& x : program.infos)
      if (auto why = check(x))
        return why;
  return {};
}

} // namespace troupe
