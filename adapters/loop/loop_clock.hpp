#pragma once

#include "adapters/loop/loop_event.hpp"

#include <caf/actor_clock.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/atom.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>
#include <caf/system_messages.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

namespace troupe {

class actor_roster;
class event_loop;

/// The clock of the actors: delayed messages and timeouts on one timer of an
/// event loop. What is due at the same time is sent in the order it was asked
/// for; nothing is sent early. Safe on any thread; `close` and the destructor
/// on the thread of the loop or while it is not running.
///
/// CAF does not cancel the timeout of a request that was answered. It stays
/// here, and keeps the requester alive, until it is due or the requester ends.
class loop_clock : public caf::actor_clock {
public:
  /// @param roster Loses the actors that end, for CAF cancels the timeouts of
  ///               each of them.
  loop_clock(event_loop& loop, actor_roster& roster);

  void set_ordinary_timeout(time_point t, caf::abstract_actor* self,
                            caf::atom_value type, uint64_t id) override;

  void set_multi_timeout(time_point t, caf::abstract_actor* self,
                         caf::atom_value type, uint64_t id) override;

  void set_request_timeout(time_point t, caf::abstract_actor* self,
                           caf::message_id id) override;

  void cancel_ordinary_timeout(caf::abstract_actor* self,
                               caf::atom_value type) override;

  void cancel_request_timeout(caf::abstract_actor* self,
                              caf::message_id id) override;

  void cancel_timeouts(caf::abstract_actor* self) override;

  void schedule_message(time_point t, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;

  /// Does nothing: see `loop_coordinator` about groups.
  void schedule_message(time_point t, caf::group target,
                        caf::strong_actor_ptr sender,
                        caf::message content) override;

  void cancel_all() override;

  /// Drops everything, and from now on whatever is asked for.
  void close();

  /// @returns how much is waiting to be sent.
  size_t size() const;

private:
  /// When, and which of several at that time.
  using due = std::pair<time_point, uint64_t>;

  enum class kind : uint8_t { ordinary, multi, request };

  /// Names what can be cancelled: the actor, the kind, and which of that kind.
  using key = std::tuple<caf::actor_id, kind, uint64_t>;

  struct timeout {
    caf::strong_actor_ptr receiver;
    caf::timeout_msg content;
  };

  struct request_timeout {
    caf::strong_actor_ptr receiver;
    caf::message_id id;
  };

  struct actor_message {
    caf::strong_actor_ptr receiver;
    caf::mailbox_element_ptr content;
  };

  using what = std::variant<timeout, request_timeout, actor_message>;

  struct entry {
    std::optional<key> name;
    what content;
  };

  using node = std::map<due, entry>::node_type;

  void put(time_point t, entry x);
  void cancel(const key& name);
  std::optional<entry> take(const key& name);
  void arm();
  void fire();
  node take_due(time_point t);
  void put_back(node x) noexcept;
  static void send(what& x);

  actor_roster& roster_;
  mutable std::mutex mutex_;
  std::map<due, entry> schedule_; // guarded by mutex_
  std::map<key, due> names_;      // guarded by mutex_
  uint64_t last_ = 0;             // guarded by mutex_
  bool is_closed_ = false;        // guarded by mutex_
  loop_event timer_;
};

} // namespace troupe
