#pragma once

#include "messages/connection.hpp"
#include "messages/custom_monitor.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

namespace defaults {

/// Bytes of a reaction.
inline constexpr size_t monitor_reaction_bytes = 4096;

} // namespace defaults

/// What is done about an alert, beside the event that tells of it.
enum class reaction_kind : uint8_t {
  event,   ///< nothing
  log,     ///< a line in the daemon's log
  stack,   ///< where the process is, written to the daemon's standard error
  signal,  ///< the process gets a signal
  kill,    ///< the process is killed
  restart, ///< its job is ended and started again from a checkpoint
  command, ///< a command runs
  mail,    ///< somebody gets a mail
};

struct reaction {
  reaction_kind kind = reaction_kind::event;

  /// Only of `signal`.
  int32_t signal = 0;

  /// The checkpoint, the command, or the addresses of a mail.
  std::string text;
};

/// Reads `event`, `log`, `stack`, `signal:10` or `signal:USR1`, `kill`,
/// `restart:CHECKPOINT`, `command:TEXT` or `mail:ADDRESS`.
/// @returns `bad_param` for anything else.
caf::expected<reaction> parse_reaction(const std::string& text);

/// The reactions that attributes name: each `troupe.monitor.reaction`, a text
/// or an array of texts.
std::vector<std::string> reactions_in(const std::vector<info>& infos);

/// Whether somebody may have a daemon run commands: they run as the daemon's
/// user, so only that user may, and the administrator.
bool may_run_commands(const requester& who, uint32_t daemon_uid);

/// Whether somebody may watch processes of a user, and have something done to
/// them. Source: PMIx Standard v5, `PMIx_Process_monitor`: as for job control.
bool may_watch(const requester& who, uint32_t target_uid);

/// Checks reactions before a monitor begins.
/// @returns `bad_param` for what is none, `no_permissions` for a command that
///          the requester may not have run, `out_of_resource` for too many.
caf::error check_reactions(const std::vector<std::string>& reactions,
                           const requester& who, uint32_t daemon_uid);

/// What is done on the alerts of a monitor.
struct chosen_reactions {
  std::vector<std::string> reactions;
  bool is_policy_of_site = false;
};

/// The monitor's own reactions go before those of the job, and these before the
/// site's.
chosen_reactions choose_reactions(std::vector<std::string> own,
                                  std::vector<std::string> of_job,
                                  const std::vector<std::string>& of_site);

/// What a job says on the alerts of its processes, as data of the job; nothing
/// if it does not.
std::optional<info> job_policy(const std::vector<info>& job_infos);

} // namespace troupe
