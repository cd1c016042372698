#pragma once

// The inside of the MESH HOST actor: shared by actors/mesh/mesh_*.cpp only.

#include "actors/answer.hpp"
#include "actors/io/output_formatter.hpp"
#include "actors/jobs/dvm_jobs.hpp"
#include "actors/jobs/job_locations.hpp"
#include "actors/jobs/processor_ledger.hpp"
#include "actors/jobs/shares.hpp"
#include "actors/mesh/environment_spread.hpp"
#include "actors/mesh/event_sequencer.hpp"
#include "actors/mesh/event_spread.hpp"
#include "actors/mesh/mesh_calls.hpp"
#include "actors/mesh/mesh_collectives.hpp"
#include "actors/mesh/mesh_host.hpp"
#include "actors/mesh/modex_desk.hpp"
#include "actors/mesh/publish_desk.hpp"
#include "actors/reminders.hpp"
#include "config/defaults.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <memory>
#include <set>
#include <utility>

namespace troupe {

class input_spread;
class outlets;
class stream_readers;
class stream_spread;

} // namespace troupe

namespace troupe::mesh_internals {

/// What becomes of a request.
template <class T>
using completion = std::function<void(caf::expected<T>)>;

struct mesh_host_state {
  static inline const char* name = "mesh-host";

  mesh_host_state();
  ~mesh_host_state();

  mesh_host_options options;
  mesh_host_directory directory;
  server_actor server;
  event_cache_actor events;
  node_actor node;
  mesh_duty duty = mesh_duty::active;

  std::unique_ptr<mesh_calls> calls;

  /// When the calls are looked after next.
  std::optional<mesh_calls::time> next_tick;

  reminders waits;

  /// The JOB actors by namespace: the same as in `share_rules`.
  std::map<std::string, job_actor> shares;
  std::unique_ptr<troupe::shares> share_rules;

  /// Shared with the JOB actors: what their processes are bound to.
  std::shared_ptr<processor_ledger> bound =
    std::make_shared<processor_ledger>();

  // Standard streams: see mesh_io.cpp.
  std::unique_ptr<stream_spread> streams;
  std::unique_ptr<stream_readers> readers;
  std::unique_ptr<outlets> outputs;
  std::unique_ptr<input_spread> inputs;

  /// Shared with whoever marks output with hosts.
  std::shared_ptr<job_locations> known_locations =
    std::make_shared<job_locations>();
  job_locations& locations = *known_locations;

  /// Jobs whose places the root has been asked for.
  std::map<std::string, std::vector<std::function<void(const caf::error&)>>>
    locating;

  /// What is published for this node only.
  publish_desk published_here{defaults::posted_bytes_per_process,
                              defaults::waiting_lookups};

  std::unique_ptr<mesh_collectives> collectives;
  std::unique_ptr<modex_desk> modex;
  std::unique_ptr<event_sequencer> sequencer;
  std::unique_ptr<event_spread> spread;
  std::unique_ptr<environment_spread> environment;
  sensor_desk_actor sensors;
  usage_monitor_actor usage;

  /// What the sensors have been told.
  environment_interest watched;

  /// The incarnations of the other members.
  std::map<uint32_t, uint64_t> lives;

  /// Who is connected here and belongs to no job, by the connection.
  std::map<uint32_t, proc_id> tools;
  uint32_t next_tool = 1;

  // -- at the root --

  /// Empty elsewhere.
  std::unique_ptr<dvm_jobs> jobs;

  publish_desk published{defaults::posted_bytes_per_process,
                         defaults::waiting_lookups};

  /// Whether it takes work: the root always, unless it is fenced.
  bool may_work() const {
    return is_root() ? duty != mesh_duty::fenced : duty == mesh_duty::active;
  }

  bool is_root() const {
    return options.rank == 0;
  }

  job_record* find_job(const std::string& nspace) const {
    return jobs->find(nspace);
  }

  const job_actor* find_share(const std::string& nspace) const {
    const auto i = shares.find(nspace);
    return i != shares.end() ? &i->second : nullptr;
  }

  std::string name_of(uint32_t node) const {
    return jobs->nodes().name_of(node);
  }

  void log(severity level, const std::string& line) const {
    if (options.log)
      options.log(level, line);
  }
};

TROUPE_SELF_POINTER(mesh_host_actor, mesh_host_state);

/// Calls `then` after `delay`.
void call_later(self_pointer self, caf::timespan delay,
                std::function<void()> then);

/// Answers the current message when `begin` has got its result.
template <class T, class F>
caf::result<T> answer_later(self_pointer self, F begin) {
  auto promise = self->template make_response_promise<T>();
  auto owed = std::make_shared<answer<T>>(promise);
  begin(completion<T>{[owed](caf::expected<T> x) {
    if (x)
      owed->give(std::move(*x));
    else
      owed->fail(std::move(x.error()));
  }});
  return promise;
}

/// Turns the answer of a member into what was asked for.
template <class T>
mesh_calls::completion reply_to(completion<T> then) {
  return [then = std::move(then)](caf::expected<host_reply> x) {
    then(reply_as<T>(std::move(x)));
  };
}

/// Answers a member.
template <class T>
completion<T> to_member(mesh_calls::answerer reply) {
  return [reply = std::move(reply)](caf::expected<T> x) {
    reply(x ? host_reply{std::move(*x)} : refusal(x.error()));
  };
}

// -- mesh_host_calls.cpp

void start_calls(self_pointer self);

/// Asks the host of a node; this one's without a message.
void ask(self_pointer self, uint32_t node, host_question what,
         mesh_calls::completion then);

/// Has the calls looked after when they are due.
void arm(self_pointer self);

void take_message(self_pointer self, member_message& what);

void change_member(self_pointer self, const member_changed& what);

void change_duty(self_pointer self, const mesh_duty_changed& what);

void start_exchange(self_pointer self);

/// Asks the root where a job runs.
/// @param then Gets an empty error once `locations` knows it.
void locate(self_pointer self, const std::string& nspace,
            std::function<void(const caf::error&)> then);

caf::result<host_collective_result> join_collective(self_pointer self,
                                                    host_collective& what);

/// Data of a process of another node.
caf::result<get_result> get_from_node(self_pointer self, direct_modex& what);

/// Data of a process of this node.
void answer_modex(self_pointer self, direct_modex& what,
                  completion<get_result> done);

/// These processes, of whatever node, take part in nothing any more.
void note_gone(self_pointer self, const std::vector<proc_ended>& procs);

// -- mesh_events.cpp: events for processes of this node and of others

void start_events(self_pointer self);

caf::result<ack> spread_event(self_pointer self, const requester& who,
                              notify_request& what);

/// Tells the processes of some namespaces of an event that the system makes:
/// each namespace has it in its order.
/// @param then Comes when all live nodes that host them have it.
void raise_event(self_pointer self, const event& what,
                 const std::vector<std::string>& audience,
                 completion<ack> then = nullptr);

/// Tells some processes, each once in the order of its namespace.
void raise_event_for(self_pointer self, const event& what,
                     const std::vector<proc_id>& audience);

/// An event for the resource manager, of a process of another node.
caf::expected<ack> take_event(self_pointer self, uint32_t from,
                              deliver_event& what);

/// X41: whether a node may raise events, or ask, in the name of a process.
bool may_speak_for(self_pointer self, uint32_t from, const proc_id& source);

/// Whether any of these is connected here and belongs to no job.
bool has_tool(const mesh_host_state& state, const std::vector<proc_id>& procs);

// Groups over several nodes:

/// Where processes run, wildcards spelt out.
void locate_all(self_pointer self, std::vector<proc_id> procs,
                completion<proc_places> done);

/// X41: whether a node may say this of a group: it speaks for its own
/// processes only, except that all may know who has ended.
bool may_say(self_pointer self, uint32_t from, const group_entry& what);

/// A node is lost; `locations` and the calls know.
void lose_host(self_pointer self, uint32_t rank);

/// The groups of this node; of all nodes, at the root, for tools.
void list_groups_here(self_pointer self, completion<group_list> done);
void list_all_groups(self_pointer self, completion<group_list> done);

// What happens to nodes:

void start_environment(self_pointer self);

/// The sensors of this node.
void use_sensors(self_pointer self, const sensor_desk_actor& desk);

/// Takes an event of a sensor.
void raise(self_pointer self, environment_event what);

/// A member has come or gone: the root makes an event of the environment of it.
void note_member(self_pointer self, const member_changed& what, bool was_live);

// -- mesh_jobs.cpp: what is sent for jobs

/// At the root: the jobs of the DVM.
void start_jobs(self_pointer self);

/// At the root: a process or tool of node `from` asks.
void carry_out_at_root(self_pointer self, uint32_t from, ask_root& request,
                       const mesh_calls::answerer& reply);

/// How many objects of each kind this node has.
void count_objects_here(self_pointer self, completion<info_result> done);

/// A process or tool of this node wants something done to processes.
caf::result<info_result> control(self_pointer self, const requester& who,
                                 job_control_request& request);

/// The root has something done to processes of this node.
void control_share(self_pointer self, const control_procs& what,
                   completion<procs_controlled> done);

void define_set_here(self_pointer self, const define_process_set& what,
                     completion<ack> done);

void delete_set_here(self_pointer self, const delete_process_set& what,
                     completion<ack> done);

/// Runs a hook of this node's site.
void run_hook(self_pointer self, const run_site_hook& what,
              completion<site_hook_result> done);

void start_shares(self_pointer self);

void prepare(self_pointer self, prepare_share& order, completion<job_map> done);

void start(self_pointer self, const start_share& request,
           completion<spawn_result> done);

/// Hears that processes of other nodes have ended.
void hear_of_gone(self_pointer self, const procs_gone& what);

void forget(self_pointer self, const forget_job& what, completion<ack> done);

// -- mesh_io.cpp: standard streams of jobs

void start_io(self_pointer self);

caf::result<spawn_result> request_spawn(self_pointer self, const requester& who,
                                        spawn_request& request);

/// The hosts of processes, for the thread of the host only.
output_formatter::hosts hosts_of(const mesh_host_state& state);

/// A job begins, here or elsewhere.
void begin_streams(self_pointer self, const prepare_share& order);

/// A job is over everywhere.
/// @param then Comes once whoever started it has everything, and other sinks
///             have, too, or have had the time.
void end_streams(self_pointer self, const std::string& nspace,
                 std::function<void()> then);

caf::result<io_pull_result>
request_pull(self_pointer self, const requester& who, io_pull_request& request);

caf::result<ack> request_deregister(self_pointer self, const requester& who,
                                    const io_deregister_request& request);

/// Ends what a requester reads, which is gone.
void drop_readers(self_pointer self, const requester& who);

/// At the root: the jobs that a requester may watch, of those that it names.
caf::expected<nspace_list> watchable(const mesh_host_state& state,
                                     const requester& who,
                                     const io_pull_request& request);

/// Input from another node for processes of this one.
void take_input(self_pointer self, uint32_t from, io_input& what,
                completion<io_input_taken> done);

void push_input(self_pointer self, const requester& who,
                io_push_request& request, completion<ack> done);

/// At the root: for a requester of a node that is not the origin.
void push_at_root(self_pointer self, const requester& who,
                  io_push_request& request, completion<ack> done);

// -- mesh_published.cpp

caf::result<ack> request_publish(self_pointer self, const requester& who,
                                 publish_request& request);

caf::result<lookup_result> request_lookup(self_pointer self,
                                          const requester& who,
                                          lookup_request& request);

caf::result<ack> request_unpublish(self_pointer self, const requester& who,
                                   unpublish_request& request);

// At the root:

void look_up(self_pointer self, const requester& who, lookup_request& request,
             completion<lookup_result> done);

caf::expected<ack> publish(self_pointer self, const requester& who,
                           const publish_request& request);

caf::expected<ack> unpublish(self_pointer self, const requester& who,
                             const unpublish_request& request);

/// Drops what waits for, or was published by, a process that is gone.
void forget_process(mesh_host_state& state, const proc_id& proc);

// -- mesh_queries.cpp

/// At the root, of what it knows.
info_result answer_query(self_pointer self, uint32_t from, const requester& who,
                         const query_request& request);

/// Likewise of nodes, groups and streams, from this node or the others.
caf::result<info_result> answer_queries(self_pointer self, const requester& who,
                                        query_request& request);

/// How this node is connected, and how full its queues are.
void describe_node(self_pointer self, completion<mesh_status> done);

/// Samples the nodes that a request names, beside this one.
void sample_others(self_pointer self, const requester& who,
                   const monitor_request& request,
                   completion<info_result> done);

/// Samples this node for another.
void sample_here(self_pointer self, sample_elsewhere& request,
                 completion<info_result> done);

} // namespace troupe::mesh_internals
