#pragma once

#include "actors/mesh/remoting/content_size.hpp"
#include "actors/mesh/remoting/known_interface.hpp"
#include "messages/actors.hpp"

#include <caf/actor_proxy.hpp>
#include <caf/type_erased_tuple.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe {

namespace defaults {

/// So many messages may wait for the gateway before the bytes of further ones are
/// counted: to count takes a part of the time that writing takes, which those who
/// do not flood need not spend.
inline constexpr uint64_t gateway_mail_uncounted = 64;

/// What a message is taken for at least whose bytes cannot all be counted.
inline constexpr uint64_t gateway_mail_guess = uint64_t{4} << 10;

} // namespace defaults

/// What the proxies of a gateway share with it, on any thread: messages that the
/// gateway has not looked at.
class gateway_mail {
public:
  /// @param most, most_bytes How many there may be; the bytes of the first ones
  ///                         are not counted.
  gateway_mail(uint64_t most, uint64_t most_bytes)
    : most_(most), most_bytes_(most_bytes) {
    // nop
  }

  /// A message comes.
  /// @returns whether it may; then `leave` has to follow.
  bool enter();

  /// What it has in it is counted, once there are some.
  /// @param size What `leave` is to be told, whether there is room or not.
  /// @returns whether there is room for it.
  bool add(const caf::type_erased_tuple& content, content_size& size);

  /// The gateway looks at a message, or it cannot stay.
  void leave(const content_size& size);

  /// It has written one that could not be counted.
  void learn(uint64_t bytes);

  uint64_t waiting() const {
    return waiting_.load(std::memory_order_relaxed);
  }

  uint64_t most() const {
    return most_;
  }

  uint64_t bytes() const {
    return bytes_.load(std::memory_order_relaxed);
  }

  uint64_t most_bytes() const {
    return most_bytes_;
  }

  /// Messages that were refused since too many wait, or too many bytes.
  uint64_t refused() const {
    return refused_.load(std::memory_order_relaxed);
  }

private:
  const uint64_t most_;
  const uint64_t most_bytes_;
  std::atomic<uint64_t> waiting_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> guess_{defaults::gateway_mail_guess};
  std::atomic<uint64_t> refused_{0};
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
