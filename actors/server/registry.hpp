#pragma once

#include "actors/data/datastore.hpp"
#include "actors/data/job_data.hpp"
#include "actors/data/job_memory.hpp"
#include "actors/server/registrations.hpp"
#include "base/journal.hpp"
#include "messages/event.hpp"
#include "messages/host.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// A registered process of this node.
struct local_proc {
  proc_state state = proc_state::prepped;

  /// Open connections; a forked child shares its parent's rank.
  size_t connections = 0;

  /// Whether it has finalized since it last connected.
  bool finalized = false;

  /// Whether it may still connect for the first time.
  bool is_awaited = false;

  /// Whether the host lets it connect: it may register it as a participant
  /// first.
  bool may_connect = true;

  /// The connection by which it posts in shared memory; 0: none.
  uint32_t posts_by = 0;

  /// Whether it will take part in nothing any more.
  bool is_gone() const {
    return state >= proc_state::terminated && state != proc_state::undef;
  }
};

/// A namespace that the host has registered.
struct namespace_entry {
  explicit namespace_entry(const datastore::limits& bounds) : posted(bounds) {
    // nop
  }

  credentials owner;
  job_data data;
  datastore posted;
  std::map<uint32_t, local_proc> procs;

  /// What the server shares with its processes; null: nothing.
  std::shared_ptr<job_memory> memory{};

  /// The data that are there; null: none. Others may have come since.
  std::shared_ptr<const job_info> data_in_memory{};

  /// What processes are sent instead of them: the same for all, since what it is
  /// packed to is kept.
  std::shared_ptr<const job_info> note_of_memory{};

  /// Whether there is none, for good.
  bool lacks_memory = false;

  /// Whether the log says why some of its processes share none.
  bool has_told_unshared = false;

  /// Made for a tool, and goes with it.
  bool is_tool = false;

  /// Known by its processes only: the host has registered them first.
  bool is_provisional = false;

  /// Runs on other nodes; its data came from there.
  bool is_foreign = false;

  /// Whether all its processes are on this node.
  bool is_local() const {
    const auto size = data.job_size();
    return size && *size == procs.size();
  }

  /// Whether its processes may be started again: `restarts_key`.
  bool restarts() const {
    return data.find(restarts_key) != nullptr;
  }

  /// Whether a process on this node posts in its memory, by one connection.
  bool shares_memory(uint32_t rank) const;

  /// Whether all of them do.
  bool shares_memory() const;
};

/// Has the log say, once for a namespace, why processes of it share no memory with
/// the server.
void tell_unshared(namespace_entry& entry, const std::string& nspace,
                   const std::string& why, const journal& log);

/// What the host registers on a node: namespaces with their processes, resources
/// of no namespace, sets of processes; and which processes a list of them names.
/// Source: PMIx Standard v5, "Server-Specific Interfaces".
class registry {
public:
  struct effects {
    /// Events are kept for these processes from now on.
    std::function<void(expect_procs)> expect;

    /// An event of the server itself for all local processes.
    std::function<void(status, std::vector<info>)> announce;
  };

  /// @param bounds How much processes may keep posted.
  /// @param counts Kept up to date for whoever takes connections; never null.
  registry(const datastore::limits& bounds,
           std::shared_ptr<registrations> counts, effects out);

  // -- namespaces and processes --

  /// Registers a namespace, or completes one whose processes came first.
  /// @returns why it is refused, if so.
  caf::error add(register_nspace& request);

  /// Registers one process.
  caf::error add(const register_client& request);

  /// Makes a namespace of its own for a tool, or of a job of other nodes.
  namespace_entry& add(const std::string& nspace, const credentials& owner,
                       job_data data);

  /// Forgets a namespace.
  void forget(const std::string& nspace);

  /// Null if there is none.
  namespace_entry* find(const std::string& nspace);

  const namespace_entry* find(const std::string& nspace) const;

  local_proc* find_local(const proc_id& proc);

  const local_proc* find_local(const proc_id& proc) const;

  const std::map<std::string, namespace_entry>& namespaces() const {
    return namespaces_;
  }

  /// `proc` has connected, or never will.
  void stop_awaiting(const proc_id& proc);

  /// The processes of a namespace that is about to be forgotten count no more.
  void stop_counting(const namespace_entry& entry);

  const registrations& counts() const {
    return *counts_;
  }

  // -- resources and process sets --

  caf::error add_resources(register_resources& request);

  void remove_resources(const deregister_resources& request);

  caf::error define_set(define_process_set& request);

  caf::error delete_set(const delete_process_set& request);

  const std::map<std::string, std::vector<proc_id>>& process_sets() const {
    return process_sets_;
  }

  // -- lists of processes --

  /// Checks the processes that a collective call names.
  /// @returns how many they are, a wildcard as many as its job has; an error if
  ///          there is no such namespace (`invalid_namespace`), or if a job has
  ///          no such rank (`bad_param`).
  /// Source: PMIx Standard v5, `PMIx_Fence`, `PMIx_Connect`,
  /// `PMIx_Group_construct`.
  caf::expected<uint64_t> count_named(const std::vector<proc_id>& procs) const;

  /// Each process once, and a namespace that is named whole as its wildcard, so
  /// that naming all its ranks and naming the namespace mean the same.
  std::vector<proc_id> canonical(const std::vector<proc_id>& procs) const;

  /// The processes that a list names, ascending, each once. A namespace that
  /// nobody knows has none.
  std::vector<proc_id> spelt_out(const std::vector<proc_id>& procs) const;

  /// Those of a list that are on this node.
  std::set<proc_id> local_among(const std::vector<proc_id>& procs) const;

  /// Whether all processes of a list are on this node.
  bool are_local(const std::vector<proc_id>& procs) const;

private:
  /// `proc` may connect from now on.
  void await(const namespace_entry& entry, local_proc& proc);

  void await_interest(const std::string& nspace, const namespace_entry& entry);

  /// Takes the data of a namespace whose processes are known already.
  void complete(namespace_entry& entry, job_data data,
                const register_nspace& request);

  datastore::limits bounds_;
  std::shared_ptr<registrations> counts_;
  effects out_;
  std::map<std::string, namespace_entry> namespaces_;
  std::vector<info> resources_;
  std::map<std::string, std::vector<proc_id>> process_sets_;
};

} // namespace troupe
