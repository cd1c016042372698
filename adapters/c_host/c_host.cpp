#include "adapters/c_host/c_host.hpp"

#include "actors/mesh/mesh_greeting.hpp"
#include "actors/timeout.hpp"
#include "adapters/c_host/c_host_state.hpp"
#include "adapters/c_host/modex_blob.hpp"
#include "config/defaults.hpp"
#include "messages/attributes.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace c_host_internals {

limit usual_limit() {
  return caf::timespan{defaults::host_call};
}

limit limit_of(const std::vector<info>& directives) {
  auto time = timeout_of(directives);
  if (time)
    *time += defaults::host_timeout_margin;
  return time;
}

void remind(self_pointer self, uint64_t id, caf::timespan after) {
  self->delayed_send(c_host_actor{self}, after, deadline{id});
}

caf::error missing(const char* entry) {
  return make_error(status::not_supported,
                    std::string{"the host has no "} + entry);
}

std::vector<info> with_credentials(std::vector<info> infos,
                                   const requester& who) {
  // What the requester says of itself does not count.
  infos.erase(std::remove_if(infos.begin(), infos.end(),
                             [](const info& x) {
                               return x.key == attr::userid
                                      || x.key == attr::grpid;
                             }),
              infos.end());
  infos.push_back({std::string{attr::userid}, 0, value::uint32(who.creds.uid)});
  infos.push_back({std::string{attr::grpid}, 0, value::uint32(who.creds.gid)});
  return infos;
}

std::vector<info> without_false(std::vector<info> infos) {
  infos.erase(std::remove_if(infos.begin(), infos.end(),
                             [](const info& x) {
                               return x.val.type == data_type::bool_
                                      && !x.val.truth();
                             }),
              infos.end());
  return infos;
}

namespace {

/// An up-call has been answered, or its time is up.
void wake(self_pointer self, uint64_t id) {
  auto& state = self->state;
  if (const auto x = upcalls::take_answered(id)) {
    state.graces.erase(id);
    x->deliver();
    for (const auto& release : x->releases)
      release();
    return;
  }
  auto grace = state.graces.extract(id);
  if (!grace.empty()) {
    grace.mapped()();
    return;
  }
  if (const auto x = upcalls::give_up(id)) {
    const auto why = "the host does not answer " + x->name;
    state.log(severity::error, why);
    x->refuse(make_error(status::timeout, why));
  }
}

// -- processes ---------------------------------------------------------------

/// A host that has said yes to a client and does not call back means it: those
/// of release 4 and 5 never had to (trap 4).
caf::result<ack> connect(self_pointer self, const client_connected& what) {
  auto& state = self->state;
  const auto& module = state.module();
  if (module.client_connected == nullptr && module.client_connected2 == nullptr)
    return ack{};
  auto args = arguments_of(what.who);
  args->set_infos(with_credentials({}, what.who));
  const auto* const entry = module.client_connected2 != nullptr
                              ? "client_connected2"
                              : "client_connected";
  auto promise = self->make_response_promise<ack>();
  auto reply = std::make_shared<answer<ack>>(promise);
  auto id = uint64_t{0};
  call_host<ack>(
    self, entry, args, {},
    [reply](caf::expected<ack> x) {
      if (x)
        reply->give({});
      else
        reply->fail(std::move(x.error()));
    },
    [&](void* cbdata) {
      id = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(cbdata));
      auto* object = state.settings.objects->get(what.who.proc);
      return module.client_connected2 != nullptr
               ? module.client_connected2(
                 &args->proc, object, args->infos.data(), args->infos.size(),
                 upcalls::on_op, cbdata)
               : module.client_connected(&args->proc, object, upcalls::on_op,
                                         cbdata);
    });
  if (upcalls::find_open(id) == nullptr)
    return promise;
  if (state.is_silent_on_connect) {
    reply->give({});
    return promise;
  }
  state.graces.emplace(id, [self, reply] {
    self->state.is_silent_on_connect = true;
    reply->give({});
  });
  const auto is_old = state.settings.module_size <= module_size_5;
  remind(self, id,
         is_old ? caf::timespan{defaults::host_connect_grace}
                : caf::timespan{defaults::host_connect_grace_6});
  return promise;
}

caf::result<ack> finalize(self_pointer self, const client_finalized& what) {
  auto& state = self->state;
  forget_pulls(self, what.who);
  const auto f = state.module().client_finalized;
  if (f == nullptr || is_tool(what.who.role))
    return ack{};
  auto args = arguments_of(what.who);
  return call_and_reply<ack>(
    self, "client_finalized", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, state.settings.objects->get(what.who.proc),
               upcalls::on_op, cbdata);
    });
}

/// Source: PMIx Standard v5, `pmix_server_tool_connection_fn_t`.
caf::result<proc_id> identify(self_pointer self, const tool_connected& what) {
  const auto& module = self->state.module();
  if (module.tool_connected == nullptr && module.tool_connected2 == nullptr)
    return missing("tool_connected");
  auto infos = with_credentials(what.infos, what.who);
  if (!needs_identity(what.who.role) && !what.who.proc.nspace.empty()) {
    infos.push_back(
      {std::string{attr::nspace}, 0, value::string(what.who.proc.nspace)});
    infos.push_back(
      {std::string{attr::rank}, 0, value::rank(what.who.proc.rank)});
  }
  auto args = arguments_of(what.who);
  args->set_infos(infos);
  return call_and_reply<proc_id>(
    self, "tool_connected", args, usual_limit(),
    [&](void* cbdata) -> pmix_status_t {
      if (module.tool_connected2 != nullptr)
        return module.tool_connected2(args->infos.data(), args->infos.size(),
                                      upcalls::on_tool, cbdata);
      module.tool_connected(args->infos.data(), args->infos.size(),
                            upcalls::on_tool, cbdata);
      return PMIX_SUCCESS;
    });
}

caf::result<ack> abort(self_pointer self, const requester& who,
                       const abort_request& request) {
  auto& state = self->state;
  const auto f = state.module().abort;
  if (f == nullptr)
    return missing("abort");
  auto args = arguments_of(who);
  args->set_procs(request.procs);
  args->text = request.message.value_or("");
  return call_and_reply<ack>(
    self, "abort", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, state.settings.objects->get(who.proc),
               request.exit_status, args->text.c_str(), args->procs.data(),
               args->procs.size(), upcalls::on_op, cbdata);
    });
}

// -- collectives and data
// -------------------------------------------------------------------

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
  const auto f = self->state.module().fence_nb;
  if (f == nullptr)
    return missing("fence_nb, and not all participants are on this node");
  auto blob = to_modex_blob(call.data);
  if (!blob)
    return std::move(blob.error());
  auto bytes = given_away(*blob);
  if (!bytes)
    return std::move(bytes.error());
  auto args = std::make_shared<arguments>();
  args->set_procs(call.procs);
  args->set_infos(without_false(call.directives));
  auto promise = self->make_response_promise<host_collective_result>();
  call_host<modex_bytes>(
    self, "fence_nb", args, limit_of(call.directives),
    replying<modex_bytes, host_collective_result>(
      promise,
      [is_met = self->state.settings.is_met](
        const modex_bytes& x) -> caf::expected<host_collective_result> {
        auto data = from_modex_blob(x.bytes);
        if (!data)
          return std::move(data.error());
        // Nobody here is to be greeted: they are no data of processes.
        if (!is_met)
          take_greetings(*data, {});
        return host_collective_result{std::move(*data)};
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
  const auto& module = self->state.module();
  // Open MPI 4.1 fails at processes that it is asked to connect on one node.
  // Source: OpenPMIx, which does not bother the host with these.
  if (call.is_local)
    return host_collective_result{};
  if (call.kind == collective_kind::fence)
    return fence(self, call);
  const auto is_connect = call.kind == collective_kind::connect;
  const auto* const entry = is_connect ? "connect" : "disconnect";
  const auto f = is_connect ? module.connect : module.disconnect;
  if (f == nullptr)
    return missing(entry);
  auto args = std::make_shared<arguments>();
  args->set_procs(call.procs);
  args->set_infos(without_false(call.directives));
  auto promise = self->make_response_promise<host_collective_result>();
  call_host<ack>(self, entry, args, limit_of(call.directives),
                 replying<ack, host_collective_result>(
                   promise, [](ack) { return host_collective_result{}; }),
                 [&](void* cbdata) {
                   return f(args->procs.data(), args->procs.size(),
                            args->infos.data(), args->infos.size(),
                            upcalls::on_op, cbdata);
                 });
  return promise;
}

caf::result<get_result> fetch(self_pointer self, const direct_modex& request) {
  const auto f = self->state.module().direct_modex;
  if (f == nullptr)
    return make_error(status::not_found, "the host has no direct_modex");
  auto args = std::make_shared<arguments>();
  args->set_proc(request.target);
  args->set_infos(without_false(request.directives));
  auto promise = self->make_response_promise<get_result>();
  auto time = limit_of(request.directives);
  call_host<modex_bytes>(
    self, "direct_modex", args, time ? time : usual_limit(),
    replying<modex_bytes, get_result>(
      promise,
      [](const modex_bytes& x) -> caf::expected<get_result> {
        auto data = from_modex_blob(x.bytes);
        if (!data)
          return std::move(data.error());
        return get_result{std::move(*data)};
      }),
    [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               upcalls::on_modex, cbdata);
    });
  return promise;
}

/// No log is kept here.
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
  self->state.settings = std::move(settings);
  self->state.self = self->address();
  return {
    [self](const client_connected& what) { return connect(self, what); },
    [self](const client_finalized& what) { return finalize(self, what); },
    [self](const client_lost& what) {
      // A tool that was not let in: nobody knows of it.
      if (what.who.proc.nspace.empty())
        return;
      forget_pulls(self, what.who);
      self->state.settings.on_lost(what.who);
    },
    [self](const tool_connected& what) { return identify(self, what); },
    [self](const requester& who, const abort_request& request) {
      return abort(self, who, request);
    },
    [self](const host_collective& call) { return join(self, call); },
    [self](const direct_modex& request) { return fetch(self, request); },
    [self](const requester& who, publish_request& request) {
      return publish(self, who, request);
    },
    [self](const requester& who, lookup_request& request) {
      return look_up(self, who, request);
    },
    [self](const requester& who, unpublish_request& request) {
      return unpublish(self, who, request);
    },
    [self](const requester& who, spawn_request& request) {
      return spawn(self, who, request);
    },
    [self](const requester& who, notify_request& request) {
      return notify(self, who, request);
    },
    [self](const requester& who, const register_events_request& request) {
      return register_events(self, who, request);
    },
    [self](const requester& who, const deregister_events_request& request) {
      deregister_events(self, who, request);
    },
    [self](const requester& who, const log_request& request) {
      return write_log(self, who, request);
    },
    [self](const requester& who, const query_request& request) {
      return answer_query(self, who, request);
    },
    [self](const requester& who, job_control_request& request) {
      return control_job(self, who, request);
    },
    [self](const requester& who, monitor_request& request) {
      return monitor(self, who, request);
    },
    [self](const requester& who, allocation_request& request) {
      return allocate(self, who, request);
    },
    [self](const requester& who, session_control_request& request) {
      return control_session(self, who, request);
    },
    [self](const requester& who, resource_block_request& request) {
      return change_block(self, who, request);
    },
    [self](const requester& who, get_credential_request& request) {
      return get_credential(self, who, request);
    },
    [self](const requester& who, validate_credential_request& request) {
      return validate(self, who, request);
    },
    [self](const requester& who, const fabric_register_request& request) {
      return ask_fabric(self, who, PMIX_FABRIC_REQUEST_INFO,
                        request.directives);
    },
    [self](const requester& who, const fabric_update_request& request) {
      return ask_fabric(
        self, who, PMIX_FABRIC_UPDATE_INFO,
        {{std::string{attr::fabric_index}, 0, value::size(request.index)}});
    },
    no_mesh<proc_places, locate_procs>(),
    no_mesh<ack, order_group_entry>(),
    [](const extend_group_log&) {},
    [](const close_group_log&) {},
    [self](host_group& request) { return conduct_group(self, request); },
    [self](const requester& who, io_pull_request& request) {
      return pull_output(self, who, request);
    },
    [self](const requester& who, io_deregister_request& request) {
      return end_pull(self, who, request);
    },
    [self](const requester& who, io_push_request& request) {
      return push_input(self, who, request);
    },
    [self](deadline due) { wake(self, due.id); },
  };
}

} // namespace

} // namespace c_host_internals

c_host_actor spawn_c_host(caf::actor_system& sys, c_host_settings settings) {
  return sys.spawn(c_host_internals::behavior, std::move(settings));
}

} // namespace troupe
