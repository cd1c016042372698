#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/value.hpp"

#include <memory>

namespace troupe {

/// Asks for the data of the requester's own job. First request of a client.
struct job_info_request {};

TROUPE_EMPTY_MESSAGE(job_info_request)

/// What is known of one rank.
struct rank_data {
  uint32_t rank = rank_undef;
  std::vector<key_value> entries;
};

TROUPE_MESSAGE(rank_data, x.rank, x.entries)

/// The data of a job: job-level entries (session, node and application arrays
/// among them), then the ranks.
/// Source: PMIx Standard v5, "Process-Related Non-Reserved Keys",
/// `PMIx_server_register_nspace`.
struct job_info {
  std::string nspace;
  std::vector<key_value> entries;
  std::vector<rank_data> ranks;
};

TROUPE_MESSAGE(job_info, x.nspace, x.entries, x.ranks)

/// The data of a job, shared by all who read it.
struct job_info_reply {
  std::shared_ptr<const job_info> info;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, job_info_reply& x) {
  auto copy = x.info ? *x.info : job_info{};
  if constexpr (Inspector::writes_state) {
    if (auto err = f(copy))
      return err;
    x.info = std::make_shared<const job_info>(std::move(copy));
    return caf::none;
  } else {
    return f(caf::meta::type_name("troupe.job_info_reply"), copy);
  }
}

/// Posted keys of one scope; of one that takes keys back, without values.
struct posted_data {
  scope visible_to = scope::undef;
  std::vector<key_value> entries;
};

TROUPE_MESSAGE(posted_data, x.visible_to, x.entries)

/// Hands the keys a process has put to its server.
/// Source: PMIx Standard v5, `PMIx_Commit`.
struct commit_request {
  std::vector<posted_data> blocks;
};

TROUPE_MESSAGE(commit_request, x.blocks)

/// Asks for posted or job-level data of a process.
/// Source: PMIx Standard v5, `PMIx_Get`.
struct get_request {
  proc_id target;
  std::vector<info> directives;

  /// Absent: all keys.
  std::optional<std::string> key;
};

TROUPE_MESSAGE(get_request, x.target, x.directives, x.key)

/// What is known of one process, or with the wildcard rank of a job.
struct proc_data {
  proc_id proc;
  std::vector<key_value> entries;
};

TROUPE_MESSAGE(proc_data, x.proc, x.entries)

struct get_result {
  std::vector<proc_data> blocks;
};

TROUPE_MESSAGE(get_result, x.blocks)

/// Asks for fresh data of a process. Source: OpenPMIx 5,
/// PMIX_GET_REFRESH_CACHE.
struct refresh_cache_request {
  proc_id target;
};

TROUPE_MESSAGE(refresh_cache_request, x.target)

struct refresh_cache_result {
  std::vector<key_value> entries;
};

TROUPE_MESSAGE(refresh_cache_result, x.entries)

/// Which processes of a namespace are on a node; absent: all.
/// Source: PMIx Standard v5, `PMIx_Resolve_peers`.
struct resolve_peers_request {
  std::optional<std::string> node;
  std::optional<std::string> nspace;
};

TROUPE_MESSAGE(resolve_peers_request, x.node, x.nspace)

struct resolve_peers_result {
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(resolve_peers_result, x.procs)

/// Which nodes host a namespace. Source: Standard v5, `PMIx_Resolve_nodes`.
struct resolve_nodes_request {
  std::optional<std::string> nspace;
};

TROUPE_MESSAGE(resolve_nodes_request, x.nspace)

struct resolve_nodes_result {
  /// Names, separated by commas.
  std::string nodes;
};

TROUPE_MESSAGE(resolve_nodes_result, x.nodes)

} // namespace troupe
