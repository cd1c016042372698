#pragma once

#include "actors/monitors/usage_request.hpp"
#include "messages/connection.hpp"
#include "messages/query.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Which processes run on this node, as its host says: for a while, or until
/// one of them ends.
class local_procs {
public:
  using time = std::chrono::nanoseconds;

  /// What a request for processes means here.
  struct selection {
    std::vector<proc_info> procs;

    /// Whether processes may run on other nodes that are meant, too.
    bool others = false;
  };

  /// Takes an answer to PMIX_QUERY_LOCAL_PROC_TABLE: of these namespaces there
  /// is nothing else.
  void add(const std::vector<std::string>& nspaces, const info_result& answer,
           time now);

  /// Those of `nspaces` that have to be asked for (again).
  std::vector<std::string> stale(const std::vector<std::string>& nspaces,
                                 time now, time age) const;

  void proc_ended(const proc_id& proc);

  void remove(const std::string& nspace);

  /// Those of `nspaces` that a request means.
  selection select(const usage_request& request,
                   const std::vector<std::string>& nspaces,
                   const std::string& hostname,
                   std::optional<uint32_t> node_id) const;

private:
  struct table {
    std::vector<proc_info> procs;
    time since{0};
  };

  std::map<std::string, table> tables_;
};

/// The namespaces that a request names; empty: it names none.
std::vector<std::string> nspaces_of(const usage_request& request);

/// Asks for the processes of this node in some namespaces.
query_request query_local_procs(const std::vector<std::string>& nspaces);

/// Asks which namespaces there are.
query_request query_nspaces();

/// @param answer To `query_nspaces`: names with commas between.
std::vector<std::string> nspaces_in(const info_result& answer);

} // namespace troupe
