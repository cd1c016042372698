#pragma once

#include "adapters/loop/loop_system.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"
#include "messages/handle_interface.hpp"
#include "messages/wire_types.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/expected.hpp>
#include <caf/message.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

class mesh_member;

struct remoting_options {
  /// Bytes for one node that wait here until it takes more; beyond that messages
  /// are refused: requests fail with `status::out_of_resource`, others are
  /// counted.
  size_t queue_bytes = size_t{256} << 20;

  /// Of one message; below 256 MiB.
  size_t message_bytes = size_t{64} << 20;

  /// Nobody else in this process uses the member (`mesh_user_actor`): no host.
  bool is_alone = false;

  /// How long the loop of a member that is alone looks for more before it sleeps,
  /// while messages come in quick succession: to be woken takes longer than most
  /// messages do. Not if the process may use one processor only. 0: never, as for
  /// a process that serves jobs besides.
  std::chrono::nanoseconds look = std::chrono::microseconds{100};

  journal log;
};

/// Actors of other nodes as handles: `send`, `request`, `delegate`, `monitor`,
/// `link` and handles in messages work with actors of all members of a DVM as CAF
/// has them within one system. Of the library `troupe_mesh`.
///
/// Between two nodes messages arrive once and in order while both are members.
/// When a node is lost, each request to it that is open fails once
/// (`sec::remote_linking_failed`), each monitor of one of its actors gets its
/// `down_msg`, each link its `exit_msg`, after all that has come from there.
///
/// A node takes only types that its program has allowed, and only messages for
/// actors whose handle it has given out, in a message or by publishing them. Typed
/// handles in messages must be of actors that understand what their types say. A
/// request that it refuses fails with an error that says why; other messages are
/// counted (`get_gauges`).
///
/// All functions are safe on any thread while the object is there. Those that say
/// so block, and fail on the thread of the loop: actors ask `gateway()` instead.
/// They fail with `status::timeout` when nobody has run the loop for five seconds.
/// Source: docs/decisions/0007, 0023.
class remoting {
public:
  /// Runtimes that are started on the loop after it have other nodes, too: for
  /// kinds of monitors (`monitor_peers`).
  /// @param loop   Must outlive this. For its thread, or while nobody runs it.
  /// @param member The node; its actors bear its rank and incarnation
  ///               (`caf::node_id`) if they were spawned after it.
  static std::unique_ptr<remoting> start(loop_system& loop,
                                         const mesh_member& member,
                                         remoting_options options = {});

  /// Handles of actors elsewhere are as if their nodes were lost.
  ~remoting();

  remoting(const remoting&) = delete;
  remoting& operator=(const remoting&) = delete;

  /// Who does all of this: for actors that ask without blocking, such as
  ///
  ///     using troupe::remoting;
  ///     self->request(remote.gateway(), 5s,
  ///                   remoting::lookup<adder>(rank, "adder"))
  ///       .then([=](const caf::strong_actor_ptr& x) {
  ///         self->send(caf::actor_cast<adder>(x), 1, 2);
  ///       });
  const gateway_actor& gateway() const noexcept {
    return gateway_;
  }

  /// Takes messages with these types from other nodes: types that have an ID of
  /// their own, and for a typed handle all types of its interface. Numbers,
  /// `bool`, `std::string`, atoms, `caf::actor`, `caf::error`, `caf::unit_t` and
  /// what CAF sends about the end of actors are taken always.
  template <class... Ts>
  void accept() {
    accept(wire_types<Ts...>());
  }

  void accept(std::vector<wire_type> types);

  /// Lets other nodes find an actor.
  /// @param who Every member, some nodes, or those of the same user.
  template <class Handle>
  void publish(const Handle& x, std::string name, actor_audience who = {}) {
    publish(publish_actor{std::move(name),
                          caf::actor_cast<caf::strong_actor_ptr>(x),
                          interface_of<Handle>(), std::move(who)});
  }

  void publish(publish_actor what);
  void unpublish(std::string name);

  /// Lets other nodes have actors spawned here.
  template <class Handle = caf::actor>
  void register_kind(std::string name,
                     std::function<Handle(const caf::message&)> make,
                     actor_audience who = {}) {
    auto factory = [make = std::move(make)](const caf::message& x) {
      return caf::actor_cast<caf::strong_actor_ptr>(make(x));
    };
    register_kind(register_actor_kind{std::move(name), std::move(factory),
                                      interface_of<Handle>(), std::move(who)});
  }

  void register_kind(register_actor_kind what);

  /// What to ask the gateway for a published actor; without rank: of any node.
  template <class Handle = caf::actor>
  static lookup_actor lookup(std::optional<uint32_t> rank, std::string name) {
    return {rank, std::move(name), interface_of<Handle>()};
  }

  /// What to ask the gateway to have an actor spawned elsewhere.
  template <class Handle = caf::actor, class... Ts>
  static spawn_actor spawn(uint32_t rank, std::string kind, Ts&&... arguments) {
    return {rank, std::move(kind),
            caf::make_message(std::forward<Ts>(arguments)...),
            interface_of<Handle>()};
  }

  /// Blocks until a published actor is found, or why not is known.
  template <class Handle = caf::actor>
  caf::expected<Handle>
  remote_lookup(std::optional<uint32_t> rank, std::string name,
                std::chrono::nanoseconds wait = std::chrono::seconds{15}) {
    return found_as<Handle>(ask(lookup<Handle>(rank, std::move(name)), wait));
  }

  /// Blocks until an actor is spawned elsewhere, or why not is known.
  template <class Handle = caf::actor, class... Ts>
  caf::expected<Handle> remote_spawn(uint32_t rank, std::string kind,
                                     std::chrono::nanoseconds wait,
                                     Ts&&... arguments) {
    return found_as<Handle>(
      ask(spawn<Handle>(rank, std::move(kind), std::forward<Ts>(arguments)...),
          wait));
  }

  /// An actor as a handle of another type. Where `caf::actor_cast` takes the word of
  /// the program, this fails with `sec::unexpected_actor_messaging_interface` for an
  /// actor of another node that does not understand all of it, by what its node has
  /// said of it: by publishing or spawning it, or with typed handles in messages.
  /// Of one that nothing was said of, or of this process, the word of the program
  /// holds.
  template <class Handle, class From>
  static caf::expected<Handle> cast(const From& x) {
    auto actor = caf::actor_cast<caf::strong_actor_ptr>(x);
    if (auto why = check(actor, handle_interface{interface_of<Handle>()}))
      return why;
    return caf::actor_cast<Handle>(std::move(actor));
  }

private:
  remoting() = default;

  static caf::error check(const caf::strong_actor_ptr& x,
                          const handle_interface& needed);

  template <class Handle>
  static caf::expected<Handle>
  found_as(caf::expected<caf::strong_actor_ptr> x) {
    if (!x)
      return std::move(x.error());
    return caf::actor_cast<Handle>(*x);
  }

  template <class Question>
  caf::expected<caf::strong_actor_ptr>
  ask_gateway(Question what, std::chrono::nanoseconds wait);

  caf::expected<caf::strong_actor_ptr> ask(lookup_actor what,
                                           std::chrono::nanoseconds wait);
  caf::expected<caf::strong_actor_ptr> ask(spawn_actor what,
                                           std::chrono::nanoseconds wait);

  loop_system* loop_ = nullptr;
  gateway_actor gateway_;

  /// Whether the loop looks for messages because of this.
  bool looks_ = false;
};

/// The rank of the node of an actor; none for one of a node that is no member of
/// a DVM.
std::optional<uint32_t> rank_of(const caf::node_id& node);

} // namespace troupe
