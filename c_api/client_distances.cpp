// Distances to devices, without waiting: they are computed on the caller's
// thread, and handed over on ours.

#include "c_api/helpers/failure.hpp"
#include "c_api/request.hpp"

using namespace troupe;
using namespace troupe::c_api;

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
