#pragma once

// The inside of the SERVER actor: shared by actors/server*.cpp only.

#include "actors/answer.hpp"
#include "actors/collective_table.hpp"
#include "actors/data/datastore.hpp"
#include "actors/data/job_data.hpp"
#include "actors/groups/connected_sets.hpp"
#include "actors/groups/group_directory.hpp"
#include "actors/reminders.hpp"
#include "actors/server.hpp"
#include "actors/timeout.hpp"
#include "config/defaults.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <utility>

namespace troupe::server_internals {

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
};

/// One connection.
struct session_entry {
  requester who;
  client_actor handle;
};

/// A get that waits for its key.
struct waiting_get {
  requester who;
  get_request request;
  answer<get_result> reply;
};

/// Another node that waits for data of a local process.
struct waiting_modex {
  proc_id target;

  /// What it must have posted; absent: anything.
  std::optional<std::string> key;
  answer<get_result> reply;
};

/// Who waits for the data of a job of other nodes.
using namespace_waiters = std::vector<std::function<void(const caf::error&)>>;

/// A collective operation and its actor.
struct open_collective {
  collective_actor handle;
  std::vector<info> directives;
  bool has_deadline = false;

  /// Whether those who had ended before it began have been dropped.
  bool checked = false;
};

struct server_state {
  static inline const char* name = "server";

  server_options options;
  server_directory directory;

  /// What every client needs in its environment besides namespace and rank.
  client_environment environment;

  std::map<std::string, namespace_entry> namespaces;
  std::map<uint32_t, session_entry> sessions; // by connection index
  uint32_t next_index = 1;

  std::map<uint64_t, waiting_get> gets;
  uint64_t next_get = 1;

  std::map<uint64_t, waiting_modex> modexes;
  uint64_t next_modex = 1;

  /// Namespaces of other nodes that the host has been asked for.
  std::map<std::string, namespace_waiters> fetching;

  /// What the host has registered beside the namespaces.
  std::vector<info> resources;

  std::map<std::string, std::vector<proc_id>> process_sets;

  /// The processes that are connected, as far as some of them are here.
  connected_sets connected;

  collective_table table;
  std::map<uint64_t, open_collective> collectives;

  group_directory groups;

  /// Entries of groups whose participants are being made known.
  std::map<
    group_key,
    std::vector<std::pair<group_entry_ordered, std::shared_ptr<answer<ack>>>>>
    group_entries;

  reminders waits;

  server_statistics statistics;

  /// Whether a look at the operations that are not complete is due.
  bool is_watch_due = false;

  /// Actors of operations that are over, for the next ones.
  std::vector<collective_actor> idle_collectives;

  namespace_entry* find_namespace(const std::string& nspace) {
    const auto i = namespaces.find(nspace);
    return i != namespaces.end() ? &i->second : nullptr;
  }

  local_proc* find_local(const proc_id& proc) {
    auto* entry = find_namespace(proc.nspace);
    if (entry == nullptr)
      return nullptr;
    const auto i = entry->procs.find(proc.rank);
    return i != entry->procs.end() ? &i->second : nullptr;
  }

  /// Counts the processes of a new namespace among those that may connect.
  void expect_procs(namespace_entry& entry) {
    for (auto& [rank, proc] : entry.procs)
      expect(entry, proc);
    options.registered->total += entry.procs.size();
  }

  /// `proc` may connect from now on.
  void expect(const namespace_entry& entry, local_proc& proc) {
    if (proc.may_connect && !std::exchange(proc.is_awaited, true))
      ++options.registered->awaited[entry.owner.uid];
  }

  /// `proc` has connected, or never will.
  void stop_awaiting(const namespace_entry& entry, local_proc& proc) {
    if (!std::exchange(proc.is_awaited, false))
      return;
    auto& awaited = options.registered->awaited;
    const auto i = awaited.find(entry.owner.uid);
    if (--i->second == 0)
      awaited.erase(i);
  }

  void log(severity level, const std::string& line) const {
    if (options.log)
      options.log(level, line);
  }
};

TROUPE_SELF_POINTER(server_actor, server_state);

/// Tells the MONITOR DESK, if there is one.
template <class T>
void tell_monitors(self_pointer self, const T& what) {
  if (self->state.directory.monitors)
    self->send(self->state.directory.monitors, what);
}

/// Calls `then` after `delay`.
void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then);

// -- server_registry.cpp
// -----------------------------------------------------------

caf::result<ack> add_namespace(self_pointer self, register_nspace& request);

caf::result<ack> add_client(self_pointer self, const register_client& request);

caf::result<ack> remove_client(self_pointer self, const proc_id& proc);

caf::result<ack> add_resources(self_pointer self, register_resources& request);

caf::result<ack> remove_resources(self_pointer self,
                                  const deregister_resources& request);

caf::result<ack> define_set(self_pointer self, define_process_set& request);

caf::result<ack> delete_set(self_pointer self,
                            const delete_process_set& request);

/// Output for a connected process; dropped if it has gone.
caf::result<ack> pass_output(self_pointer self, const requester& who,
                             io_delivery& what);

// -- server_sessions.cpp
// -----------------------------------------------------------

caf::result<connect_accepted, client_actor>
accept(self_pointer self, const connect_request& request,
       const connection_actor& connection);

caf::result<ack> finalize(self_pointer self, const requester& who);

void end_session(self_pointer self, const requester& who, bool finalized);

// -- server_collectives.cpp
// --------------------------------------------------------

/// Finds or begins the operation that a call belongs to.
/// @returns its actor, or why the call is refused.
caf::expected<collective_actor> join(self_pointer self, const requester& who,
                                     collective_kind kind,
                                     std::vector<proc_id> procs,
                                     const std::vector<info>& directives,
                                     uint64_t& id);

/// To be called when the call has been handed to the operation's actor: asks
/// the host if everybody has joined.
void check_complete(self_pointer self, uint64_t id);

/// The operation's actor has answered everybody.
void retire_collective(self_pointer self, const collective_retired& what);

/// Members have left a group: fences over it that are fault tolerant go on
/// without them, others fail. Source: RFC0033, Group_leave; readings A33, A34.
void reduce_collectives(self_pointer self, const group_changed& what);

/// Fails the operations that wait for `proc`, or has them go on without it.
void leave_collectives(self_pointer self, const proc_id& proc,
                       const std::string& reason);

// -- server_groups.cpp
// -------------------------------------------------------------

caf::result<group_construct_result>
construct_group(self_pointer self, const requester& who,
                group_construct_request& request);

caf::result<ack> destruct_group(self_pointer self, const requester& who,
                                group_destruct_request& request);

caf::result<ack> leave_group(self_pointer self, const requester& who,
                             group_leave_request& request);

/// Takes an event of a group; `not_found` if it is about none.
caf::result<ack> notify_group(self_pointer self, const requester& who,
                              notify_request& request);

/// The next entry of the log of a group.
caf::result<ack> take_group_entry(self_pointer self, group_entry_ordered& what);

void change_group(self_pointer self, const group_changed& what);

void close_group(self_pointer self, const group_over& what);

/// Keeps entries that members have for each other; of processes without
/// entries, says what they have posted for others.
caf::result<group_data> group_data_here(self_pointer self,
                                        const group_data& what);

/// A local process takes part in nothing any more.
void tell_groups(self_pointer self, const proc_ended& what);

/// Nobody has a name of this namespace any more: a job's, or a tool's.
void forget_namespace(self_pointer self, const std::string& nspace);

void tell_groups(self_pointer self, const host_node_lost& what);

/// Tells a new session which groups its process is in.
void tell_session_groups(self_pointer self, const session_entry& session);

caf::result<group_list> list_groups_here(self_pointer self);

// -- server_data.cpp
// ---------------------------------------------------------------

caf::result<job_info_reply> get_job_info(self_pointer self,
                                         const requester& who);

caf::result<ack> commit(self_pointer self, const requester& who,
                        const commit_request& request);

caf::result<get_result> get(self_pointer self, const requester& who,
                            get_request& request);

/// What those are told who ask for a key that its process was refused when it
/// posted it; null: any key.
caf::error refusal_of(const proc_id& proc, const std::string* key);

/// Data of a local process for another node.
caf::result<get_result> answer_modex(self_pointer self,
                                     const direct_modex& request);

/// Answers the gets that wait for data of `proc` and can be answered now; all
/// of them if the process is gone.
void wake_gets(self_pointer self, const proc_id& proc);

// -- server_elsewhere.cpp
// ----------------------------------------------------------

/// Whether a namespace may run on other nodes only.
bool may_be_elsewhere(const server_state& state, const std::string& nspace);

/// Answers other nodes that wait for `proc`.
void wake_modexes(server_state& state, const proc_id& proc);

/// Gets the data of a job of other nodes from its host, once.
/// @param then Gets an empty error when the namespace is known.
void fetch_namespace(self_pointer self, const requester& who,
                     const std::string& nspace,
                     std::function<void(const caf::error&)> then);

/// The first of the namespaces that has to be fetched.
std::optional<std::string> first_elsewhere(const server_state& state,
                                           const std::vector<proc_id>& procs);

/// Has the request made again when a namespace is known.
/// @param refusal What the requester is told if there is none.
template <class Result, class Request>
caf::result<Result> ask_again(self_pointer self, const requester& who,
                              std::string nspace, Request& request,
                              status refusal) {
  auto promise = self->template make_response_promise<Result>();
  auto owed = std::make_shared<answer<Result>>(promise);
  fetch_namespace(
    self, who, nspace,
    [self, who, owed, refusal,
     request = std::move(request)](const caf::error& why) {
      if (why) {
        owed->fail(refusal, reason_of(why));
        return;
      }
      self->request(server_actor{self}, caf::infinite, who, request)
        .then([owed](Result& x) { owed->give(std::move(x)); },
              [owed](caf::error& err) { owed->fail(std::move(err)); });
    });
  return promise;
}

/// Everything known of a job, the ranks as `pmix.pdata` arrays.
std::vector<key_value> whole_job(const job_info& job);

// -- server_queries.cpp
// ------------------------------------------------------------

caf::result<resolve_peers_result>
resolve_peers(self_pointer self, const resolve_peers_request& request);

caf::result<resolve_nodes_result>
resolve_nodes(self_pointer self, const resolve_nodes_request& request);

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      query_request& request);

// -- server_gauges.cpp
// -------------------------------------------------------------

gauge_list gauges_of(const server_state& state);

// -- server_logs.cpp
// ---------------------------------------------------------------

caf::result<ack> write_log(self_pointer self, const requester& who,
                           const log_request& request);

} // namespace troupe::server_internals
