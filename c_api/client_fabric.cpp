// Fabrics: the host answers. Distances to devices are computed here.

#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"
#include "messages/control.hpp"

using namespace troupe;
using namespace troupe::c_api;

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
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  return fill(*fabric, lib.ask_and_wait<info_result>(
                         fabric_register_request{std::move(*options)}));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t* fabric,
                                      const pmix_info_t directives[],
                                      size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                      void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  TROUPE_TAKE(options, to_infos(directives, ndirs));
  return ask_fabric(lib, fabric_register_request{std::move(*options)}, fabric,
                    cbfunc, cbdata);
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t* fabric) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check_blocking(); code != PMIX_SUCCESS)
    return code;
  if (fabric == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return fill(*fabric, lib.ask_and_wait<info_result>(
                         fabric_update_request{fabric->index}));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t* fabric,
                                    pmix_op_cbfunc_t cbfunc, void* cbdata) try {
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
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
  const auto& lib = library::instance();
  if (const auto code = lib.check(); code != PMIX_SUCCESS)
    return code;
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
