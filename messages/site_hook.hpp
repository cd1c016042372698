#pragma once

#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A command that the site has configured for a daemon, and nobody else names.
enum class site_hook : uint8_t {
  checkpoint, ///< saves a process from outside, such as CRIU
  provision,  ///< puts an image on nodes
};

/// From the root: runs the hook of the node with these arguments after its own.
/// Refused with `not_supported` where there is none, with `timeout` if it took
/// too long.
struct run_site_hook {
  site_hook hook = site_hook::checkpoint;

  /// The process of the node that it is for; empty namespace: none.
  proc_id proc;
  std::vector<std::string> arguments;

  /// Beside the daemon's own environment, `NAME=value`.
  std::vector<std::string> environment;
};

TROUPE_MESSAGE(run_site_hook, x.hook, x.proc, x.arguments, x.environment)

struct site_hook_result {
  /// As a shell would say: 128 + signal if one ended it.
  int32_t exit_status = 0;

  /// What it has written, cut.
  std::string output;
};

TROUPE_MESSAGE(site_hook_result, x.exit_status, x.output)

/// Names of the environment by which processes and hooks learn what they are
/// for: the checkpoint that a process starts from, the rank that it had when
/// this was taken, the number of the process to save, nodes and their image.
inline constexpr const char* checkpoint_id_variable = "TROUPE_CHECKPOINT_ID";
inline constexpr const char* checkpoint_rank_variable =
  "TROUPE_CHECKPOINT_RANK";
inline constexpr const char* checkpoint_pid_variable = "TROUPE_CHECKPOINT_PID";
inline constexpr const char* provision_nodes_variable =
  "TROUPE_PROVISION_NODES";
inline constexpr const char* provision_image_variable =
  "TROUPE_PROVISION_IMAGE";

/// In the answer to a checkpoint, arrays of PROC: who has saved its state, and
/// who ended before it had. Those who were asked and have said nothing are
/// among the missing of the request.
inline constexpr std::string_view checkpoint_saved_key =
  "troupe.checkpoint.saved";
inline constexpr std::string_view checkpoint_failed_key =
  "troupe.checkpoint.failed";

} // namespace troupe
