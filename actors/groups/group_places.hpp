#pragma once

#include "messages/data.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

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
