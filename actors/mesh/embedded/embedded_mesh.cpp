#include "actors/mesh/embedded/embedded_mesh.hpp"

#include "messages/status.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>

namespace troupe {

namespace {

struct embedded_mesh_state {
  static inline const char* name = "embedded-mesh";

  embedded_mesh_options options;
  server_actor server;
  event_cache_actor events;
  io_desk_actor desk;
  std::map<std::string, host_actor> jobs;

  /// What the desk takes the next node for: no two jobs share any.
  uint32_t next_node = 1;

  /// Whose job the log of a group is of.
  std::map<std::string, std::string> logs;
};

using self_pointer = caf::stateful_actor<embedded_mesh_state>*;

void open(self_pointer self, const register_nspace& what) {
  auto& state = self->state;
  if (state.jobs.count(what.nspace) > 0)
    return;
  auto where = map_of(what);
  if (!where) {
    if (state.options.log)
      state.options.log(severity::error,
                        "no mesh for " + what.nspace
                          + ": its registration does not say which processes"
                            " are on which nodes (PMIX_NODE_MAP,"
                            " PMIX_PROC_MAP); give these");
    return;
  }
  auto job = job_mesh_options{};
  job.where = std::move(*where);
  job.host = state.options.host;
  job.offers = state.options.offers;
  job.server = state.server;
  job.events = state.events;
  job.make_means = state.options.make_means;
  job.node = state.options.node;
  job.log = state.options.log;
  job.keeper = self;
  job.desk = state.desk;
  job.first_node = state.next_node;
  state.next_node += static_cast<uint32_t>(job.where.map.shares.size());
  // A job of the same name comes as somebody new.
  ++state.options.node.membership.incarnation;
  auto handle = spawn_job_mesh(self->home_system(), std::move(job));
  self->link_to(handle);
  state.jobs.emplace(what.nspace, std::move(handle));
}

void close(self_pointer self, const deregister_nspace& what) {
  auto& logs = self->state.logs;
  for (auto i = logs.begin(); i != logs.end();)
    i = i->second == what.nspace ? logs.erase(i) : std::next(i);
  auto job = self->state.jobs.extract(what.nspace);
  if (!job.empty())
    self->send(caf::actor_cast<caf::actor>(job.mapped()), what);
}

/// The mesh of a job; null if there is none.
caf::actor mesh_of(const embedded_mesh_state& state,
                   const std::string& nspace) {
  const auto i = state.jobs.find(nspace);
  return i != state.jobs.end() ? caf::actor_cast<caf::actor>(i->second)
                               : nullptr;
}

/// What takes input for the processes of a job.
using input_taker_actor =
  caf::typed_actor<caf::replies_to<io_input>::with<io_input_taken>>;

/// That which keeps the log of a group.
caf::actor keeper_of(const embedded_mesh_state& state, const group_key& group) {
  const auto i = state.logs.find(log_name(group));
  return i != state.logs.end() ? mesh_of(state, i->second) : nullptr;
}

/// Where processes are, unless the host conducts groups itself.
caf::result<proc_places> locate(self_pointer self, locate_procs& what) {
  const auto& state = self->state;
  const auto nspace = what.procs.empty() ? "" : what.procs.front().nspace;
  const auto mesh = mesh_of(state, nspace);
  if (state.options.offers.group || !mesh)
    return make_error(status::not_supported,
                      mesh ? "the host conducts groups itself"
                           : "the servers of " + nspace + " have no mesh");
  return self->delegate(caf::actor_cast<host_actor>(mesh), std::move(what));
}

caf::result<ack> order(self_pointer self, order_group_entry& what) {
  auto& state = self->state;
  if (!what.entry.participants.empty())
    state.logs.emplace(log_name(what.entry.group),
                       what.entry.participants.front().nspace);
  const auto mesh = keeper_of(state, what.entry.group);
  if (!mesh)
    return make_error(status::not_found, "no server keeps the log of group "
                                           + what.entry.group.id);
  return self->delegate(caf::actor_cast<host_actor>(mesh), std::move(what));
}

/// Groups are the host's, if it has an entry that means it.
caf::result<info_result> conduct_group(self_pointer self, host_group& what) {
  auto promise = self->make_response_promise<info_result>();
  self->request(self->state.options.host, caf::infinite, std::move(what))
    .then([promise](info_result& x) mutable { promise.deliver(std::move(x)); },
          [self, promise](caf::error& err) mutable {
            // The next group is ours.
            if (status_of(err) == status::not_supported)
              self->state.options.offers.group = false;
            promise.deliver(std::move(err));
          });
  return promise;
}

/// Has the host do something if it does it, or else the mesh of a job. A host
/// may have an entry that only says that it does not.
/// @param offer Whether the host has an entry; null: the mesh decides.
template <class Result, class... Ts>
caf::response_promise pass(self_pointer self, bool host_offers::*offer,
                           const std::string& nspace, Ts... request) {
  auto& state = self->state;
  auto promise = self->make_response_promise();
  const auto i = state.jobs.find(nspace);
  const auto host = caf::actor_cast<caf::actor>(state.options.host);
  if (i == state.jobs.end()) {
    promise.delegate(host, std::move(request)...);
    return promise;
  }
  const auto mesh = caf::actor_cast<caf::actor>(i->second);
  if (offer == nullptr || !(state.options.offers.*offer)) {
    promise.delegate(mesh, std::move(request)...);
    return promise;
  }
  self->request(host, caf::infinite, request...)
    .then([promise](Result& x) mutable { promise.deliver(std::move(x)); },
          [self, promise, offer, mesh, request...](caf::error& err) mutable {
            if (status_of(err) != status::not_supported) {
              promise.deliver(std::move(err));
              return;
            }
            self->state.options.offers.*offer = false;
            promise.delegate(mesh, std::move(request)...);
          });
  return promise;
}

template <class What>
void tell_job(self_pointer self, const proc_id& proc, const What& what) {
  const auto i = self->state.jobs.find(proc.nspace);
  if (i != self->state.jobs.end())
    self->send(caf::actor_cast<caf::actor>(i->second), what);
}

caf::behavior behavior(self_pointer self, embedded_mesh_options options) {
  self->state.options = std::move(options);
  self->link_to(self->state.options.host);
  self->set_exit_handler([self](const caf::exit_msg& x) {
    // A mesh that ends leaves its job to the host.
    auto& jobs = self->state.jobs;
    for (auto i = jobs.begin(); i != jobs.end(); ++i)
      if (i->second.address() == x.source) {
        jobs.erase(i);
        return;
      }
    if (x.source == self->state.options.host.address()
        || x.source == self->address() || !x.source
        || x.reason != caf::exit_reason::user_shutdown)
      self->quit(x.reason);
  });
  self->set_default_handler([self](caf::scheduled_actor*, caf::message_view& x)
                              -> caf::result<caf::message> {
    return self->delegate(caf::actor_cast<caf::actor>(self->state.options.host),
                          x.move_content_to_message());
  });
  return {
    [self](const server_actor& server, const event_cache_actor& events) {
      self->state.server = server;
      self->state.events = events;
    },
    [self](const register_nspace& what) { open(self, what); },
    [self](const deregister_nspace& what) { close(self, what); },
    [self](host_collective& call) {
      // The host knows what is local; the mesh has a look at fences, which
      // carry its greetings.
      const auto job = call.is_local || call.procs.empty()
                         ? std::string{}
                         : call.procs.front().nspace;
      const auto offer =
        call.kind == collective_kind::fence ? nullptr : &host_offers::connect;
      return pass<host_collective_result>(self, offer, job, std::move(call));
    },
    [self](direct_modex& request) {
      const auto job = request.target.nspace;
      return pass<get_result>(self, &host_offers::direct_modex, job,
                              std::move(request));
    },
    [self](const requester& who, publish_request& request) {
      return pass<ack>(self, &host_offers::publish, who.proc.nspace, who,
                       std::move(request));
    },
    [self](const requester& who, lookup_request& request) {
      return pass<lookup_result>(self, &host_offers::publish, who.proc.nspace,
                                 who, std::move(request));
    },
    [self](const requester& who, unpublish_request& request) {
      return pass<ack>(self, &host_offers::publish, who.proc.nspace, who,
                       std::move(request));
    },
    [self](const requester& who, notify_request& request) {
      return pass<ack>(self, &host_offers::events, who.proc.nspace, who,
                       std::move(request));
    },
    [self](locate_procs& what) { return locate(self, what); },
    [self](order_group_entry& what) { return order(self, what); },
    [self](const extend_group_log& what) {
      if (const auto mesh = keeper_of(self->state, what.group))
        self->send(mesh, what);
    },
    [self](const close_group_log& what) {
      if (const auto mesh = keeper_of(self->state, what.group))
        self->send(mesh, what);
      self->state.logs.erase(log_name(what.group));
    },
    [self](host_group& what) { return conduct_group(self, what); },
    // From the mesh of a job: it keeps this log.
    [self](const std::string& nspace, const std::string& log) {
      self->state.logs.emplace(log, nspace);
    },
    [self](const io_desk_actor& desk, const host_actor& streams) {
      self->state.desk = desk;
      const auto me = caf::actor_cast<io_mesh_actor>(self);
      self->send(desk, me);
      self->send(caf::actor_cast<caf::actor>(streams), me);
    },
    // Who has no mesh is alone.
    [self](io_interest& what) -> caf::result<ack> {
      if (const auto mesh = mesh_of(self->state, what.nspace))
        return self->delegate(caf::actor_cast<io_mesh_actor>(mesh),
                              std::move(what));
      return ack{};
    },
    [self](uint32_t node, io_fragment& what) -> caf::result<ack> {
      if (const auto mesh = mesh_of(self->state, what.stream.source.nspace))
        return self->delegate(caf::actor_cast<io_mesh_actor>(mesh), node,
                              std::move(what));
      return ack{};
    },
    [self](io_fetch& what) -> caf::result<io_fragment> {
      if (const auto mesh = mesh_of(self->state, what.stream.source.nspace))
        return self->delegate(caf::actor_cast<io_mesh_actor>(mesh),
                              std::move(what));
      return make_error(status::not_found, "no other node has that stream");
    },
    [self](io_input& what) -> caf::result<io_input_taken> {
      if (const auto mesh = mesh_of(self->state, what.nspace))
        return self->delegate(caf::actor_cast<input_taker_actor>(mesh),
                              std::move(what));
      return self->delegate(self->state.desk, std::move(what));
    },
    [self](const client_finalized& what) {
      tell_job(self, what.who.proc, what);
      return self->delegate(self->state.options.host, what);
    },
    [self](const client_lost& what) {
      tell_job(self, what.who.proc, what);
      self->send(self->state.options.host, what);
    },
  };
}

} // namespace

host_actor spawn_embedded_mesh(caf::actor_system& sys,
                               embedded_mesh_options options) {
  return caf::actor_cast<host_actor>(sys.spawn(behavior, std::move(options)));
}

} // namespace troupe
