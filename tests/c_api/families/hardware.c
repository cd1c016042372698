/* Fabric, topology, processors, distances. */

#include "expect.h"

static void on_done(pmix_status_t status, void* cbdata) {
  (void)status;
  *(int*)cbdata += 1;
}

static void on_distances(pmix_status_t status, pmix_device_distance_t* dist,
                         size_t ndist, void* cbdata,
                         pmix_release_cbfunc_t release_fn,
                         void* release_cbdata) {
  (void)status;
  (void)dist;
  (void)ndist;
  (void)cbdata;
  if (release_fn != NULL)
    release_fn(release_cbdata);
}

int main(void) {
  int calls = 0;
  pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;
  pmix_topology_t topology = PMIX_TOPOLOGY_STATIC_INIT;
  pmix_cpuset_t cpuset = PMIX_CPUSET_STATIC_INIT;
  pmix_device_distance_t* distances = NULL;
  size_t ndistances = 0;
  pmix_locality_t locality = PMIX_LOCALITY_UNKNOWN;

  EXPECT_NO_SERVER(PMIx_Fabric_register(&fabric, NULL, 0));
  EXPECT_NO_SERVER(PMIx_Fabric_register_nb(&fabric, NULL, 0, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Fabric_update(&fabric));
  EXPECT_NO_SERVER(PMIx_Fabric_update_nb(&fabric, on_done, &calls));
  EXPECT_NO_SERVER(PMIx_Fabric_deregister(&fabric));
  EXPECT_NO_SERVER(PMIx_Fabric_deregister_nb(&fabric, on_done, &calls));
  EXPECT(calls == 0);

  /* These may work without a server. */
  CALL(PMIx_Load_topology(&topology));
  CALL(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS));
  PMIx_Cpuset_destruct(&cpuset);
  PMIx_Cpuset_construct(&cpuset);
  CALL(PMIx_Parse_cpuset_string("hwloc:0-1", &cpuset));
  CALL(PMIx_Compute_distances(&topology, &cpuset, NULL, 0, &distances,
                              &ndistances));
  CALL(
    PMIx_Compute_distances_nb(&topology, &cpuset, NULL, 0, on_distances, NULL));
  CALL(PMIx_Get_relative_locality("hwloc:NM0:CR0", "hwloc:NM0:CR0", &locality));
  EXPECT(PMIx_Parse_cpuset_string(NULL, &cpuset) != PMIX_SUCCESS);
  EXPECT(PMIx_Get_relative_locality(NULL, NULL, &locality) != PMIX_SUCCESS);
  return outcome();
}
