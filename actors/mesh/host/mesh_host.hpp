#pragma once

#include "actors/io/output_formatter.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

class descriptor_budget;
class trace_ring;

/// A node of the DVM, as the root is told.
struct mesh_node {
  std::string name;

  /// Processes it takes without being oversubscribed; absent: as many as its
  /// own daemon says.
  std::optional<uint32_t> slots;

  /// Processes that it never takes more of, oversubscribed or not; 0: any
  /// number.
  uint32_t max_slots = 0;
};

/// Commands of the site, with their first arguments; none: there is no such
/// hook. What else they are told: see messages/site_hook.hpp.
struct site_hooks {
  /// Saves a process from outside: gets the id of the checkpoint.
  std::vector<std::string> checkpoint;

  /// What programs start with that the former saved.
  std::vector<std::string> restart;

  /// Puts an image on nodes: gets the list of nodes and the image. At the root.
  std::vector<std::string> provision;
};

/// What the host of a node is told when it starts.
struct mesh_host_options {
  /// The server it works for.
  proc_id server;
  std::string hostname;

  /// Processes that this node takes without being oversubscribed.
  uint32_t slots = 1;

  /// Processors of this node that jobs may use, whatever its slots are; 0:
  /// unknown.
  uint32_t processors = 0;

  /// What jobs inherit, `NAME=value`.
  std::vector<std::string> environment;

  std::string session_directory;
  std::string working_directory;

  /// Whether processes of jobs find a PMI-1 server.
  bool with_pmi1 = false;

  /// The descriptors of this daemon; nullptr: it has no bound.
  std::shared_ptr<descriptor_budget> descriptors;

  /// This node's rank in its DVM; the root is 0.
  uint32_t rank = 0;

  /// As the other nodes know this daemon; 0 alone.
  uint64_t incarnation = 0;

  /// At the root: all nodes by rank, itself among them; none: it is alone.
  std::vector<mesh_node> nodes;

  /// Called once when a fenced daemon runs nothing any more and has said
  /// good-bye to the others.
  std::function<void(const std::string& reason)> on_fenced;

  /// Whose DVM it is: only this user's tools, and the administrator's, may end
  /// it. Absent: all tools that the server lets in.
  std::optional<uint32_t> owner;

  /// Called at the root when a tool of the owner ends the DVM.
  std::function<void()> on_terminate;

  /// Called for each change, beside what the host does itself.
  std::function<void(const mesh_duty_changed&)> on_duty;
  std::function<void(const member_changed&)> on_member;

  site_hooks hooks;

  /// At the root: the checkpoints of an earlier DVM, and what keeps those of
  /// this one; both may be empty. See `control_means::keep`.
  std::string checkpoints;
  std::function<void(std::string checkpoints, std::function<void()> then)>
    keep_checkpoints;

  /// Seconds since the epoch, as events of the environment say; none: they do
  /// not.
  std::function<int64_t()> wall_clock;

  /// The local time of a moment in nanoseconds since 1970, as RFC 3339 has it,
  /// for output that tools want with times.
  std::function<std::string(int64_t)> show_time;

  /// Gets, when the host starts, what knows the hosts of processes of the jobs
  /// that concern this node; for the thread of the host only.
  std::function<void(output_formatter::hosts)> on_hosts;

  journal log;

  /// Remembers what becomes of collective operations and events; null: nothing
  /// does.
  std::shared_ptr<trace_ring> trace;
};

/// The actors that the host works with.
struct mesh_host_directory {
  process_launcher_actor launcher;
  topology_actor topology;
  cleaner_actor cleaner;

  /// Takes the output of jobs that nobody else wants.
  output_sink_actor sink;

  /// Runs the hooks of the site; may be missing.
  command_runner_actor commands = {};

  /// The streams of the processes of this node, and those of other nodes that
  /// somebody here wants.
  io_desk_actor io_desk = {};
};

/// The resource manager of a DVM, as far as it is on this node. The host of the
/// root maps jobs to nodes, decides what becomes of them, keeps published data
/// and answers questions; every host runs its shares of jobs. A node that is
/// alone is a root without others. What it does not offer it refuses with
/// `not_supported`.
mesh_host_actor spawn_mesh_host(caf::actor_system& sys,
                                mesh_host_options options,
                                mesh_host_directory directory);

} // namespace troupe
