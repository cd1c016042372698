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

/// What a job has once, for all of its programs: read with the job and with its
/// first program.
constexpr std::string_view job_keys[] = {
  attr::mapby,
  attr::ppr,
  attr::rankby,
  attr::bindto,
  attr::cpus_per_proc,
  attr::cpu_list,
  attr::no_oversubscribe,
  attr::no_procs_on_head,
  attr::report_bindings,
  attr::display_map,
  attr::index_argv,
  attr::runtime_options,
  attr::job_recoverable,
  attr::abort_non_zero_term,
  attr::job_continuous,
  attr::max_restarts,
  attr::job_timeout,
  attr::spawn_timeout,
  attr::timeout,
};

/// The same, read with any program; keys of I/O forwarding are others.
constexpr std::string_view stream_keys[] = {
  attr::fwd_stdin,        attr::fwd_stdout,          attr::fwd_stderr,
  attr::fwd_stddiag,      attr::stdin_tgt,           attr::tag_output,
  attr::timestamp_output, attr::output_to_file,      attr::output_to_directory,
  attr::output_nocopy,    attr::merge_stderr_stdout, attr::spawn_pty,
  attr::pty_wsize,
};

template <class Keys>
bool contains(const Keys& keys, std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

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

/// Whether a directive says no more than its absence.
bool asks_for_nothing(const info& x) {
  if (const auto* words = x.val.text())
    return words->empty();
  const auto* says = std::get_if<bool>(&x.val.data);
  return says != nullptr && !*says && x.key != attr::abort_non_zero_term;
}

/// Whether two values mean the same: callers mix the types of numbers.
bool says_the_same(const value& x, const value& y) {
  return x == y
         || (x.number<int64_t>() && x.number<int64_t>() == y.number<int64_t>());
}

/// Checks that a directive of a program behind the first is not one that its
/// job has once, in another way.
caf::error check_later(const spawn_request& request, size_t number,
                       const info& x) {
  const auto is_of_job = contains(job_keys, x.key);
  if (!is_of_job && !begins_with(x.key, "pmix.iof.")
      && !contains(stream_keys, x.key))
    return {};
  const auto* given = find(request.job_infos, x.key);
  const auto before = is_of_job ? size_t{1} : number;
  for (size_t i = 0; given == nullptr && i < before; ++i)
    given = find(request.apps[i].infos, x.key);
  const auto is_same = given != nullptr ? says_the_same(*given, x.val)
                                        : !is_of_job || asks_for_nothing(x);
  if (is_same)
    return {};
  const auto& program = request.apps[number].cmd;
  return make_error(
    status::not_supported,
    name_of(x.key) + " of program " + std::to_string(number + 1) + ", "
      + program
      + ", is not that of its job, which has one for all of its "
        "programs: give it with the job, or start "
      + program + " by a PMIx_Spawn of its own");
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
  for (size_t number = 0; number < request.apps.size(); ++number)
    for (const auto& x : request.apps[number].infos) {
      if (auto why = check(x))
        return why;
      if (number > 0)
        if (auto why = check_later(request, number, x))
          return why;
    }
  return {};
}

} // namespace troupe
