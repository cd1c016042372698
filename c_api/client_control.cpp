#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "c_api/shared_posts.hpp"
#include "messages/control.hpp"

#include <caf/send.hpp>

// Job control, monitoring, allocations, sessions, credentials and fabrics: the
// host answers. Distances to devices are computed here.

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// Whether `x` says nothing but that it is there: the RFC's programs load such
/// attributes with a null pointer, others leave the value away.
bool is_bare(const value& x) {
  return x.type == data_type::pointer || x.type == data_type::undef;
}

/// Gives an attribute that is there a value that any server can read. A null
/// pointer stands for all requests or monitors to be cancelled, whatever its
/// type; for a heartbeat, presence is enough.
/// Source: RFC0015, PMIX_JOB_CTRL_CANCEL, PMIX_MONITOR_CANCEL and
/// PMIX_MONITOR_HEARTBEAT; requirements A21, A22.
void fill_in(info& x) {
  if (!is_bare(x.val))
    return;
  if (x.key == attr::job_ctrl_cancel || x.key == attr::monitor_cancel) {
    x.val = value{};
    x.val.type = data_type::string;
  } else if (x.key == attr::monitor_heartbeat
             || x.key == attr::send_heartbeat) {
    x.val = value::boolean(true);
  }
}

caf::expected<std::vector<info>> to_control_infos(const pmix_info_t* xs,
                                                  size_t n) {
  auto result = to_infos(xs, n);
  if (result)
    for (auto& x : *result)
      fill_in(x);
  return result;
}

/// No targets stand for the caller's namespace, and stay so: it is the host
/// that knows it. Source: RFC0015, `PMIx_Job_control_nb`.
caf::expected<job_control_request>
make_job_control(const library& lib, const pmix_proc_t* targets,
                 size_t ntargets, const pmix_info_t* directives, size_t ndirs) {
  auto procs = to_procs_of_jobs(lib, targets, ntargets);
  if (!procs)
    return std::move(procs.error());
  auto options = to_control_infos(directives, ndirs);
  if (!options)
    return std::move(options.error());
  if (options->empty())
    return make_error(status::bad_param);
  return job_control_request{std::move(*procs), std::move(*options)};
}

caf::expected<monitor_request>
make_monitor_request(const pmix_info_t* monitor, pmix_status_t error,
                     const pmix_info_t* directives, size_t ndirs) {
  if (monitor == nullptr)
    return make_error(status::bad_param);
  auto what = to_control_infos(monitor, 1);
  if (!what)
    return std::move(what.error());
  auto options = to_control_infos(directives, ndirs);
  if (!options)
    return std::move(options.error());
  return monitor_request{std::move(what->front()),
                         static_cast<enum status>(error), std::move(*options)};
}

/// A heartbeat goes to the server without an answer.
/// Source: PMIx Standard v5, PMIX_SEND_HEARTBEAT.
bool is_heartbeat(const monitor_request& x) {
  return x.monitor.key == attr::send_heartbeat;
}

/// Nobody else reads the directives of a beat.
pmix_status_t check_beat(const monitor_request& x) {
  return to_c(
    check_required(pmix_call::process_monitor, x.directives, next_host::ours));
}

/// Sends a beat, unless the value is one that says not to.
pmix_status_t beat(const library& lib, const value& x) {
  if (x.type == data_type::bool_ && !x.truth())
    return PMIX_SUCCESS;
  if (const auto to = lib.current_link()) {
    using posting = store_access::posting;
    const auto core = lib.core();
    const auto outcome =
      core && to->is_open() ? core->shared->beat() : posting::refused;
    return outcome == posting::done ? PMIX_SUCCESS : to_c(to->beat());
  }
  const auto to = lib.session();
  if (!to)
    return PMIX_ERR_UNREACH;
  caf::anon_send(to, heartbeat{});
  return PMIX_SUCCESS;
}

caf::expected<allocation_request>
make_allocation(pmix_alloc_directive_t directive, const pmix_info_t* infos,
                size_t ninfo) {
  auto options = to_infos(infos, ninfo);
  if (!options)
    return std::move(options.error());
  return allocation_request{directive, std::move(*options)};
}

caf::expected<resource_block_request>
make_block(pmix_resource_block_directive_t directive, const char* block,
           const pmix_resource_unit_t* units, size_t nunits,
           const pmix_info_t* infos, size_t ninfo) {
  if (units == nullptr && nunits > 0)
    return make_error(status::bad_param);
  auto options = to_infos(infos, ninfo);
  if (!options)
    return std::move(options.error());
  auto x = resource_block_request{};
  x.directive = static_cast<uint8_t>(directive);
  if (block != nullptr)
    x.block = block;
  for (size_t i = 0; i < nunits; ++i)
    x.units.push_back({units[i].type, units[i].count});
  x.directives = std::move(*options);
  return x;
}

} // namespace

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_t** results, size_t* nresults) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresults);
  TROUPE_TAKE(x, make_job_control(lib, targets, ntargets, directives, ndirs));
  const auto limit = limit_of(x->directives);
  return await_control(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_job_control(lib, targets, ntargets, directives, ndirs));
  return ask_control(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Process_monitor(const pmix_info_t* monitor,
                                   pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t** results,
                                   size_t* nresults) try {
  TROUPE_ENTER(lib)
  clear(results, nresults);
  TROUPE_TAKE(x, make_monitor_request(monitor, error, directives, ndirs));
  if (is_heartbeat(*x)) {
    const auto code = check_beat(*x);
    return code == PMIX_SUCCESS ? beat(lib, x->monitor.val) : code;
  }
  const auto limit = limit_of(x->directives);
  return await_control(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t* monitor,
                                      pmix_status_t error,
                                      const pmix_info_t directives[],
                                      size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                      void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_monitor_request(monitor, error, directives, ndirs));
  if (is_heartbeat(*x)) {
    auto code = check_beat(*x);
    if (code == PMIX_SUCCESS)
      code = beat(lib, x->monitor.val);
    return code == PMIX_SUCCESS && cbfunc != nullptr ? PMIX_OPERATION_SUCCEEDED
                                                     : code;
  }
  return ask_control(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

// The headers of 4.2 have a macro of this name.
#undef PMIx_Heartbeat
void PMIx_Heartbeat(void) try {
  const auto& lib = library::instance();
  if (lib.check() == PMIX_SUCCESS)
    beat(lib, value::boolean(true));
} catch (...) {
  static_cast<void>(status_of_exception());
}

pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                      pmix_info_t* info, size_t ninfo,
                                      pmix_info_t** results,
                                      size_t* nresults) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresults);
  TROUPE_TAKE(x, make_allocation(directive, info, ninfo));
  const auto limit = limit_of(x->infos);
  return await_infos(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                         pmix_info_t* info, size_t ninfo,
                                         pmix_info_cbfunc_t cbfunc,
                                         void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_allocation(directive, info, ninfo));
  return ask_infos(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                  char* block, const pmix_resource_unit_t* res,
                                  size_t nres, const pmix_info_t* info,
                                  size_t ninfo) try {
  TROUPE_ENTER_BLOCKING(lib)
  TROUPE_TAKE(x, make_block(directive, block, res, nres, info, ninfo));
  const auto limit = limit_of(x->directives);
  return await_op(lib, std::move(*x), limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive,
                                     char* block,
                                     const pmix_resource_unit_t* res,
                                     size_t nres, const pmix_info_t* info,
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void* cbdata) try {
  TROUPE_ENTER(lib)
  TROUPE_TAKE(x, make_block(directive, block, res, nres, info, ninfo));
  return ask_op(lib, std::move(*x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Session_control(uint32_t sessionID,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc,
                                   void* cbdata) try {
  const auto& lib = library::instance();
  const auto code = cbfunc == nullptr ? lib.check_blocking() : lib.check();
  if (code != PMIX_SUCCESS)
    return code;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  auto x = session_control_request{sessionID, std::move(*options)};
  const auto limit = limit_of(x.directives);
  if (cbfunc == nullptr)
    return await_infos(lib, std::move(x), nullptr, nullptr, limit);
  return ask_infos(lib, std::move(x), cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

// -- credentials -------------------------------------------------------------

namespace {

caf::expected<validate_credential_request>
make_validate(const pmix_byte_object_t* cred, const pmix_info_t* infos,
              size_t ninfo) {
  if (cred == nullptr || (cred->bytes == nullptr && cred->size > 0))
    return make_error(status::bad_param);
  auto directives = to_infos(infos, ninfo);
  if (!directives)
    return std::move(directives.error());
  return validate_credential_request{to_bytes(cred), std::move(*directives)};
}

} // namespace

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t* credential) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (credential == nullptr)
    return PMIX_ERR_BAD_PARAM;
  credential->bytes = nullptr;
  credential->size = 0;
  TROUPE_TAKE(directives, to_infos(info, ninfo));
  const auto limit = limit_of(*directives);
  const auto result = lib.ask_and_wait<get_credential_result>(
    get_credential_request{std::move(*directives)}, limit);
  return result ? to_c_bytes(result->credential, *credential)
                : to_c(result.error());
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc,
                                     void* cbdata) try {
  TROUPE_ENTER(lib)
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(directives, to_infos(info, ninfo));
  return lib.ask<get_credential_result>(
    get_credential_request{std::move(*directives)},
    [cbfunc, cbdata](caf::expected<get_credential_result> x) {
      auto bytes = pmix_byte_object_t{};
      auto infos = c_infos{};
      if (x) {
        bytes.bytes = x->credential.data();
        bytes.size = x->credential.size();
        if (auto array = to_c_infos(x->infos))
          infos = std::move(*array);
      }
      cbfunc(code_of(x), x ? &bytes : nullptr, infos.data(), infos.size(),
             cbdata);
    });
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t* cred,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_info_t** results,
                                       size_t* nresults) try {
  TROUPE_ENTER_BLOCKING(lib)
  clear(results, nresults);
  TROUPE_TAKE(x, make_validate(cred, info, ninfo));
  const auto limit = limit_of(x->directives);
  return await_infos(lib, std::move(*x), results, nresults, limit);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t* cred,
                                          const pmix_info_t info[],
                                          size_t ninfo,
                                          pmix_validation_cbfunc_t cbfunc,
                                          void* cbdata) try {
  TROUPE_ENTER(lib)
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(x, make_validate(cred, info, ninfo));
  return lib.ask<info_result>(
    std::move(*x), [cbfunc, cbdata](const caf::expected<info_result>& y) {
      auto infos = c_infos{};
      if (y)
        if (auto array = to_c_infos(y->infos))
          infos = std::move(*array);
      cbfunc(code_of(y), infos.data(), infos.size(), cbdata);
    });
} catch (...) {
  return status_of_exception();
}

// -- fabrics -----------------------------------------------------------------

namespace {

/// Replaces what a fabric object holds.
pmix_status_t fill(pmix_fabric_t& fabric, const caf::expected<info_result>& x) {
  if (!x)
    return to_c(x.error());
  auto array = to_c_infos(x->infos);
  if (!array)
    return to_c(array.error());
  if (const auto index = number<uint64_t>(x->infos, attr::fabric_index))
    fabric.index = *index;
  free_array(fabric.info, fabric.ninfo);
  fabric.ninfo = array->size();
  fabric.info = array->release();
  return PMIX_SUCCESS;
}

template <class Request>
pmix_status_t ask_fabric(const library& lib, Request x, pmix_fabric_t* fabric,
                         pmix_op_cbfunc_t f, void* data) {
  return lib.ask<info_result>(
    std::move(x), [fabric, f, data](const caf::expected<info_result>& y) {
      const auto code = fill(*fabric, y);
      if (f != nullptr)
        f(code, data);
    });
}

void forget(pmix_fabric_t& fabric) {
  free_array(fabric.info, fabric.ninfo);
  fabric.info = nullptr;
  fabric.ninfo = 0;
}

} // namespace

pmix_status_t PMIx_Fabric_register(pmix_fabric_t* fabric,
                                   const pmix_info_t directives[],
                                   size_t ndirs) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  const auto limit = limit_of(*options);
  return fill(*fabric, lib.ask_and_wait<info_result>(
                         fabric_register_request{std::move(*options)}, limit));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t* fabric,
                                      const pmix_info_t directives[],
                                      size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                      void* cbdata) try {
  TROUPE_ENTER(lib)
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  return ask_fabric(lib, fabric_register_request{std::move(*options)}, fabric,
                    cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t* fabric) try {
  TROUPE_ENTER_BLOCKING(lib)
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return fill(*fabric, lib.ask_and_wait<info_result>(
                         fabric_update_request{fabric->index}));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t* fabric,
                                    pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  TROUPE_ENTER(lib)
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return ask_fabric(lib, fabric_update_request{fabric->index}, fabric, cbfunc,
                    cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t* fabric) try {
  if (const auto code = library::instance().check(); code != PMIX_SUCCESS)
    return code;
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  forget(*fabric);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t* fabric, pmix_op_cbfunc_t,
                                        void*) try {
  if (const auto code = library::instance().check(); code != PMIX_SUCCESS)
    return code;
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  forget(*fabric);
  return PMIX_OPERATION_SUCCEEDED;
} catch (...) {
  return status_of_exception();
}

// -- distances -----------------------------------------------------------------

// Without waiting: they are computed on the caller's thread, and handed over on
// ours.
pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t* topo,
                                        pmix_cpuset_t* cpuset,
                                        pmix_info_t info[], size_t ninfo,
                                        pmix_device_dist_cbfunc_t cbfunc,
                                        void* cbdata) try {
  TROUPE_ENTER(lib)
  if (cbfunc == nullptr)
    return PMIX_ERR_BAD_PARAM;
  pmix_device_distance_t* found = nullptr;
  auto count = size_t{0};
  const auto code =
    PMIx_Compute_distances(topo, cpuset, info, ninfo, &found, &count);
  if (code != PMIX_SUCCESS)
    return code;
  auto* parcel = new c_distances{found, count};
  const auto is_kept = lib.post([=] {
    cbfunc(
      PMIX_SUCCESS, parcel->data(), parcel->size(), cbdata,
      [](void* x) { delete static_cast<c_distances*>(x); }, parcel);
  });
  if (!is_kept)
    delete parcel;
  return is_kept ? PMIX_SUCCESS : PMIX_ERR_INIT;
} catch (...) {
  return status_of_exception();
}
