#pragma once

#include "actors/server/registry.hpp"
#include "actors/server/server.hpp"
#include "actors/server/wait_report.hpp"
#include "base/all_of.hpp"
#include "messages/value.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Questions about the node and its jobs: some are answered here, the rest is
/// asked of the EVENT CACHE, the MONITOR DESK, the groups and the host.
/// Source: PMIx Standard v5, `PMIx_Query_info`, `PMIx_Resolve_peers`.
class queries {
public:
  /// @param self  The SERVER.
  /// @param waits The collective operations of this node that are under way.
  queries(server_actor::pointer self, const server_options& options,
          const server_directory& directory, const registry& known,
          std::function<std::vector<wait_part>()> waits);

  caf::result<info_result> answer(const requester& who, query_request& request);

  /// The processes of a job, or of all jobs, on a node.
  caf::expected<resolve_peers_result>
  peers(const resolve_peers_request& request) const;

  /// The nodes of a job.
  caf::expected<resolve_nodes_result>
  nodes(const resolve_nodes_request& request) const;

private:
  struct progress;

  using job = all_of<progress>;

  void sample(const std::string& key, const job& all);

  /// The collective operations of this node that `who` may see.
  std::vector<wait_part> waits_for(const requester& who) const;

  bool answer_waits(const requester& who, const std::string& key,
                    const job& all);

  bool answer_here(const std::string& key, const std::vector<info>& qualifiers,
                   const job& all);

  template <class Handle>
  void ask_other(const Handle& other, const requester& who,
                 query_request request, const job& all);

  void ask_own_groups(const requester& who, query what, const job& all);

  void ask_groups(const requester& who, query what, const job& all);

  server_actor::pointer self_;
  const server_options& options_;
  const server_directory& directory_;
  const registry& known_;
  std::function<std::vector<wait_part>()> waits_;
};

} // namespace troupe
