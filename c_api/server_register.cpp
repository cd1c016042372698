// What a host registers: namespaces, clients, resources, process sets.

#include "c_api/helpers/failure.hpp"
#include "c_api/server_job_data.hpp"
#include "c_api/server_role.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace troupe::c_api {

namespace {

/// Whether a pointer is a namespace's name; PMIX_ERR_BAD_PARAM otherwise.
pmix_status_t check_nspace(const char* nspace) {
  if (nspace == nullptr || nspace[0] == '\0'
      || ::strnlen(nspace, max_nspace_length + 1) > max_nspace_length)
    return PMIX_ERR_BAD_PARAM;
  return PMIX_SUCCESS;
}

pmix_status_t check_proc(const pmix_proc_t* proc) {
  if (proc == nullptr || proc->rank > rank_valid_max)
    return PMIX_ERR_BAD_PARAM;
  return check_nspace(proc->nspace);
}

/// Data of a job bears any key; of what tells the server how to take it, what
/// is required has to be acted upon.
caf::error check_registration(const std::vector<info>& infos) {
  constexpr auto call = pmix_call::server_register_nspace;
  auto told = std::vector<info>{};
  std::copy_if(infos.begin(), infos.end(), std::back_inserter(told),
               [](const info& x) {
                 return (x.flags & info_required) != 0
                        && treatment_of(call, x.key).has_value();
               });
  return check_required(call, told, next_host::ours);
}

/// For functions without a return value: whoever cannot be told by a callback
/// is not told.
void answer(pmix_status_t code, pmix_op_cbfunc_t f, void* data) {
  if (code != PMIX_SUCCESS && code != PMIX_OPERATION_SUCCEEDED && f != nullptr)
    f(code, data);
}

/// Tells the server, and waits unless this is the progress thread.
template <class Request>
pmix_status_t tell_and_wait(Request x) {
  TROUPE_ENTER_SERVER(role)
  if (!library::instance().in_progress_thread()) {
    code = tell_server(role, std::move(x), nullptr, nullptr);
    return code == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : code;
  }
  role->ask<ack>(std::move(x), [](const caf::expected<ack>&) {
    // Nobody can wait for it here.
  });
  return PMIX_SUCCESS;
}

} // namespace

} // namespace troupe::c_api

using namespace troupe;
using namespace troupe::c_api;

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace,
                                          int nlocalprocs, pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                          void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (code = check_nspace(nspace); code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  if (auto why = check_registration(*infos))
    return to_c(why);
  auto job = complete_job(std::move(*infos), role->hostname(), nlocalprocs,
                          std::string{nspace_of(nspace)});
  if (!job)
    return to_c(job.error());
  auto request = register_nspace{};
  request.nspace = nspace_of(nspace);
  request.owner = {::geteuid(), ::getegid()};
  request.local_ranks = std::move(job->local_ranks);
  request.infos = std::move(job->infos);
  request.clients_follow = true;
  const auto add = [&](std::string_view key, value val) {
    if (find(request.infos, key) == nullptr)
      request.infos.push_back({std::string{key}, 0, std::move(val)});
  };
  add(attr::server_nspace, value::string(role->id().nspace));
  add(attr::server_rank, value::rank(role->id().rank));
  add(attr::jobid, value::string(request.nspace));
  role->tell_hosts(request);
  return tell_server(role, std::move(request), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

void PMIx_server_deregister_nspace(const pmix_nspace_t nspace,
                                   pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  auto code = pmix_status_t{};
  const auto role = server_or(code);
  if (role)
    code = check_nspace(nspace);
  if (code == PMIX_SUCCESS) {
    const auto name = std::string{nspace_of(nspace)};
    role->objects().forget(name);
    role->forget_changes(name);
    role->tell_hosts(deregister_nspace{name});
    code = tell_server(role, deregister_nspace{name}, cbfunc, cbdata);
  }
  answer(code, cbfunc, cbdata);
} catch (...) {
  answer(status_of_exception(), cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t* proc, uid_t uid,
                                          gid_t gid, void* server_object,
                                          pmix_op_cbfunc_t cbfunc,
                                          void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  if (code = check_proc(proc); code != PMIX_SUCCESS)
    return code;
  const auto who = to_proc(*proc);
  role->objects().set(who, server_object);
  return tell_server(role, register_client{who, {uid, gid}}, cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

void PMIx_server_deregister_client(const pmix_proc_t* proc,
                                   pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  auto code = pmix_status_t{};
  const auto role = server_or(code);
  if (role)
    code = check_proc(proc);
  if (code == PMIX_SUCCESS) {
    const auto who = to_proc(*proc);
    role->objects().forget(who);
    code = tell_server(role, deregister_client{who}, cbfunc, cbdata);
  }
  answer(code, cbfunc, cbdata);
} catch (...) {
  answer(status_of_exception(), cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc,
                                             void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  return tell_server(role, register_resources{std::move(*infos)}, cbfunc,
                     cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc,
                                               void* cbdata) try {
  TROUPE_ENTER_SERVER(role)
  TROUPE_TAKE(infos, to_infos(info, ninfo));
  return tell_server(role, deregister_resources{std::move(*infos)}, cbfunc,
                     cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t* members,
                                             size_t nmembers,
                                             const char* pset_name) try {
  TROUPE_TAKE(procs, to_procs(members, nmembers));
  if (pset_name == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return tell_and_wait(define_process_set{pset_name, std::move(*procs)});
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_server_delete_process_set(char* pset_name) try {
  if (pset_name == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return tell_and_wait(delete_process_set{pset_name});
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Register_attributes(char* function, char* attrs[]) try {
  TROUPE_ENTER_SERVER(role)
  if (function == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return role->attributes().add(function, to_strings(attrs))
           ? PMIX_SUCCESS
           : PMIX_ERR_REPEAT_ATTR_REGISTRATION;
} catch (...) {
  return status_of_exception();
}
