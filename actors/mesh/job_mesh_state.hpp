#pragma once

// The inside of a JOB MESH: shared by actors/job_mesh*.cpp only.

#include "actors/answer.hpp"
#include "actors/mesh/event_sequencer.hpp"
#include "actors/mesh/job_locations.hpp"
#include "actors/mesh/job_mesh.hpp"
#include "actors/mesh/mesh_calls.hpp"
#include "actors/mesh/mesh_collectives.hpp"
#include "actors/mesh/mesh_greeting.hpp"
#include "actors/mesh/publish_desk.hpp"
#include "actors/reminders.hpp"
#include "config/defaults.hpp"

#include <caf/event_based_actor.hpp>

#include <list>
#include <map>
#include <memory>
#include <set>

namespace troupe::job_mesh_internals {

/// What becomes of a request.
template <class T>
using completion = std::function<void(caf::expected<T>)>;

/// How far the mesh is.
enum class phase : uint8_t {
  apart,   ///< the servers have not greeted each other
  joining, ///< they have, and meet
  ready,   ///< requests are carried out
  failed,  ///< requests are refused
};

/// A request that waits until the mesh is ready.
struct waiting_request {
  uint64_t id = 0;
  std::function<void(const caf::error&)> go;
};

/// A fence that waits until we know where we take lanes.
struct waiting_fence {
  host_collective call;
  answer<host_collective_result> reply;
};

struct job_mesh {
  job_mesh(caf::event_based_actor* self, job_mesh_options options);

  const std::string& nspace() const {
    return options.where.map.nspace;
  }

  uint32_t rank() const {
    return options.where.own;
  }

  size_t num_nodes() const {
    return options.where.map.shares.size();
  }

  void log(severity level, const std::string& line) const {
    if (options.log)
      options.log(level, "mesh of " + nspace() + ": " + line);
  }

  // -- meeting (job_mesh.cpp) ------------------------------------------------

  void start();
  void take_addresses(networks_changed& x);
  caf::result<host_collective_result> fence(host_collective& call);
  void greet(waiting_fence x);
  void release_fences();
  void meet(std::vector<mesh_greeting> others);
  void become_node(const std::map<uint32_t, mesh_greeting>& others);
  void change_member(const member_changed& x);
  void change_duty(const mesh_duty_changed& x);
  void set_ready();
  void fail(std::string why, severity level = severity::error);
  void leave();

  /// Calls back once the mesh is ready, or with why it is not.
  void when_ready(std::function<void(const caf::error&)> go);

  // -- requests (job_mesh_requests.cpp) --------------------------------------

  void start_calls();
  void call_later(std::chrono::nanoseconds delay, std::function<void()> then);

  /// Sees to it that calls are sent again in time. To be called after
  /// everything that may have begun one.
  void arm();

  void ask(uint32_t node, host_question what, mesh_calls::completion then);
  void execute(const mesh_calls::member& from, host_question& what,
               const mesh_calls::answerer& reply);

  /// Whether a process runs on that node.
  bool is_on(uint32_t node, const proc_id& proc) const;

  template <class Result, class Request>
  caf::result<Result> ask_for(const requester& who, Request& request);

  caf::result<ack> notify(const requester& who, notify_request& request);
  caf::result<host_collective_result> join(host_collective& call);
  caf::result<get_result> fetch(direct_modex& request);
  void end_process(const proc_id& proc);

  // -- groups (job_mesh_groups.cpp) ------------------------------------------

  void start_groups();
  caf::result<proc_places> locate(locate_procs& request);
  caf::result<ack> order(order_group_entry& request);
  bool may_say(uint32_t node, const group_entry& what) const;
  void lose_host(uint32_t node);

  // -- streams (job_mesh_streams.cpp) ----------------------------------------

  caf::result<ack> want(io_interest& what);
  caf::result<ack> send(uint32_t node, io_fragment& what);
  caf::result<io_fragment> fetch(io_fetch& what);
  caf::result<io_input_taken> give(io_input& what);

  /// The same from a member.
  void take(uint32_t from, io_interest& what,
            const mesh_calls::answerer& reply);
  void take(uint32_t from, io_fragment& what,
            const mesh_calls::answerer& reply);
  void take(uint32_t from, io_fetch& what, const mesh_calls::answerer& reply);
  void take(uint32_t from, io_input& what, const mesh_calls::answerer& reply);

  void tell_wanted(uint32_t node);
  void lose_streams(uint32_t node);

  caf::event_based_actor* self;
  job_mesh_options options;
  job_locations places;
  phase now = phase::apart;

  /// Why requests are refused.
  std::string trouble;

  std::optional<job_mesh_means> means;
  mesh_greeting own;
  bool knows_addresses = false;
  bool has_greeted = false;
  std::list<waiting_fence> fences;
  networks_changed addresses;

  /// The NODE as owner of lanes, once it is there.
  lane_owner_actor lane_owner;
  node_actor node;

  /// The nodes that take part, and those that are live.
  std::set<uint32_t> members;
  std::set<uint32_t> live;

  std::unique_ptr<mesh_calls> calls;
  std::unique_ptr<mesh_collectives> collectives;

  /// The logs of groups, and the nodes that are lost to them.
  std::unique_ptr<event_sequencer> sequencer;
  std::set<uint32_t> lost;

  /// How many operations there were, by kind and participants.
  std::map<std::pair<collective_kind, std::vector<proc_id>>, uint64_t>
    generations;

  /// What processes of the job have published, at the root.
  publish_desk published{defaults::posted_bytes_per_process,
                         defaults::waiting_lookups};

  /// What this node wants of the streams of the others.
  io_interest wanted;

  std::list<waiting_request> waiting;
  uint64_t next_waiting = 1;
  reminders waits;
  std::optional<mesh_calls::time> next_tick;
  bool is_leaving = false;
};

} // namespace troupe::job_mesh_internals
