#pragma once

#include "adapters/lane/authority.hpp"
#include "adapters/log/logger.hpp"
#include "base/journal.hpp"
#include "tools/dvm_root.hpp"
#include "tools/host_list.hpp"

#include <string>
#include <vector>

namespace troupe {

/// `troupe authority`: makes the file that the daemons of a DVM need if nobody
/// launches them.
/// @returns the exit status.
int make_authority_file(std::vector<std::string> args);

/// Reads such a file.
/// @returns `no_permissions` in a sentence if others can read it or it belongs
///          to somebody else, `bad_param` if it holds something else.
caf::expected<authority> read_authority_file(const std::string& path);

/// What its command line says beside the file.
struct bootstrap_options {
  severity log_level = severity::warning;
  log_format logs_as = log_format::text;

  /// Settings of the node's sensors, as `apply_setting` takes them.
  std::vector<std::string> sensors;

  /// Commands of the site, as `read_hooks` takes them.
  std::vector<std::string> hooks;

  /// Settings of the node's monitors, as `apply_setting` takes them.
  std::vector<std::string> monitors;

  /// Whether the node shares memory with processes that can.
  bool share_memory = true;

  /// What `--set` was given.
  std::vector<std::string> settings;

  /// What `--metrics` was given.
  std::string metrics;
};

/// The part of a node in a DVM that a file describes and nobody launches.
struct bootstrap_part {
  bootstrap_settings settings;

  /// Vouches for all its nodes.
  authority vouching;

  /// Which of `settings.nodes` this is.
  uint32_t rank = 0;

  /// Plain text between nodes; on loopback only.
  bool is_insecure = false;
};

/// Reads the file, and the authority that it names.
/// @param own What the file calls this node; empty: found out.
/// @returns an error in a sentence for what makes no sense.
caf::expected<bootstrap_part> read_bootstrap(const std::string& file,
                                             const std::string& own);

/// What the controller's node starts: a root that waits for the others.
dvm_root::settings root_settings(bootstrap_part part);

/// `trouped --bootstrap FILE`: a daemon of a DVM that nobody launches. All its
/// nodes have the same file; the one that it calls the controller is the root.
/// @param own What the file calls this node; empty: found out.
/// @returns the exit status: 1 for what is wrong here, 3 if it cannot join.
int bootstrap(const std::string& file, const std::string& own,
              const bootstrap_options& options);

} // namespace troupe
