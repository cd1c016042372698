#pragma once

#include "actors/mesh/remoting/known_interface.hpp"
#include "messages/actors.hpp"

#include <caf/actor_proxy.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe {

/// What the proxies of a gateway share with it, on any thread.
struct gateway_mail {
  /// Messages of proxies that the gateway has not looked at.
  std::atomic<uint64_t> waiting{0};

  /// Messages that were refused since too many wait.
  std::atomic<uint64_t> refused{0};

  uint64_t most = 0;
};

/// Stands for an actor of another node. Messages go to the GATEWAY, on whatever
/// thread they are sent; it ends when the actor does, or its node.
class remote_proxy final : public caf::actor_proxy {
public:
  remote_proxy(caf::actor_config& cfg, gateway_actor gateway,
               std::shared_ptr<gateway_mail> mail);

  const char* name() const override;

  void enqueue(caf::mailbox_element_ptr what,
               caf::execution_unit* unit) override;
  bool add_backlink(caf::abstract_actor* x) override;
  bool remove_backlink(caf::abstract_actor* x) override;
  void kill_proxy(caf::execution_unit* unit, caf::error why) override;

  /// Its actor has linked itself to one of ours, or no longer.
  void link_by_remote(caf::abstract_actor* x);
  void unlink_by_remote(caf::abstract_actor* x);

  /// Whether somebody wants to hear of its end.
  bool is_watched();

  /// What its node says that it understands, besides what it has said before.
  void learn(const std::vector<uint64_t>& digests);

  /// What is known of that, on any thread.
  known_interface interface();

private:
  void tell_link(caf::abstract_actor* x, bool is_linked);

  const gateway_actor gateway_;
  const std::shared_ptr<gateway_mail> mail_;
  known_interface interface_; // guarded by the mutex of all actors
};

} // namespace troupe
