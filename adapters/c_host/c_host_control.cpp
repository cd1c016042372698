#include "adapters/c_host/c_host_state.hpp"
#include "messages/attributes.hpp"
#include "messages/denial.hpp"

// Control of jobs, sessions and allocations, monitoring and groups: each
// up-call as it stands in the module.

namespace troupe::c_host_internals {

namespace {

/// What a host may take for job control: as long as the requester waits; a
/// checkpoint as long as the processes take.
limit control_limit(const std::vector<info>& directives) {
  if (auto time = limit_of(directives))
    return time;
  if (find(directives, attr::job_ctrl_checkpoint) != nullptr)
    return std::nullopt;
  return usual_limit();
}

} // namespace

/// No targets stay none: they are the requester's namespace.
/// Source: RFC0015, `pmix_server_job_control_fn_t`.
caf::result<info_result> control_job(self_pointer self, const requester& who,
                                     job_control_request& request) {
  const auto f = self->state.module().job_control;
  if (f == nullptr)
    return missing("job_control");
  auto args = arguments_of(who);
  const auto time = control_limit(request.directives);
  args->set_procs(request.targets);
  args->set_infos(with_credentials(std::move(request.directives), who));
  auto promise = self->make_response_promise<info_result>();
  call_host<info_result>(
    self, "job_control", args, time,
    replying<info_result, info_result>(
      promise,
      [](info_result x) -> caf::expected<info_result> {
        if (x.complete)
          return x;
        return make_error(status::partial_success,
                          "the host did it to some of the targets",
                          std::move(x.infos));
      }),
    [&](void* cbdata) {
      return f(&args->proc, args->procs.data(), args->procs.size(),
               args->infos.data(), args->infos.size(), upcalls::on_info,
               cbdata);
    });
  return promise;
}

caf::result<info_result> monitor(self_pointer self, const requester& who,
                                 monitor_request& request) {
  const auto f = self->state.module().monitor;
  if (f == nullptr)
    return missing("monitor");
  auto args = arguments_of(who);
  args->set_infos({std::move(request.monitor)});
  args->set_directives(with_credentials(std::move(request.directives), who));
  return call_and_reply<info_result>(
    self, "monitor", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, args->infos.data(),
               static_cast<pmix_status_t>(request.error_code),
               args->directives.data(), args->directives.size(),
               upcalls::on_info, cbdata);
    });
}

caf::result<info_result> allocate(self_pointer self, const requester& who,
                                  allocation_request& request) {
  const auto f = self->state.module().allocate;
  if (f == nullptr)
    return missing("allocate");
  auto args = arguments_of(who);
  args->set_infos(with_credentials(std::move(request.infos), who));
  return call_and_reply<info_result>(
    self, "allocate", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, request.directive, args->infos.data(),
               args->infos.size(), upcalls::on_info, cbdata);
    });
}

caf::result<info_result> control_session(self_pointer self,
                                         const requester& who,
                                         session_control_request& request) {
  const auto f = self->state.module().session_control;
  if (f == nullptr)
    return missing("session_control");
  auto args = arguments_of(who);
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<info_result>(
    self, "session_control", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc, request.session, args->infos.data(),
               args->infos.size(), upcalls::on_info, cbdata);
    });
}

caf::result<ack> change_block(self_pointer self, const requester& who,
                              resource_block_request& request) {
  const auto f = self->state.module().resource_block;
  if (f == nullptr)
    return missing("resource_block");
  auto args = arguments_of(who);
  args->text = request.block.value_or("");
  for (const auto& x : request.units)
    args->units.push_back({x.type, static_cast<size_t>(x.count)});
  args->set_infos(with_credentials(std::move(request.directives), who));
  return call_and_reply<ack>(
    self, "resource_block", args, usual_limit(), [&](void* cbdata) {
      return f(&args->proc,
               static_cast<pmix_resource_block_directive_t>(request.directive),
               request.block ? args->text.c_str() : nullptr, args->units.data(),
               args->units.size(), args->infos.data(), args->infos.size(),
               upcalls::on_op, cbdata);
    });
}

// -- groups
// -----------------------------------------------------------------------

caf::result<info_result> conduct_group(self_pointer self, host_group& request) {
  const auto f = self->state.module().group;
  if (f == nullptr)
    return make_error(status::not_supported,
                      "group " + request.id
                        + " has members on other nodes, and the host has no"
                          " group; Troupe's own mesh (TROUPE_MESH=1) would"
                          " join them");
  const auto operation = request.operation == group_operation::construct
                           ? PMIX_GROUP_CONSTRUCT
                           : PMIX_GROUP_DESTRUCT;
  auto args = std::make_shared<arguments>();
  const auto time = limit_of(request.directives);
  args->text = std::move(request.id);
  args->set_procs(request.procs);
  args->set_infos(without_false(std::move(request.directives)));
  return call_and_reply<info_result>(
    self, "group", args, time, [&](void* cbdata) {
      return f(operation, args->text.data(), args->procs.data(),
               args->procs.size(), args->infos.data(), args->infos.size(),
               upcalls::on_info, cbdata);
    });
}

} // namespace troupe::c_host_internals
