#pragma once

#include "config/defaults.hpp"
#include "tools/host_list.hpp"
#include "tools/remote_shell.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace troupe {

/// The ways in which a list of nodes may mean the node that we are on.
class this_host {
public:
  /// @param name      What the node calls itself.
  /// @param addresses Numeric, those of its interfaces.
  this_host(std::string name, std::set<std::string> addresses)
    : name_(std::move(name)), addresses_(std::move(addresses)) {
    // nop
  }

  /// Asks the system; for addresses when a list has some.
  static this_host find();

  const std::string& name() const noexcept {
    return name_;
  }

  /// Whether `name` is the node's name, in full or without its domain, one of
  /// its addresses, or `localhost`. Does not ask a name service: a list may
  /// have 10,000 names.
  bool is(std::string_view name) const;

private:
  explicit this_host(std::string name) : name_(std::move(name)) {
    // nop
  }

  std::string name_;

  /// None: not asked for yet.
  mutable std::optional<std::set<std::string>> addresses_;
};

/// A node of a DVM; its place in the list is its rank.
struct dvm_node {
  std::string name;

  /// Processes it takes; none: as many as it has processors.
  std::optional<uint32_t> slots;

  /// The most it takes when oversubscribed; 0 means any number.
  uint32_t max_slots = 0;
};

/// The nodes of a DVM whose root runs here: the root first, then as listed. A
/// root that is not in the list takes no processes.
/// @param own What this node is called in the list; empty: see `this_host`.
/// @returns `bad_param` in a sentence for a name that none can have, and for
///          two entries that are this node.
caf::expected<std::vector<dvm_node>> order_nodes(const host_list& hosts,
                                                 const this_host& here,
                                                 const std::string& own = {});

/// The nodes of a job as `--display allocation` shows them.
/// @param nodes Those without a number of slots have as many as hardware
///              threads; those with 0 take no processes.
std::string allocation_text(const std::vector<dvm_node>& nodes);

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

  /// Kinds of lanes, with commas; empty: all.
  std::string lanes;

  bool is_insecure = false;

  /// Seconds that a daemon has to join.
  uint32_t patience = 60;

  /// Whether remote shells stay as long as their daemons.
  bool leaves_attached = false;

  /// The directory for the daemons' logs, on their nodes; empty: no logs.
  std::string log_directory;

  /// What `--set` was given, for this node and for the daemons, whose own files
  /// it comes after: `NAME=VALUE`.
  std::vector<std::string> settings;
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

  /// Kinds of lanes, see `read_lane_kinds`; none: all.
  std::vector<std::string> lanes;
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

/// One of the nodes of a DVM that is up, to which a job is to go.
struct chosen_node {
  std::string name;

  /// The most slots of it to take; none: all.
  std::optional<uint32_t> slots;

  /// The most processes of the job on it, oversubscribed or not; 0: any number.
  uint32_t max_slots = 0;
};

/// Reads `--host` or `--hostfile` as a choice among the nodes of a DVM that is
/// up: `n1,n[3-5]:2`. A node without a number gives all its slots.
/// @returns no nodes if neither is given, or an error in a sentence.
caf::expected<std::vector<chosen_node>> choose_nodes(const dvm_options& x,
                                                     const file_reader& read);

/// The value of PMIX_HOST.
std::string to_string(const std::vector<chosen_node>& nodes);

/// The nodes that have a largest number of processes, as `max_slots_key` wants
/// them; empty: none.
std::string max_slots_of(const std::vector<chosen_node>& nodes);

/// How many of a node's slots the choice leaves to the job.
/// @param name The node, as the DVM calls it.
uint32_t slots_of(const std::vector<chosen_node>& nodes, std::string_view name,
                  uint32_t slots);

} // namespace troupe
