#include "adapters/c_host/c_host_state.hpp"
#include "adapters/c_host/origin_mark.hpp"
#include "messages/attributes.hpp"

#include <algorithm>

// Requests of one process that the host answers: each up-call as it stands in
// the module.

namespace troupe::c_host_internals {

caf::result<ack> publish(self_pointer self, const requester& who,
                         publish_request& request) {
  const auto f = self->state.module().publish;
  if (f == nullptr)
    return missing("publish");
  auto args = arguments_of(who);
  args->set_infos(with_credentials(std::move(request.infos), who));
  return call_and_reply<ack>(
    self, "publish", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               upcalls::on_op, cbdata);
    });
}

caf::result<lookup_result> look_up(self_pointer self, const requester& who,
                                   lookup_request& request) {
  const auto f = self->state.module().lookup;
  if (f == nullptr)
    return missing("lookup");
  auto args = arguments_of(who);
  const auto waits = find(request.directives, attr::wait) != nullptr;
  const auto time = waits ? limit_of(request.directives) : usual_limit();
  args->set_keys(std::move(request.keys));
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<lookup_result>(
    self, "lookup", args, time, [&](void* cbdata) {
      return f(&args->proc, args->keys.data(), args->infos.data(),
               args->infos.size(), upcalls::on_lookup, cbdata);
    });
}

caf::result<ack> unpublish(self_pointer self, const requester& who,
                           unpublish_request& request) {
  const auto f = self->state.module().unpublish;
  if (f == nullptr)
    return missing("unpublish");
  auto args = arguments_of(who);
  const auto all = request.keys.empty();
  args->set_keys(std::move(request.keys));
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<ack>(
    self, "unpublish", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, all ? nullptr : args->keys.data(),
               args->infos.data(), args->infos.size(), upcalls::on_op, cbdata);
    });
}

caf::result<spawn_result> spawn(self_pointer self, const requester& who,
                                spawn_request& request) {
  const auto f = self->state.module().spawn;
  if (f == nullptr)
    return missing("spawn");
  auto args = arguments_of(who);
  const auto time = limit_of(request.job_infos);
  auto wish = forwarded_output(who, request.job_infos);
  args->set_infos(with_credentials(std::move(request.job_infos), who));
  args->take(args->apps, c_api::to_c_apps(request.apps));
  auto promise = self->make_response_promise<spawn_result>();
  auto owed = std::make_shared<answer<spawn_result>>(promise);
  call_host<spawned>(
    self, "spawn", args, time,
    [self, who, wish, owed](caf::expected<spawned> x) {
      if (!x) {
        owed->fail(std::move(x.error()));
        return;
      }
      forward_output(self, who, wish, x->nspace, [owed, nspace = x->nspace] {
        owed->give({nspace, {}, {}});
      });
    },
    [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               args->apps.data(), args->apps.size(), upcalls::on_spawn, cbdata);
    });
  return promise;
}

caf::result<ack> notify(self_pointer self, const requester& who,
                        notify_request& request) {
  // Source: RFC0002, "RM-Host Registrations".
  const auto is_heard =
    request.range == data_range::rm
    && self->state.settings.on_manager_event(
      event{request.code, who.proc, request.range, request.infos});
  const auto f = self->state.module().notify_event;
  if (f == nullptr)
    return is_heard ? caf::result<ack>{ack{}}
                    : caf::result<ack>{missing("notify_event")};
  auto args = arguments_of(who);
  mark_origin(request.infos, self->state.settings.origin);
  args->set_infos(request.infos);
  return call_and_reply<ack>(
    self, "notify_event", args, usual_limit(), [&](void* cbdata) {
      return f(static_cast<pmix_status_t>(request.code), &args->proc,
               static_cast<pmix_data_range_t>(request.range),
               args->infos.data(), args->infos.size(), upcalls::on_op, cbdata);
    });
}

caf::result<ack> register_events(self_pointer self, const requester& who,
                                 const register_events_request& request) {
  const auto f = self->state.module().register_events;
  if (f == nullptr)
    return missing("register_events");
  auto args = arguments_of(who);
  args->set_codes(request.codes);
  args->set_infos(request.directives);
  return call_and_reply<ack>(
    self, "register_events", args, usual_limit(), [&](void* cbdata) {
      return f(args->codes_or_null(), args->codes.size(), args->infos.data(),
               args->infos.size(), upcalls::on_op, cbdata);
    });
}

void deregister_events(self_pointer self, const requester& who,
                       const deregister_events_request& request) {
  const auto f = self->state.module().deregister_events;
  if (f == nullptr)
    return;
  const auto call = [&](const std::vector<status>& codes) {
    auto args = arguments_of(who);
    args->set_codes(codes);
    call_host<ack>(
      self, "deregister_events", args, usual_limit(),
      [](const caf::expected<ack>&) {
        // Nobody waits for it.
      },
      [&](void* cbdata) {
        return f(args->codes_or_null(), args->codes.size(), upcalls::on_op,
                 cbdata);
      });
  };
  // All codes are a call of their own: a null list, as in registering.
  auto codes = request.codes;
  const auto all = std::remove(codes.begin(), codes.end(), default_events);
  const auto has_all = all != codes.end();
  codes.erase(all, codes.end());
  if (has_all)
    call({});
  if (!codes.empty())
    call(codes);
}

caf::result<ack> write_log(self_pointer self, const requester& who,
                           const log_request& request) {
  const auto& module = self->state.module();
  if (module.log == nullptr && module.log2 == nullptr)
    return missing("log");
  auto args = arguments_of(who);
  args->set_infos(request.data);
  args->set_directives(request.directives);
  return call_and_reply<ack>(
    self, "log", args, usual_limit(), [&](void* cbdata) -> pmix_status_t {
      if (module.log2 != nullptr)
        return module.log2(&args->proc, args->infos.data(), args->infos.size(),
                           args->directives.data(), args->directives.size(),
                           upcalls::on_op, cbdata);
      module.log(&args->proc, args->infos.data(), args->infos.size(),
                 args->directives.data(), args->directives.size(),
                 upcalls::on_op, cbdata);
      return PMIX_SUCCESS;
    });
}

caf::result<info_result> answer_query(self_pointer self, const requester& who,
                                      const query_request& request) {
  const auto f = self->state.module().query;
  if (f == nullptr)
    return missing("query");
  auto args = arguments_of(who);
  args->take(args->queries, c_api::to_c_queries(request.queries));
  return call_and_reply<info_result>(
    self, "query", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, args->queries.data(), args->queries.size(),
               upcalls::on_info, cbdata);
    });
}

// -- credentials and fabric
// -------------------------------------------------------------------

caf::result<get_credential_result>
get_credential(self_pointer self, const requester& who,
               get_credential_request& request) {
  const auto f = self->state.module().get_credential;
  if (f == nullptr)
    return missing("get_credential");
  auto args = arguments_of(who);
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<get_credential_result>(
    self, "get_credential", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, args->infos.data(), args->infos.size(),
               upcalls::on_credential, cbdata);
    });
}

caf::result<info_result> validate(self_pointer self, const requester& who,
                                  validate_credential_request& request) {
  const auto f = self->state.module().validate_credential;
  if (f == nullptr)
    return missing("validate_credential");
  auto args = arguments_of(who);
  args->set_bytes(std::move(request.credential));
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<info_result>(
    self, "validate_credential", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, &args->object, args->infos.data(),
               args->infos.size(), upcalls::on_validation, cbdata);
    });
}

caf::result<info_result> ask_fabric(self_pointer self, const requester& who,
                                    uint8_t operation,
                                    const std::vector<info>& directives) {
  const auto f = self->state.module().fabric;
  if (f == nullptr)
    return missing("fabric");
  auto args = arguments_of(who);
  args->set_infos(with_credentials(directives, who));
  return call_and_reply<info_result>(
    self, "fabric", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, static_cast<pmix_fabric_operation_t>(operation),
               args->infos.data(), args->infos.size(), upcalls::on_info,
               cbdata);
    });
}

} // namespace troupe::c_host_internals
