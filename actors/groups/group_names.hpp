#pragma once

#include "messages/actors.hpp"
#include "messages/data.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace troupe {

/// The groups that a process may name like namespaces, and who is meant: with
/// the wildcard rank all members, with rank k the one at place k.
/// Source: RFC0033, Description; reading A17.
class group_names {
public:
  /// Groups that the process may no longer name, for clear words only.
  static constexpr size_t most_former = 64;

  void learn(group_known what);

  /// Whether there is nothing to spell out.
  bool empty() const noexcept {
    return groups_.empty() && former_.empty();
  }

  /// The members of a group in the order of their ranks; null if `nspace` is
  /// none that the process may name.
  const std::vector<proc_id>* find(const std::string& nspace) const;

  /// Puts members in the place of groups. A process that is named twice
  /// because of that is named once.
  /// @param room How many processes all groups of the request may still become.
  /// @returns `bad_param` for a rank that the group has not, and for more
  ///          processes than there is room for, `invalid_namespace` for a group
  ///          that the process may not name.
  caf::error spell_out(std::vector<proc_id>& procs, size_t& room) const;

  /// Puts a member in the place of {group, rank}; the wildcard is refused.
  caf::error spell_out(proc_id& proc, size_t& room) const;

  /// Does the same to processes in the value of a reserved key. What the
  /// application writes under keys of its own stays as it is.
  caf::error spell_out(info& x, size_t& room, int depth = 0) const;
  caf::error spell_out(std::vector<info>& infos, size_t& room) const;

  /// The same for qualifiers, where PMIX_NSPACE may name a group if PMIX_RANK
  /// stands beside it.
  caf::error spell_out_qualifiers(std::vector<info>& infos, size_t& room) const;

private:
  caf::error spell_out_array(value& x, size_t& room, int depth) const;

  /// Whether `nspace` is a group; an error if it is one no longer.
  caf::expected<const std::vector<proc_id>*>
  members(const std::string& nspace) const;

  std::map<std::string, std::shared_ptr<const std::vector<proc_id>>> groups_;

  /// Those that were groups, oldest first, and the same to be looked up.
  std::deque<std::string> former_;
  std::unordered_set<std::string> former_names_;
};

// Spell out whoever a request names.

caf::error spell_out(const group_names& groups, fence_request& x);
caf::error spell_out(const group_names& groups, get_request& x);
caf::error spell_out(const group_names& groups, abort_request& x);
caf::error spell_out(const group_names& groups, refresh_cache_request& x);
caf::error spell_out(const group_names& groups, publish_request& x);
caf::error spell_out(const group_names& groups, lookup_request& x);
caf::error spell_out(const group_names& groups, unpublish_request& x);
caf::error spell_out(const group_names& groups, spawn_request& x);
caf::error spell_out(const group_names& groups, connect_procs_request& x);
caf::error spell_out(const group_names& groups, disconnect_procs_request& x);
caf::error spell_out(const group_names& groups, register_events_request& x);
caf::error spell_out(const group_names& groups, notify_request& x);
caf::error spell_out(const group_names& groups, query_request& x);
caf::error spell_out(const group_names& groups, log_request& x);
caf::error spell_out(const group_names& groups, job_control_request& x);
caf::error spell_out(const group_names& groups, monitor_request& x);
caf::error spell_out(const group_names& groups, allocation_request& x);
caf::error spell_out(const group_names& groups, group_construct_request& x);
caf::error spell_out(const group_names& groups, group_destruct_request& x);
caf::error spell_out(const group_names& groups, io_pull_request& x);
caf::error spell_out(const group_names& groups, io_push_request& x);

/// Asks where the members of a group run, one namespace and node after the
/// other, and puts the answers together.
/// Source: RFC0033, Description; PMIx Standard v5, `PMIx_Resolve_peers`,
/// `PMIx_Resolve_nodes`.
class group_places : public std::enable_shared_from_this<group_places> {
public:
  using peers = std::vector<proc_id>;

  /// What a server answers; without an answer there is nobody, or no node.
  struct questions {
    std::function<void(resolve_peers_request, std::function<void(peers)>)>
      peers_on;
    std::function<void(resolve_nodes_request, std::function<void(std::string)>)>
      nodes_of;
  };

  group_places(std::vector<proc_id> members, questions ask)
    : members_(std::move(members)), ask_(std::move(ask)) {
    // nop
  }

  /// The members on a node, in the order of their ranks in the group.
  /// @param node None: that of the server.
  void find_peers(const std::optional<std::string>& node,
                  std::function<void(peers)> done);

  /// The names of the nodes that have a member, separated by commas.
  void find_nodes(std::function<void(std::string)> done);

private:
  std::vector<std::string> namespaces() const;

  std::vector<proc_id> members_;
  questions ask_;
};

} // namespace troupe
