#pragma once

#include "config/defaults.hpp"
#include "tools/dvm_nodes.hpp"
#include "tools/remote_shell.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace troupe {

/// What `troupe up` and `troupe run` are told about nodes.
struct dvm_options {
  std::string hosts;
  std::string hostfile;

  /// What this node is called in the list; empty: found out.
  std::string own_name;

  /// The program started on the nodes; empty: the `trouped` beside us.
  std::string launch_agent;

  /// Empty: ssh, or srun in an allocation of Slurm.
  std::string remote_shell;

  uint32_t radix = defaults::tree_radix;

  /// Interfaces, with commas; empty: all that are fit.
  std::string networks;

  bool is_insecure = false;

  /// Seconds that a daemon has to join.
  uint32_t patience = 60;

  /// Whether remote shells stay as long as their daemons.
  bool leaves_attached = false;

  /// The directory for the daemons' logs, on their nodes; empty: no logs.
  std::string log_directory;
};

/// Makes a command line understand these options.
void add_dvm_options(CLI::App& cli, dvm_options& x);

/// Which daemons to start, and how.
struct dvm_plan {
  /// By rank; the root first.
  std::vector<dvm_node> nodes;
  remote_shell shell;

  /// The daemon's program and its arguments before ours.
  std::vector<std::string> agent;
  std::vector<std::string> networks;
};

/// Where the nodes may come from beside the options.
struct dvm_surroundings {
  environment variables;
  file_reader read;
  this_host here;

  /// The directory of our programs.
  std::string programs;

  /// Asks the system.
  static dvm_surroundings find();
};

/// Reads whatever names the nodes: the options, or else an allocation of Slurm
/// or PBS that has more than this node.
/// @returns nothing if nobody names any; an error in a sentence for what makes
///          no sense.
caf::expected<std::optional<dvm_plan>> plan_dvm(const dvm_options& x,
                                                const dvm_surroundings& where);

/// Reads a file of at most `defaults::host_file_bytes`.
caf::expected<std::string> read_text_file(const std::string& path);

} // namespace troupe
