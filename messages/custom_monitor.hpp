#pragma once

#include "messages/connection.hpp"
#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Monitors beside heartbeats and files: kinds that a node knows by name, and
// what is done when one of them, or any other monitor, raises an alert.
// docs/monitoring.md tells users of it.

namespace troupe {

// -- directives of PMIx_Process_monitor, and what is to be monitored ----------

/// STRING: the kind of monitor, such as `cpu_progress`.
inline constexpr std::string_view monitor_kind_key = "troupe.monitor.kind";

/// STRING: what is done on an alert, such as `signal:12`; may come several
/// times. As an attribute of a job: of all its monitors that do not say so
/// themselves.
inline constexpr std::string_view monitor_reaction_key =
  "troupe.monitor.reaction";

/// Seconds between two looks, and how many in a row may be missed before the
/// alert (reading A19 of MONITOR_HEARTBEAT_DROPS): any number, or a STRING
/// that is one.
inline constexpr std::string_view monitor_interval_key =
  "troupe.monitor.interval";
inline constexpr std::string_view monitor_drops_key = "troupe.monitor.drops";

/// UINT64: which monitor of a node, in lists; and beside PMIX_MONITOR_CANCEL,
/// which one to cancel, whoever of the same user asked for it.
inline constexpr std::string_view monitor_number_key = "troupe.monitor.number";

/// STRING, in an alert: why, in a sentence.
inline constexpr std::string_view monitor_reason_key = "troupe.monitor.reason";

/// In lists: BOOL, whether what is watched is silent, or in another way not well,
/// now; DOUBLE, seconds since its last sign of life or the last look at it; and
/// until the next look, or until silence is an alert.
inline constexpr std::string_view monitor_silent_key = "troupe.monitor.silent";
inline constexpr std::string_view monitor_last_key = "troupe.monitor.last";
inline constexpr std::string_view monitor_due_key = "troupe.monitor.due";

/// In lists: PROC, who asked for the monitor; and STRING, of updates on the use
/// of resources, what these are of, such as `job@1:*` or `disk sda`.
inline constexpr std::string_view monitor_requestor_key =
  "troupe.monitor.requestor";
inline constexpr std::string_view monitor_target_key = "troupe.monitor.target";

/// What begins every key of a setting.
inline constexpr std::string_view monitor_key_prefix = "troupe.monitor.";

// -- monitors -----------------------------------------------------------------

/// Watches a process from now on. Refused with `bad_param` for settings that
/// make no sense, `not_supported` for what cannot be watched here.
struct start_monitor {
  /// Which monitor of the MONITOR DESK: its alerts say so.
  uint64_t number = 0;

  /// Who asked for it.
  requester who;

  /// Whom it watches.
  proc_id proc;

  /// The number of that process on this node, if its server knows; 0: not.
  uint32_t pid = 0;

  /// The directives of the request.
  std::vector<info> settings;
};

TROUPE_MESSAGE(start_monitor, x.number, x.who, x.proc, x.pid, x.settings)

/// Watches no longer: no alert follows.
struct stop_monitor {};

TROUPE_EMPTY_MESSAGE(stop_monitor)

/// A monitor has found something. It may do so again once all was well in
/// between.
struct monitor_alert {
  uint64_t number = 0;

  /// Why, in a sentence such as `no CPU time for 20 s`.
  std::string reason;

  /// For the event, beside what belongs to all alerts.
  std::vector<info> infos;
};

TROUPE_MESSAGE(monitor_alert, x.number, x.reason, x.infos)

/// Asks for a monitor of a kind on the node of a process, or on a node by its
/// rank in the DVM. Fails with `not_supported` for a kind that there is not,
/// `not_found` for a process that is nowhere, and as `spawn_actor` does.
struct make_monitor {
  std::string kind;
  proc_id proc;
  std::optional<uint32_t> rank;
};

TROUPE_MESSAGE(make_monitor, x.kind, x.proc, x.rank)

// -- reactions ----------------------------------------------------------------

/// An alert to which something is to be done, beside the event.
struct react_to_alert {
  /// Who asked for the monitor: in whose name things are done.
  requester who;

  /// The process that is monitored, and its number on this node; 0: unknown.
  proc_id proc;
  uint32_t pid = 0;

  /// `heartbeat`, `file` or the name of a kind.
  std::string kind;

  /// PMIX_MONITOR_ID; empty: it has none.
  std::string id;

  /// The file that is monitored; empty: none.
  std::string file;

  /// Why, in a sentence.
  std::string reason;

  /// In this order; see `parse_reaction`. Those of the site, which may do more
  /// than those of a user.
  std::vector<std::string> reactions;
  bool is_policy_of_site = false;
};

TROUPE_MESSAGE(react_to_alert, x.who, x.proc, x.pid, x.kind, x.id, x.file,
               x.reason, x.reactions, x.is_policy_of_site)

// -- means --------------------------------------------------------------------

/// Asks how a local process and those below it do. Refused with `not_found` if
/// it has ended, or is not known here.
struct probe_process {
  proc_id proc;

  /// Its number, if it is known; 0: it is one that this node has started.
  uint32_t pid = 0;
};

TROUPE_MESSAGE(probe_process, x.proc, x.pid)

/// Answers `probe_process`.
struct process_probe {
  uint32_t pid = 0;

  /// CPU time that it and its descendants have had; never less than before
  /// while none of these is lost to another parent.
  std::chrono::nanoseconds cpu_time{0};

  /// Resident memory of them in bytes; what several share counts for each.
  uint64_t resident = 0;

  /// Whether it is stopped by a signal or frozen: no progress is to be
  /// expected.
  bool is_stopped = false;

  /// How long it has written nothing to standard output; none: its output does
  /// not pass here.
  std::optional<std::chrono::nanoseconds> silence;
};

TROUPE_MESSAGE(process_probe, x.pid, x.cpu_time, x.resident, x.is_stopped,
               x.silence)

/// Asks the PROCESS LAUNCHER for a process it has started. Refused with
/// `not_found`.
struct find_process {
  proc_id proc;
};

TROUPE_MESSAGE(find_process, x.proc)

/// Answers `find_process`.
struct local_process {
  uint32_t pid = 0;

  /// Since it wrote to standard output, or since it started.
  std::chrono::nanoseconds silence{0};
};

TROUPE_MESSAGE(local_process, x.pid, x.silence)

/// Runs a command to its end. Refused with `bad_param`, `job_exe_not_found` or
/// `job_app_not_executable` if it cannot start, `resource_busy` if too many
/// run.
struct run_command {
  /// The program, looked up in the PATH of the daemon if it has no slash, and
  /// its arguments.
  std::vector<std::string> argv;

  /// `NAME=value`, beside the daemon's own environment.
  std::vector<std::string> env;

  /// Empty: the daemon's own.
  std::string wdir;

  /// Its standard input.
  std::string input;

  /// After this time it is killed, with the processes it started.
  std::chrono::nanoseconds limit{0};
};

TROUPE_MESSAGE(run_command, x.argv, x.env, x.wdir, x.input, x.limit)

/// How a command ended.
struct command_result {
  /// What it gave to `exit`; 0 if a signal ended it.
  int32_t exit_code = 0;

  /// The signal that ended it; 0 if none did.
  int32_t signal = 0;

  /// Whether it was killed because its time was up.
  bool timed_out = false;

  /// The beginning of its standard output and standard error, and whether
  /// there was more.
  std::string output;
  bool is_truncated = false;
};

TROUPE_MESSAGE(command_result, x.exit_code, x.signal, x.timed_out, x.output,
               x.is_truncated)

/// Asks a plugin for the state of a process, on a thread of its own.
struct check_process {
  proc_id proc;
  uint32_t pid = 0;
};

TROUPE_MESSAGE(check_process, x.proc, x.pid)

/// Answers `check_process`; empty: all is well, else why not.
struct check_result {
  std::string reason;
};

TROUPE_MESSAGE(check_result, x.reason)

} // namespace troupe
