#pragma once

#include "actors/data/job_locations.hpp"
#include "messages/connection.hpp"

#include <caf/expected.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Names of the processes that are connected to this node and belong to no job,
/// by their connections.
class connected_tools {
public:
  /// @param server Namespace of the server, with which names of jobs begin.
  connected_tools(std::string server, uint32_t node)
    : server_(std::move(server)), node_(node) {
    // nop
  }

  /// Confirms the name of a tool, or gives it one.
  /// @returns `no_permissions` for a name of jobs, and for a scheduler.
  /// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
  caf::expected<proc_id> identify(const requester& who);

  void forget(uint32_t connection) {
    all_.erase(connection);
  }

  const std::map<uint32_t, proc_id>& all() const {
    return all_;
  }

  /// The tools among `targets`, or all, by their namespaces: none that belongs
  /// to a job by now.
  std::map<std::string, std::vector<proc_id>>
  among(const std::vector<proc_id>& targets, const job_locations& places) const;

  /// Whether any of these is connected here.
  bool has(const std::vector<proc_id>& procs,
           const job_locations& places) const;

  /// The tools that a name stands for, ascending.
  std::vector<proc_id> named(const proc_id& what) const;

private:
  bool is_taken(const std::string& nspace) const;

  std::string server_;
  uint32_t node_;
  std::map<uint32_t, proc_id> all_;
  uint32_t next_ = 1;
};

} // namespace troupe
