#pragma once

#include "actors/mesh/embedded/host_offers.hpp"
#include "messages/mesh.hpp"
#include "runtime/mesh_member.hpp"
#include "runtime/remoting.hpp"
#include "runtime/runtime.hpp"

#include <caf/error.hpp>
#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct mesh_daemon_options {
  /// Who this node is, and where it finds the others.
  mesh_member_options member;

  /// How its actors reach theirs. `is_alone` is not looked at.
  remoting_options remote;

  /// The server for the processes of this node. Without a host name that of the
  /// member; without `around_host` the nodes of each job have a mesh
  /// (`job_meshes`).
  runtime_options server;

  /// What the host does over nodes; the servers of each job do the rest.
  host_offers offers;

  /// Hears what the node may do. One that is fenced (`mesh_duty::fenced`) is
  /// given up by the others, for good: nothing may run there any more. Called on
  /// the daemon's thread.
  std::function<void(const mesh_duty_changed&)> on_duty;

  /// Hears who becomes a member, leaves, or is lost. Called on the daemon's
  /// thread.
  std::function<void(const member_changed&)> on_member;
};

/// A node of a resource manager: a member of a DVM, whose actors and those of
/// the other nodes are each other's, with a server for the processes of its
/// node, on one loop and one thread. Of the library `troupe_mesh`.
///
///     auto options = troupe::mesh_daemon_options{};
///     options.member.context = *troupe::read_key(STDIN_FILENO);
///     options.member.root_name = "node0";
///     options.member.root_addresses = {{"", "10.0.0.1", 7200}};
///     options.offers.fence = true;
///     auto here = troupe::mesh_daemon::start(std::move(options), my_host);
///     auto why = (*here)->await_joining();
///
/// Functions that wait are for threads of one's own, and refuse to on the
/// daemon's; all are safe on any.
/// Source: docs/decisions/0007; docs/library.md.
class mesh_daemon {
public:
  /// Starts the thread, on which no signal is taken.
  /// @param make_host Called once, before anybody can connect.
  /// @returns why the node cannot work, in a sentence with the remedy.
  static caf::expected<std::unique_ptr<mesh_daemon>>
  start(mesh_daemon_options options, const runtime::host_maker& make_host);

  /// Ends without a word to the others (see `leave_mesh`), and joins the thread.
  /// Scoped actors must be gone.
  ~mesh_daemon();

  mesh_daemon(const mesh_daemon&) = delete;
  mesh_daemon& operator=(const mesh_daemon&) = delete;

  /// Waits until this node is a member.
  /// @returns `timeout` if that takes longer than `patience`, `unreach` with the
  ///          reason if the others have given it up.
  caf::error
  await_joining(std::chrono::nanoseconds patience = std::chrono::seconds{60});

  /// Waits until another node is a member, as far as this one knows.
  /// @param name As its certificate has it.
  /// @returns as `await_joining`.
  caf::error
  await_member(const std::string& name,
               std::chrono::nanoseconds patience = std::chrono::seconds{60});

  /// Where this node takes lanes: the root's are what others need for
  /// `mesh_member_options::root_addresses`. None before it has found networks.
  caf::expected<std::vector<node_address>> addresses();

  /// The system of all its actors; what is spawned in it must not block.
  caf::actor_system& actors();

  uint32_t rank() const noexcept;

  const std::string& name() const noexcept;

  /// The NODE and its identity.
  const mesh_member& member() const noexcept;

  /// Actors of other nodes, and which of this one they may reach.
  remoting& remote() noexcept;

  /// The server for the processes of this node.
  runtime& server() noexcept;

private:
  class implementation;

  explicit mesh_daemon(std::unique_ptr<implementation> x);

  std::unique_ptr<implementation> implementation_;
};

} // namespace troupe
