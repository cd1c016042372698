#include "adapters/c_host/c_host.hpp"

#include "actors/data/datastore.hpp"
#include "actors/mesh/embedded/mesh_greeting.hpp"
#include "adapters/c_host/c_host_requests.hpp"
#include "adapters/c_host/modex_blob.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

/// The classes that make the up-calls, in the order in which they need each
/// other.
struct callers {
  callers(c_host_settings x, c_host_calls::effects of_calls,
          c_host_streams::effects of_streams)
    : settings(std::move(x)), calls(std::move(of_calls)),
      streams(settings, calls, std::move(of_streams)),
      requests(settings, calls, streams) {
    // nop
  }

  c_host_settings settings;
  c_host_calls calls;
  c_host_streams streams;
  c_host_requests requests;
};

struct c_host_state {
  static inline const char* name = "c-host";

  std::optional<callers> to;

  /// The host does not call back when a client connects.
  bool is_silent_on_connect = false;
};

TROUPE_SELF_POINTER(c_host_actor, c_host_state);

c_host_streams::effects effects_of_streams(self_pointer self) {
  auto fx = c_host_streams::effects{};
  fx.subscribe = [self](io_subscription how, output_sink_actor sink,
                        upcall_receiver<io_pull_result> done) {
    self
      ->request(self->state.to->settings.desk, caf::infinite, std::move(how),
                std::move(sink))
      .then([done](io_pull_result x) { done(x); },
            [done](caf::error& why) { done(std::move(why)); });
  };
  fx.unsubscribe = [self](uint64_t subscription, std::function<void()> then) {
    self
      ->request(self->state.to->settings.desk, caf::infinite,
                io_unsubscription{subscription})
      .then([then](ack) { then(); }, [then](const caf::error&) { then(); });
  };
  fx.end = [](const output_sink_actor& sink) {
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
  };
  return fx;
}

c_host_calls::effects effects_of_calls(self_pointer self, journal log) {
  auto fx = c_host_calls::effects{};
  fx.owner = [self] { return c_host_actor{self}; };
  fx.remind = [self](uint64_t id, caf::timespan after) {
    self->delayed_send(c_host_actor{self}, after, deadline{id});
  };
  fx.log = std::move(log);
  return fx;
}

/// The receiver that answers a request.
template <class Result>
upcall_receiver<Result> replying(caf::typed_response_promise<Result> promise) {
  auto reply = std::make_shared<answer<Result>>(std::move(promise));
  return [reply](caf::expected<Result> x) {
    if (x)
      reply->give(std::move(*x));
    else
      reply->fail(std::move(x.error()));
  };
}

/// The handler of a request that `f` answers.
template <class T, class Request, class Result>
auto asks(self_pointer self, T callers::*part,
          void (T::*f)(const requester&, Request&, upcall_receiver<Result>)) {
  return [self, part, f](const requester& who,
                         Request& request) -> caf::result<Result> {
    auto promise = self->make_response_promise<Result>();
    ((*self->state.to).*part.*f)(who, request, replying(promise));
    return promise;
  };
}

// -- processes ---------------------------------------------------------------

/// A host that has said yes to a client and does not call back means it: those
/// of release 4 and 5 never had to.
caf::result<ack> connect(self_pointer self, const client_connected& what) {
  auto& [settings, calls, streams, requests] = *self->state.to;
  const auto& module = settings.module;
  if (module.client_connected == nullptr && module.client_connected2 == nullptr)
    return ack{};
  auto args = arguments_of(what.who.proc);
  args->set_infos(with_credentials({}, what.who));
  const auto* const entry = module.client_connected2 != nullptr
                              ? "client_connected2"
                              : "client_connected";
  auto promise = self->make_response_promise<ack>();
  auto reply = replying(promise);
  auto* object = settings.objects->get(what.who.proc);
  const auto id = calls.make<ack>(entry, args, {}, reply, [&](void* cbdata) {
    return module.client_connected2 != nullptr
             ? module.client_connected2(&args->proc, object, args->infos.data(),
                                        args->infos.size(), upcalls::on_op,
                                        cbdata)
             : module.client_connected(&args->proc, object, upcalls::on_op,
                                       cbdata);
  });
  if (id == 0)
    return promise;
  if (self->state.is_silent_on_connect) {
    reply(ack{});
    return promise;
  }
  const auto is_old = settings.module_size <= module_size_5;
  calls.grace(id,
              is_old ? caf::timespan{defaults::host_connect_grace}
                     : caf::timespan{defaults::host_connect_grace_6},
              [self, reply] {
                self->state.is_silent_on_connect = true;
                reply(ack{});
              });
  return promise;
}

caf::result<ack> finalize(self_pointer self, const client_finalized& what) {
  auto& [settings, calls, streams, requests] = *self->state.to;
  streams.forget(what.who);
  const auto f = settings.module.client_finalized;
  if (f == nullptr || is_tool(what.who.role))
    return ack{};
  auto args = arguments_of(what.who.proc);
  auto promise = self->make_response_promise<ack>();
  auto* object = settings.objects->get(what.who.proc);
  calls.make<ack>("client_finalized", args, usual_limit(), replying(promise),
                  [&](void* cbdata) {
                    return f(&args->proc, object, upcalls::on_op, cbdata);
                  });
  return promise;
}

/// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
caf::result<proc_id> identify(self_pointer self, const tool_connected& what) {
  auto& to = *self->state.to;
  const auto& module = to.settings.module;
  if (module.tool_connected == nullptr && module.tool_connected2 == nullptr)
    return missing("tool_connected");
  auto infos = with_credentials(what.infos, what.who);
  const auto& proc = what.who.proc;
  if (!needs_identity(what.who.role) && !proc.nspace.empty()) {
    infos.push_back(make_info(attr::nspace, value::string(proc.nspace)));
    infos.push_back(make_info(attr::rank, value::rank(proc.rank)));
  }
  auto args = arguments_of(proc);
  args->set_infos(infos);
  auto promise = self->make_response_promise<proc_id>();
  to.calls.make<proc_id>(
    "tool_connected", args, usual_limit(), replying(promise),
    [&](void* cbdata) -> pmix_status_t {
      if (module.tool_connected2 != nullptr)
        return module.tool_connected2(args->infos.data(), args->infos.size(),
                                      upcalls::on_tool, cbdata);
      module.tool_connected(args->infos.data(), args->infos.size(),
                            upcalls::on_tool, cbdata);
      return PMIX_SUCCESS;
    });
  return promise;
}

// -- collectives and data ----------------------------------------------------

/// The receiver that answers with what `convert` makes of the bytes of a modex.
template <class Result, class Convert>
upcall_receiver<modex_bytes>
replying_with_data(caf::typed_response_promise<Result> promise,
                   Convert convert) {
  return [reply = replying(std::move(promise)),
          convert](caf::expected<modex_bytes> x) {
    if (!x)
      return reply(std::move(x.error()));
    auto data = from_modex_blob(x->bytes);
    if (!data)
      return reply(std::move(data.error()));
    reply(convert(std::move(*data)));
  };
}

/// Bytes that the host takes over and frees: hosts have always done so.
/// Source: OpenPMIx; Open MPI 4.1 frees them.
caf::expected<char*> given_away(const std::string& bytes) {
  if (bytes.empty())
    return nullptr;
  auto* result = static_cast<char*>(std::malloc(bytes.size()));
  if (result == nullptr)
    return make_error(status::nomem, "no memory for the data of a fence");
  std::memcpy(result, bytes.data(), bytes.size());
  return result;
}

caf::result<host_collective_result> fence(self_pointer self,
                                          const host_collective& call) {
  auto& to = *self->state.to;
  const auto f = to.settings.module.fence_nb;
  if (f == nullptr)
    return missing("fence_nb, and not all participants are on this node");
  auto blob = to_modex_blob(call.data);
  if (!blob)
    return std::move(blob.error());
  auto bytes = given_away(*blob);
  if (!bytes)
    return std::move(bytes.error());
  auto args = std::make_shared<upcall_arguments>();
  args->set_procs(call.procs);
  args->set_infos(without_false(call.directives));
  auto promise = self->make_response_promise<host_collective_result>();
  to.calls.make<modex_bytes>(
    "fence_nb", args, limit_of(call.directives),
    replying_with_data(
      promise,
      [is_met = to.settings.is_met](std::vector<proc_data> data) {
        // Nobody here is to be greeted: they are no data of
        // processes.
        if (!is_met)
          take_greetings(data, {});
        return host_collective_result{std::move(data)};
      }),
    [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), *bytes, blob->size(), upcalls::on_modex,
               cbdata);
    });
  return promise;
}

caf::result<host_collective_result> join(self_pointer self,
                                         const host_collective& call) {
  auto& to = *self->state.to;
  // Open MPI 4.1 fails at processes that it is asked to connect on one node.
  // Source: OpenPMIx, which does not bother the host with these.
  if (call.is_local)
    return host_collective_result{};
  if (call.kind == collective_kind::fence)
    return fence(self, call);
  const auto is_connect = call.kind == collective_kind::connect;
  const auto* const entry = is_connect ? "connect" : "disconnect";
  const auto f =
    is_connect ? to.settings.module.connect : to.settings.module.disconnect;
  if (f == nullptr)
    return missing(entry);
  auto args = std::make_shared<upcall_arguments>();
  args->set_procs(call.procs);
  args->set_infos(without_false(call.directives));
  auto promise = self->make_response_promise<host_collective_result>();
  to.calls.make<ack>(
    entry, args, limit_of(call.directives),
    [reply = replying(promise)](caf::expected<ack> x) {
      if (x)
        reply(host_collective_result{});
      else
        reply(std::move(x.error()));
    },
    [&](void* cbdata) {
      return f(args->procs.data(), args->procs.size(), args->infos.data(),
               args->infos.size(), upcalls::on_op, cbdata);
    });
  return promise;
}

caf::result<get_result> fetch(self_pointer self, const direct_modex& request) {
  auto& to = *self->state.to;
  const auto f = to.settings.module.direct_modex;
  if (f == nullptr)
    return make_error(status::not_found,
                      "the host has no direct_modex; ask for the data by a "
                      "fence with PMIX_COLLECT_DATA");
  auto args = arguments_of(request.target);
  auto directives = without_false(request.directives);
  // Between our own.
  directives.erase(
    std::remove_if(directives.begin(), directives.end(),
                   [](const info& x) { return x.key == question_number; }),
    directives.end());
  args->set_infos(directives);
  auto promise = self->make_response_promise<get_result>();
  const auto time = limit_of(request.directives);
  to.calls.make<modex_bytes>(
    "direct_modex", args, time ? time : usual_limit(),
    replying_with_data(
      promise,
      [](std::vector<proc_data> data) { return get_result{std::move(data)}; }),
    [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               upcalls::on_modex, cbdata);
    });
  return promise;
}

/// The handler of requests for logs of groups: none is kept here.
template <class Result, class Request>
auto no_mesh() {
  return [](const Request&) -> caf::result<Result> {
    return make_error(status::not_supported,
                      "this server keeps no logs of groups with others");
  };
}

// NOLINTNEXTLINE(readability-function-size): a flat list of messages.
c_host_actor::behavior_type behavior(self_pointer self,
                                     c_host_settings settings) {
  auto log = settings.log;
  self->state.to.emplace(std::move(settings),
                         effects_of_calls(self, std::move(log)),
                         effects_of_streams(self));
  const auto request = [self](auto f) {
    return asks(self, &callers::requests, f);
  };
  return {
    [self](const client_connected& what) { return connect(self, what); },
    [self](const client_finalized& what) { return finalize(self, what); },
    [self](const client_lost& what) {
      // A tool that was not let in: nobody knows of it.
      if (what.who.proc.nspace.empty())
        return;
      self->state.to->streams.forget(what.who);
      self->state.to->settings.on_lost(what.who);
    },
    [self](const tool_connected& what) { return identify(self, what); },
    [self](const host_collective& call) { return join(self, call); },
    [self](const direct_modex& request) { return fetch(self, request); },
    request(&c_host_requests::notify),
    request(&c_host_requests::register_events),
    [self](const requester& who, const deregister_events_request& request) {
      self->state.to->requests.deregister_events(who, request);
    },
    request(&c_host_requests::log),
    request(&c_host_requests::query),
    request(&c_host_requests::monitor),
    no_mesh<proc_places, locate_procs>(),
    no_mesh<ack, order_group_entry>(),
    [](const extend_group_log&) {},
    [](const close_group_log&) {},
    [self](host_group& request) -> caf::result<info_result> {
      auto promise = self->make_response_promise<info_result>();
      self->state.to->requests.conduct_group(request, replying(promise));
      return promise;
    },
    asks(self, &callers::streams, &c_host_streams::push),
#define TROUPE_HOST_REQUEST(number, command, type, answer)                     \
  request(static_cast<void (c_host_requests::*)(const requester&, type&,       \
                                                upcall_receiver<answer>)>(     \
    &c_host_requests::carry_out)),
#include "messages/requests.def"
    [self](deadline due) { self->state.to->calls.wake(due.id); },
  };
}

} // namespace

c_host_actor spawn_c_host(caf::actor_system& sys, c_host_settings settings) {
  return sys.spawn(behavior, std::move(settings));
}

} // namespace troupe
