#pragma once

#include "actors/events/sensor_rules.hpp"
#include "messages/mesh.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace troupe {

/// Takes events of the environment to the nodes whose server has registered for
/// their codes, once to each and to no other. All nodes tell the root what
/// their servers want; the root tells each what others want, when that changes,
/// and hands events on. So a code that all nodes want costs a message a node,
/// and a code that nobody else wants none at all. Events of a node keep their
/// order. Those of a node itself need neither the root nor its sensors.
/// Source: RFC0002, "Server Registration" and "RM Notification"; guarantees 2,
/// class E.
class environment_spread {
public:
  struct effects {
    /// Tells another node what is wanted, in place of what it was told before.
    std::function<void(uint32_t rank, environment_interest what)> tell;

    /// Gives another node an event.
    std::function<void(uint32_t rank, environment_event what)> pass;

    /// Gives an event to this node's server, which has registered for it.
    std::function<void(environment_event what)> deliver;

    /// What the sensors of this node are to tell of from now on.
    std::function<void(environment_interest what)> watch;
  };

  environment_spread(uint32_t self, effects out)
    : self_(self), out_(std::move(out)) {
    // nop
  }

  /// This node's server registers; without codes, for all.
  void add(const std::vector<status>& codes);

  /// It does not want these any more; `default_events` takes back the
  /// registration for all.
  void remove(const std::vector<status>& codes);

  /// Something has happened to this node.
  void raise(environment_event what);

  /// At the root: what a node wants. Elsewhere: what others want, from the
  /// root.
  void take(uint32_t from, const environment_interest& what);

  /// At the root: of a node. Elsewhere: of another, from the root.
  void take(uint32_t from, environment_event what);

  /// A node is a member from now on, with nothing wanted; or no member any
  /// more.
  void change_member(uint32_t rank, bool is_live);

private:
  static constexpr uint32_t root = 0;

  bool is_root() const {
    return self_ == root;
  }

  bool wanted_here(status code) const {
    return own_.all || codes_.count(code) > 0;
  }

  /// To this node's server, if it has registered for it.
  void note(environment_event what);

  void change_own();
  void look_out();

  /// At the root: tells nodes what others want, if it is something else.
  void tell_all();

  /// At the root: to all who want it but its own node.
  void hand_on(uint32_t from, const environment_event& what);

  uint32_t self_;
  effects out_;

  /// What this node's server wants.
  environment_interest own_;
  std::set<status> codes_;

  /// What others want.
  environment_interest elsewhere_;
  environment_interest watched_;

  // -- at the root --
  std::set<uint32_t> members_;
  sensor_interest<uint32_t> interest_;
  std::map<uint32_t, environment_interest> told_;
};

/// What the root tells of when a member has come or gone.
/// @param name Of the node.
/// @param time Seconds since the epoch; none: the event does not say.
/// @param told Jobs whose processes have heard of its loss already.
environment_event event_of_member(const member_changed& what, bool is_live,
                                  const std::string& name,
                                  std::optional<int64_t> time,
                                  const std::set<std::string>& told);

/// What the server of a node is given of an event of the environment.
/// @param nspaces Those with processes at the node.
/// @returns nothing if all of them have heard of it.
std::optional<deliver_event>
event_for_server(environment_event what, const std::set<std::string>& nspaces);

} // namespace troupe
