#pragma once

#include "actors/groups/local_uses.hpp"
#include "config/defaults.hpp"
#include "messages/actors.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// The groups of a node: which of them a call or an event belongs to, and who
/// may make one.
///
/// Groups of one identifier and the same participants follow each other: the
/// n-th construction that a process calls belongs to the n-th group, so that
/// all nodes count alike. Disjoint processes may use one identifier at once.
/// Source: RFC0033; guarantees 5.5, 5.6; limits L17.
class group_directory {
public:
  using use = group_use;

  struct open_group {
    /// What it is found by, here.
    const group_key* key = nullptr;

    /// None while the group rests: there is only what its tracker said last.
    group_tracker_actor tracker;
    std::string rest;

    /// How many messages the tracker has been sent.
    uint64_t sent = 0;

    /// Whether somebody else has been given the tracker, and may ask it.
    bool is_lent = false;

    /// The participants on this node.
    local_uses local;

    /// As the tracker has told last; null: it is no group.
    std::shared_ptr<const std::vector<proc_id>> members;

    /// The namespace whose process began it, for which it counts.
    std::string nspace;

    /// Whose invitation it is, if it is one.
    std::optional<proc_id> leader;

    /// Whether a call of this node says who bootstraps it.
    bool is_led = false;
  };

  /// @param most Groups that processes of one namespace may have begun (L17).
  explicit group_directory(size_t most = defaults::groups_per_namespace)
    : most_(most) {
    // nop
  }

  /// To what a call of a construction leads.
  struct placement {
    group_key key;

    /// Whether the group has to be made.
    bool is_new = false;

    /// Whether other nodes take part, and count alike.
    bool is_counted = false;

    /// Whether the group cannot be: the caller has to do with another of the
    /// same name.
    bool is_conflict = false;

    /// Constructions that cannot complete for that reason, either.
    std::vector<group_key> conflicting;
  };

  /// Where a construction belongs that `caller` calls.
  /// @param participants Spelt out, ascending, each once.
  /// @param is_local Whether they are all on this node.
  /// @returns `exists` if it has called this construction already,
  ///          `out_of_resource` at a limit.
  caf::expected<placement> place(const proc_id& caller, const std::string& id,
                                 const std::vector<proc_id>& participants,
                                 bool is_local);

  /// The key of a new invitation.
  caf::expected<group_key> invitation(const proc_id& leader,
                                      const std::string& id,
                                      const std::vector<proc_id>& participants);

  /// Adds a group.
  /// @param nspace Whose process begins it.
  open_group& add(const group_key& key, const std::string& nspace,
                  bool is_counted);

  /// Null if there is none.
  open_group* find(const group_key& key);

  /// Whether the group was here and is over.
  bool is_over(const group_key& key) const;

  void remove(const group_key& key);

  /// A namespace is gone.
  void forget(const std::string& nspace);

  /// A process is gone for good, though its namespace is there.
  void forget(const proc_id& proc) {
    ended_.erase(proc);
  }

  /// The groups of this name in which `proc` takes part, oldest first.
  std::vector<std::pair<const group_key*, open_group*>>
  of(const proc_id& proc, const std::string& id);

  /// All groups.
  std::map<group_key, open_group>& all() {
    return groups_;
  }

  const std::map<group_key, open_group>& all() const {
    return groups_;
  }

  /// How many sets of participants have had groups.
  size_t counted() const;

  /// How many groups may be begun yet that count for a namespace.
  size_t room(const std::string& nspace) const;

  /// A node is lost. It may come back.
  void note_lost(uint32_t rank) {
    lost_.insert(rank);
  }

  /// All nodes that were ever lost.
  const std::set<uint32_t>& lost() const {
    return lost_;
  }

  /// A local process has ended. It may be restarted.
  void note_ended(const proc_id& proc) {
    ended_.insert(proc);
  }

  /// All local processes that have ever ended and are registered still.
  const std::set<proc_id>& ended() const {
    return ended_;
  }

  /// The number of the next group of this node.
  uint64_t next_number() {
    return ++numbers_;
  }

  /// Stands for a set of processes: the same on all nodes; 0 for none.
  static uint64_t hash(const std::vector<proc_id>& ascending);

private:
  /// By what stands for identifier and participants.
  using counts = std::unordered_map<uint64_t, uint32_t>;

  static uint64_t signature(const group_key& key);

  /// Why a process of this namespace may not begin another group, if so.
  caf::error refusal(const std::string& nspace) const;

  size_t most_;
  std::map<group_key, open_group> groups_;

  /// How many groups each set has had, by the namespace that they count for.
  std::map<std::string, counts> counts_;

  /// Invitations that are over, the oldest first.
  std::deque<group_key> invitations_;
  uint64_t numbers_ = 0;
  std::set<uint32_t> lost_;
  std::set<proc_id> ended_;
};

} // namespace troupe
