#include "actors/mesh/mesh_host.hpp"

#include "actors/io/input_spread.hpp"
#include "actors/io/outlets.hpp"
#include "actors/io/stream_readers.hpp"
#include "actors/io/stream_spread.hpp"
#include "actors/mesh/mesh_host_state.hpp"
#include "actors/sturdy.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <iterator>

namespace troupe {

namespace mesh_internals {

mesh_host_state::mesh_host_state() = default;

mesh_host_state::~mesh_host_state() = default;

namespace {

/// Passes a request of this node to the root.
template <class T, class Request>
caf::result<T> ask_the_root(self_pointer self, const requester& who,
                            Request& request) {
  return answer_later<T>(self, [&](completion<T> done) {
    ask(self, 0, ask_root{who, std::move(request)},
        reply_to<T>(std::move(done)));
  });
}

template <class Message>
void pass_to_share(self_pointer self, const Message& what) {
  if (const auto* x = self->state.find_share(what.who.proc.nspace))
    self->send(*x, what);
}

/// Lets a process of a job in if its process runs here: before the start, and
/// after the end, whoever speaks as it is somebody else. Attack X12.
caf::result<ack> admit(self_pointer self, const client_connected& what) {
  if (self->state.find_share(what.who.proc.nspace) == nullptr)
    return ack{};
  return answer_later<ack>(self, [&](completion<ack> done) {
    self
      ->request(self->state.directory.launcher, caf::infinite,
                find_process{what.who.proc})
      .then(
        [=](const local_process&) {
          pass_to_share(self, what);
          done(ack{});
        },
        [=](const caf::error&) {
          done(make_error(status::no_permissions,
                          "no process of this node has been started as "
                            + to_string(what.who.proc) + ", or it has ended"));
        });
  });
}

/// Whether a job of this DVM has this name, or may have it: this node need not
/// have heard of it.
bool is_for_jobs(const mesh_host_state& state, const std::string& nspace) {
  const auto prefix = state.options.server.nspace + "@";
  return nspace.compare(0, prefix.size(), prefix) == 0;
}

/// A name for a tool that has none. One that names itself may have taken it.
proc_id next_tool_name(mesh_host_state& state) {
  auto prefix = state.options.server.nspace + "-tool";
  if (!state.is_root())
    prefix += std::to_string(state.options.rank) + ".";
  auto result = proc_id{};
  do
    result = {prefix + std::to_string(state.next_tool++), 0};
  while (
    std::any_of(state.tools.begin(), state.tools.end(), [&](const auto& x) {
      return x.second.nspace == result.nspace;
    }));
  return result;
}

/// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
caf::result<proc_id> identify(self_pointer self, const tool_connected& what) {
  auto& state = self->state;
  const auto& claimed = what.who.proc;
  if (what.who.role == peer_role::scheduler)
    return make_error(status::no_permissions,
                      to_string(claimed)
                        + " is no scheduler of this DVM: it has none");
  if (is_for_jobs(state, claimed.nspace))
    return make_error(status::no_permissions,
                      "a tool may not call itself " + to_string(claimed)
                        + ", a name of jobs; ask for an identity instead");
  const auto is_named =
    !claimed.nspace.empty() && !needs_identity(what.who.role);
  const auto who = is_named ? claimed : next_tool_name(state);
  state.tools[what.who.index] = who;
  return who;
}

/// A job for a launcher of this process. Only at the root.
caf::result<spawn_result> spawn_here(self_pointer self, const requester& who,
                                     spawn_request& request,
                                     const job_observer_actor& observer,
                                     const output_sink_actor& sink) {
  auto& state = self->state;
  if (!state.is_root())
    return make_error(status::not_supported,
                      "jobs of launchers start at the root");
  return answer_later<spawn_result>(self, [&](completion<spawn_result> done) {
    auto order = job_order{};
    order.who = who;
    order.request = std::move(request);
    order.origin = state.options.rank;
    if (observer)
      order.observer = [self, observer](const job_news& news) {
        std::visit([&](const auto& x) { self->send(observer, x); }, news);
      };
    order.reply = std::move(done);
    // Its number is the next; there its output will look for its way.
    state.outputs->expect(state.jobs->next_nspace(), sink);
    state.jobs->begin(std::move(order));
  });
}

/// Source: PMIx Standard v5, `PMIx_Abort`.
caf::result<ack> request_abort(self_pointer self, const requester& who,
                               abort_request& request) {
  // Its state at the end is known here, and decided there.
  if (const auto* x = self->state.find_share(who.proc.nspace))
    caf::anon_send(*x, who, request);
  return ask_the_root<ack>(self, who, request);
}

/// A handler that refuses what this host does not offer.
template <class Result, class Request>
auto refuse(const char* what) {
  return [what](const requester&, const Request&) -> caf::result<Result> {
    return make_error(status::not_supported,
                      std::string{what} + " is not supported by this host");
  };
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
mesh_host_actor::behavior_type behavior(self_pointer self,
                                        mesh_host_options options,
                                        mesh_host_directory directory) {
  self->state.options = std::move(options);
  self->state.directory = std::move(directory);
  start_calls(self);
  start_shares(self);
  start_exchange(self);
  start_environment(self);
  start_jobs(self);
  start_io(self);
  if (self->state.options.on_hosts)
    self->state.options.on_hosts(hosts_of(self->state));
  auto handlers = mesh_host_actor::behavior_type{
    // -- what comes most often: CAF tries one after another --
    [self](member_message& what) { take_message(self, what); },
    [self](host_collective& what) { return join_collective(self, what); },
    [self](direct_modex& request) { return get_from_node(self, request); },
    [self](uint32_t to, io_fragment& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.streams->send(to, what, std::move(done));
      });
    },
    // -- the host interface, in its order --
    [self](const client_connected& what) { return admit(self, what); },
    [self](const client_finalized& what) {
      pass_to_share(self, what);
      drop_readers(self, what.who);
      self->state.tools.erase(what.who.index);
      return ack{};
    },
    [self](const client_lost& what) {
      pass_to_share(self, what);
      self->state.tools.erase(what.who.index);
      forget_process(self->state, what.who.proc);
      drop_readers(self, what.who);
      if (is_tool(what.who.role))
        self->state.outputs->lose_tool(what.who);
    },
    [self](const tool_connected& what) { return identify(self, what); },
    [self](const requester& who, abort_request& request) {
      return request_abort(self, who, request);
    },
    [self](const requester& who, publish_request& request) {
      return request_publish(self, who, request);
    },
    [self](const requester& who, lookup_request& request) {
      return request_lookup(self, who, request);
    },
    [self](const requester& who, unpublish_request& request) {
      return request_unpublish(self, who, request);
    },
    [self](const requester& who, spawn_request& request) {
      return request_spawn(self, who, request);
    },
    [self](const requester& who, notify_request& request) {
      return spread_event(self, who, request);
    },
    [self](const requester&, const register_events_request& request) {
      self->state.environment->add(request.codes);
      return ack{};
    },
    [self](const requester&, const deregister_events_request& request) {
      self->state.environment->remove(request.codes);
    },
    refuse<ack, log_request>("another log"),
    [self](const requester& who, query_request& request) {
      return answer_queries(self, who, request);
    },
    [self](const requester& who, job_control_request& request) {
      return control(self, who, request);
    },
    [self](const requester& who, monitor_request& request) {
      return answer_later<info_result>(self, [&](completion<info_result> done) {
        sample_others(self, who, request, std::move(done));
      });
    },
    refuse<info_result, allocation_request>("allocation"),
    refuse<info_result, session_control_request>("session control"),
    refuse<ack, resource_block_request>("a resource block"),
    refuse<get_credential_result, get_credential_request>("a credential"),
    refuse<info_result, validate_credential_request>("a credential"),
    refuse<info_result, fabric_register_request>("a fabric"),
    refuse<info_result, fabric_update_request>("a fabric"),
    [self](locate_procs& what) {
      return answer_later<proc_places>(self, [&](completion<proc_places> done) {
        locate_all(self, std::move(what.procs), std::move(done));
      });
    },
    [self](order_group_entry& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.sequencer->submit(std::move(what), std::move(done));
      });
    },
    [self](const extend_group_log& what) {
      self->state.sequencer->extend(what.group, what.hosts);
    },
    [self](const close_group_log& what) {
      self->state.sequencer->close_log(what.group);
    },
    [](const host_group&) -> caf::result<info_result> {
      return make_error(status::not_supported,
                        "this host conducts no groups itself");
    },
    [self](const requester& who, io_pull_request& request) {
      return request_pull(self, who, request);
    },
    [self](const requester& who, const io_deregister_request& request) {
      return request_deregister(self, who, request);
    },
    [self](const requester& who, io_push_request& request) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        push_input(self, who, request, std::move(done));
      });
    },
    // -- its own --
    [self](const server_actor& server, const event_cache_actor& events) {
      self->state.server = server;
      self->state.events = events;
    },
    [self](const node_actor& node) {
      self->state.node = node;
      self->state.duty = mesh_duty::joining;
      if (self->state.is_root())
        self->state.duty = mesh_duty::active;
    },
    [self](const requester& who, spawn_request& request,
           const job_observer_actor& observer, const output_sink_actor& sink) {
      return spawn_here(self, who, request, observer, sink);
    },
    [self](const end_job& request) -> caf::result<ack> {
      if (request.nspace.empty())
        return answer_later<ack>(self, [&](completion<ack> done) {
          self->state.jobs->end_all(request, std::move(done));
        });
      auto result = self->state.jobs->end(request);
      if (!result)
        return std::move(result.error());
      return ack{};
    },
    [self](const list_jobs& request) {
      return answer_later<job_list>(self, [&](completion<job_list> done) {
        ask(self, 0, request, reply_to<job_list>(std::move(done)));
      });
    },
    [self](io_input& request) {
      return answer_later<io_input_taken>(
        self, [&](completion<io_input_taken> done) {
          self->state.inputs->give(std::move(request), std::move(done));
        });
    },
    [self](list_io& request) {
      return answer_later<io_list>(self, [&](completion<io_list> done) {
        self->state.streams->list_all(request, std::move(done));
      });
    },
    [self](io_interest& what) {
      return answer_later<ack>(self, [&](completion<ack> done) {
        self->state.streams->want(what, std::move(done));
      });
    },
    [self](io_fetch& what) {
      return answer_later<io_fragment>(self, [&](completion<io_fragment> done) {
        self->state.streams->fetch(what, std::move(done));
      });
    },
    [self](const sensor_desk_actor& desk) { use_sensors(self, desk); },
    [self](const usage_monitor_actor& x) { self->state.usage = x; },
    [self](environment_event& what) { raise(self, std::move(what)); },
    [self](share_progress& what) {
      self->state.share_rules->note_progress(std::move(what));
    },
    [self](const share_ended& what) {
      self->state.share_rules->note_end(what.nspace);
    },
    [self](const member_changed& what) { change_member(self, what); },
    [self](const member_fenced& what) {
      self->state.jobs->fenced(what.rank, what.incarnation);
    },
    [self](const mesh_duty_changed& what) { change_duty(self, what); },
    [self](deadline due) { self->state.waits.fire(due.id); },
  };
  return sturdy(self, std::move(handlers));
}

} // namespace

} // namespace mesh_internals

mesh_host_actor spawn_mesh_host(caf::actor_system& sys,
                                mesh_host_options options,
                                mesh_host_directory directory) {
  return sys.spawn(mesh_internals::behavior, std::move(options),
                   std::move(directory));
}

} // namespace troupe
