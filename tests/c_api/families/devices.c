/* Helpers: hardware and usage. */

#include "expect.h"

static void topology(void) {
  pmix_topology_t one;
  pmix_topology_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Topology_construct(&one);
  PMIx_Topology_destruct(&one);
  many = PMIx_Topology_create(2);
  EXPECT(many != NULL);
  PMIx_Topology_free(many, 2);
  PMIx_Topology_free(NULL, 0);
}

static void cpuset(void) {
  pmix_cpuset_t one;
  pmix_cpuset_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Cpuset_construct(&one);
  PMIx_Cpuset_destruct(&one);
  many = PMIx_Cpuset_create(2);
  EXPECT(many != NULL);
  PMIx_Cpuset_free(many, 2);
  PMIx_Cpuset_free(NULL, 0);
}

static void coord(void) {
  pmix_coord_t one;
  pmix_coord_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Coord_construct(&one);
  PMIx_Coord_destruct(&one);
  many = PMIx_Coord_create(3, 2);
  EXPECT(many != NULL);
  PMIx_Coord_free(many, 2);
  PMIx_Coord_free(NULL, 0);
}

static void geometry(void) {
  pmix_geometry_t one;
  pmix_geometry_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Geometry_construct(&one);
  PMIx_Geometry_destruct(&one);
  many = PMIx_Geometry_create(2);
  EXPECT(many != NULL);
  PMIx_Geometry_free(many, 2);
  PMIx_Geometry_free(NULL, 0);
}

static void device(void) {
  pmix_device_t one;
  pmix_device_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Device_construct(&one);
  PMIx_Device_destruct(&one);
  many = PMIx_Device_create(2);
  EXPECT(many != NULL);
  PMIx_Device_free(many, 2);
  PMIx_Device_free(NULL, 0);
}

static void device_distance(void) {
  pmix_device_distance_t one;
  pmix_device_distance_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Device_distance_construct(&one);
  PMIx_Device_distance_destruct(&one);
  many = PMIx_Device_distance_create(2);
  EXPECT(many != NULL);
  PMIx_Device_distance_free(many, 2);
  PMIx_Device_distance_free(NULL, 0);
}

static void endpoint(void) {
  pmix_endpoint_t one;
  pmix_endpoint_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Endpoint_construct(&one);
  PMIx_Endpoint_destruct(&one);
  many = PMIx_Endpoint_create(2);
  EXPECT(many != NULL);
  PMIx_Endpoint_free(many, 2);
  PMIx_Endpoint_free(NULL, 0);
}

static void resource_unit(void) {
  pmix_resource_unit_t one;
  pmix_resource_unit_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Resource_unit_construct(&one);
  PMIx_Resource_unit_destruct(&one);
  many = PMIx_Resource_unit_create(2);
  EXPECT(many != NULL);
  PMIx_Resource_unit_free(many, 2);
  PMIx_Resource_unit_free(NULL, 0);
}

static void node_pid(void) {
  pmix_node_pid_t one;
  pmix_node_pid_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Node_pid_construct(&one);
  PMIx_Node_pid_destruct(&one);
  many = PMIx_Node_pid_create(2);
  EXPECT(many != NULL);
  PMIx_Node_pid_free(many, 2);
  PMIx_Node_pid_free(NULL, 0);
}

static void proc_stats(void) {
  pmix_proc_stats_t one;
  pmix_proc_stats_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Proc_stats_construct(&one);
  PMIx_Proc_stats_destruct(&one);
  many = PMIx_Proc_stats_create(2);
  EXPECT(many != NULL);
  PMIx_Proc_stats_free(many, 2);
  PMIx_Proc_stats_free(NULL, 0);
}

static void disk_stats(void) {
  pmix_disk_stats_t one;
  pmix_disk_stats_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Disk_stats_construct(&one);
  PMIx_Disk_stats_destruct(&one);
  many = PMIx_Disk_stats_create(2);
  EXPECT(many != NULL);
  PMIx_Disk_stats_free(many, 2);
  PMIx_Disk_stats_free(NULL, 0);
}

static void net_stats(void) {
  pmix_net_stats_t one;
  pmix_net_stats_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Net_stats_construct(&one);
  PMIx_Net_stats_destruct(&one);
  many = PMIx_Net_stats_create(2);
  EXPECT(many != NULL);
  PMIx_Net_stats_free(many, 2);
  PMIx_Net_stats_free(NULL, 0);
}

static void node_stats(void) {
  pmix_node_stats_t one;
  pmix_node_stats_t* many;

  memset(&one, 0xff, sizeof(one));
  PMIx_Node_stats_construct(&one);
  PMIx_Node_stats_destruct(&one);
  many = PMIx_Node_stats_create(2);
  EXPECT(many != NULL);
  PMIx_Node_stats_free(many, 2);
  PMIx_Node_stats_free(NULL, 0);
}

static void initial(void) {
  pmix_device_distance_t distance;
  pmix_fabric_t network;
  pmix_coord_t* places = PMIx_Coord_create(3, 2);

  PMIx_Device_distance_construct(&distance);
  EXPECT(distance.mindist == UINT16_MAX && distance.maxdist == UINT16_MAX);
  PMIx_Device_distance_destruct(&distance);
  memset(&network, 0xff, sizeof(network));
  PMIx_Fabric_construct(&network);
  EXPECT(network.name == NULL && network.info == NULL);
  EXPECT(network.module == NULL);
  EXPECT(places[1].dims == 3 && places[1].coord != NULL);
  PMIx_Coord_free(places, 2);
}

int main(void) {
  topology();
  cpuset();
  coord();
  geometry();
  device();
  device_distance();
  endpoint();
  resource_unit();
  node_pid();
  proc_stats();
  disk_stats();
  net_stats();
  node_stats();
  initial();
  return outcome();
}
