#pragma once

#include "actors/mesh/members/node_root.hpp"
#include "config/defaults.hpp"

#include <set>

namespace troupe {

/// Who a daemon is, and how its DVM is made.
struct node_settings {
  std::string name;

  /// Unique among the daemons of the node, and larger than that of any former
  /// one: seconds in the upper half, chance in the lower. If the clock went
  /// back and it is not larger, another one is taken before the daemon joins.
  uint64_t incarnation = 0;

  /// Whether the lock of the session directory says that a former daemon of the
  /// node and its processes are gone.
  bool is_predecessor_gone = false;

  /// Where the daemon takes lanes.
  std::vector<node_address> addresses;

  uint32_t radix = defaults::tree_radix;
  node_times times;

  /// The root has the names of all nodes, its own first; others have none.
  std::vector<std::string> names;
};

/// A daemon's part in the membership of its DVM: knows who belongs to it, holds
/// on to the root, notices who falls silent, and ends when it has been given
/// up.
///
/// The *lifeline* is not a connection: it is knowing that the root was there a
/// short while ago. Any member can pass that on, with its age, so a lost lane,
/// a lost parent, even a lost way to the root changes nothing as long as
/// anybody has one; only then the lease runs down. A contact counts once all
/// epochs issued before it are known; so whoever has been declared dead hears
/// it, or has no later contact than the verdict.
///
/// Plain data: calls and time in, effects out, in the order in which they have
/// to be carried out. `now` is of a clock that counts suspension; it never goes
/// back. Source: guarantees, section 5.4; requirements L1, L5, L8, X42.
class node_membership {
public:
  explicit node_membership(node_settings settings);

  /// Says that time has passed; to be called every `times.probe`, or after as
  /// long as `rest` says, and after every sleep before anything else.
  /// @param due When it was to be called, if later than `times.probe` after the
  ///            last time: who comes later than that excuses others.
  node_effects tick(node_time now, node_time due = node_time{0});

  /// How long `tick` has nothing to do; it changes with every call.
  node_time rest(node_time now) const;

  /// A message of a member, or of the root while we join.
  /// @param rank, incarnation  who sent it, as its session says.
  node_effects receive(uint32_t rank, uint64_t incarnation, node_message what,
                       node_time now);

  /// A member has sent something that is not for us: it is alive.
  node_effects note_alive(uint32_t rank, uint64_t incarnation, node_time now);

  /// At the root: somebody who is no member wants to be one.
  /// @param via  comes back in the answer.
  node_effects join(const node_join& x, uint64_t via, node_time now);

  /// No lane leads to that member any more. Losing one of several is no news.
  node_effects lost_route(uint32_t rank, node_time now);

  /// A session has begun with an incarnation that the list may not know: asks
  /// it for what it knows.
  node_effects met(uint32_t rank, uint64_t incarnation, node_time now);

  /// The daemon takes lanes elsewhere from now on.
  node_effects moved(std::vector<node_address> addresses, node_time now);

  /// At the root: see `node_root::declare_lost`.
  node_effects declare_lost(uint32_t rank, bool is_certain, node_time now);

  /// All processes of this node are gone: a daemon that ends orderly, or was
  /// fenced, says good-bye. The root dismisses everybody: the DVM ends.
  node_effects end(node_time now);

  /// At a root that has ended: who has been dismissed and has not said good-bye
  /// yet.
  const std::set<uint32_t>& dismissed() const {
    return dismissed_;
  }

  bool is_root() const {
    return root_.has_value();
  }

  uint32_t rank() const {
    return rank_;
  }

  uint64_t incarnation() const {
    return settings_.incarnation;
  }

  node_duty duty() const {
    return duty_;
  }

  const node_list& list() const {
    return list_;
  }

  /// When the root was there, at the least.
  node_time contact() const {
    return contact_;
  }

  /// Whether a message of that incarnation may be acted on.
  /// Source: guarantees, P-M1 and LINK-4.
  bool accepts(uint32_t rank, uint64_t incarnation) const {
    return duty_ != node_duty::fenced && list_.is_live(rank, incarnation);
  }

private:
  struct testimony {
    uint64_t incarnation = 0;
    node_time until{0};
    std::map<uint32_t, uint64_t> askers;
  };

  bool is_over(node_time now);
  void set_duty(node_duty x, std::string reason);
  void excuse(node_time now, node_time due);

  void send(uint32_t rank, node_message what);
  void send(uint32_t rank, uint64_t incarnation, node_message what);
  void query(uint32_t rank, node_time now);

  node_join own_join(node_time now) const;
  void ask_to_join(node_time now);
  void adopt(const node_update& x, node_time now);
  void watch_children(node_time now);
  bool is_contact_old(node_time now) const;
  void look_for_root(node_time now);
  std::vector<uint32_t> ways_up() const;
  void look_for_silent(node_time now);
  void testify(uint32_t suspect, bool is_reachable);
  void heard(uint32_t rank, node_time now);
  void decide(node_time now);

  void on(uint32_t rank, const node_update& x, node_time now);
  void on(uint32_t rank, const node_update_request& x, node_time now);
  void on(uint32_t rank, const node_query& x, node_time now);
  void on(uint32_t rank, const node_answer& x, node_time now);
  void on(uint32_t rank, const node_witness_request& x, node_time now);
  void on(uint32_t rank, const node_witness& x, node_time now);
  void on(uint32_t rank, const node_suspicion& x, node_time now);
  void on(uint32_t rank, const node_departure& x, node_time now);

  template <class T>
  void on(uint32_t, const T&, node_time) {
    // What only those who join are told, or who is told that it is dead.
  }

  void on_joining(const node_message& what, node_time now);

  node_settings settings_;
  uint32_t rank_ = 0;
  node_list list_;
  node_watch watch_;
  std::optional<node_root> root_;
  node_duty duty_ = node_duty::joining;

  /// When we looked at the time last.
  std::optional<node_time> last_tick_;

  /// The latest time at which the root surely was there, and when we learned
  /// it.
  node_time contact_{0};
  node_time contact_learned_{0};

  /// Whom we ask for it, when next, and which of the ways up we try if that
  /// one knows nothing new.
  uint32_t upstream_ = 0;
  node_time next_query_{0};
  size_t next_way_ = 0;

  /// Whom we have been asked about.
  std::map<uint32_t, testimony> testimonies_;

  std::set<uint32_t> dismissed_;

  node_effects out_;
};

} // namespace troupe
