/* The sizes and offsets that programs were compiled with: those of releases
 * 4.2.2 to 7.0 on 64-bit Linux, where int has 4 bytes and pointers have 8. With
 * RELEASE_4, those that release 4.2.2 has too. */

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <stddef.h>

#define SIZE(type, bytes)                                                      \
  _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, offset)                                               \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define ENTRY(index, member) AT(pmix_server_module_t, member, (index)*8)

_Static_assert(PMIX_MAX_NSLEN == 255 && PMIX_MAX_KEYLEN == 511, "limits");

SIZE(pmix_nspace_t, 256);
SIZE(pmix_key_t, 512);
SIZE(pmix_rank_t, 4);
SIZE(pmix_status_t, 4);
SIZE(pmix_data_type_t, 2);
SIZE(pmix_scope_t, 1);
SIZE(pmix_data_range_t, 1);
SIZE(pmix_persistence_t, 1);
SIZE(pmix_info_directives_t, 4);
SIZE(pmix_proc_state_t, 1);
SIZE(pmix_job_state_t, 1);
SIZE(pmix_link_state_t, 1);
SIZE(pmix_alloc_directive_t, 1);
SIZE(pmix_iof_channel_t, 2);
SIZE(pmix_coord_view_t, 1);
SIZE(pmix_bind_envelope_t, 1);
SIZE(pmix_locality_t, 2);
SIZE(pmix_device_type_t, 8);
SIZE(pmix_storage_medium_t, 8);
SIZE(pmix_storage_accessibility_t, 8);
SIZE(pmix_storage_persistence_t, 8);
SIZE(pmix_storage_access_type_t, 2);
SIZE(pmix_value_cmp_t, 4);
SIZE(pmix_boolean_t, 4);
SIZE(pmix_group_opt_t, 4);
SIZE(pmix_group_operation_t, 4);
SIZE(pmix_fabric_operation_t, 4);

SIZE(pmix_proc_t, 260);
AT(pmix_proc_t, rank, 256);

SIZE(pmix_value_t, 32);
AT(pmix_value_t, type, 0);
AT(pmix_value_t, data, 8);

SIZE(pmix_info_t, 552);
AT(pmix_info_t, key, 0);
AT(pmix_info_t, flags, 512);
AT(pmix_info_t, value, 520);

SIZE(pmix_pdata_t, 808);
AT(pmix_pdata_t, proc, 0);
AT(pmix_pdata_t, key, 260);
AT(pmix_pdata_t, value, 776);

SIZE(pmix_app_t, 56);
AT(pmix_app_t, cmd, 0);
AT(pmix_app_t, argv, 8);
AT(pmix_app_t, env, 16);
AT(pmix_app_t, cwd, 24);
AT(pmix_app_t, maxprocs, 32);
AT(pmix_app_t, info, 40);
AT(pmix_app_t, ninfo, 48);

SIZE(pmix_query_t, 24);
AT(pmix_query_t, keys, 0);
AT(pmix_query_t, qualifiers, 8);
AT(pmix_query_t, nqual, 16);

SIZE(pmix_byte_object_t, 16);
AT(pmix_byte_object_t, size, 8);

SIZE(pmix_data_array_t, 24);
AT(pmix_data_array_t, size, 8);
AT(pmix_data_array_t, array, 16);

SIZE(pmix_data_buffer_t, 40);
AT(pmix_data_buffer_t, base_ptr, 0);
AT(pmix_data_buffer_t, pack_ptr, 8);
AT(pmix_data_buffer_t, unpack_ptr, 16);
AT(pmix_data_buffer_t, bytes_allocated, 24);
AT(pmix_data_buffer_t, bytes_used, 32);

SIZE(pmix_envar_t, 24);
AT(pmix_envar_t, value, 8);
AT(pmix_envar_t, separator, 16);

SIZE(pmix_regattr_t, 536);
AT(pmix_regattr_t, string, 8);
AT(pmix_regattr_t, type, 520);
AT(pmix_regattr_t, description, 528);

SIZE(pmix_proc_info_t, 296);
AT(pmix_proc_info_t, hostname, 264);
AT(pmix_proc_info_t, executable_name, 272);
AT(pmix_proc_info_t, pid, 280);
AT(pmix_proc_info_t, exit_code, 284);
AT(pmix_proc_info_t, state, 288);

SIZE(pmix_cpuset_t, 16);
AT(pmix_cpuset_t, bitmap, 8);
SIZE(pmix_topology_t, 16);
AT(pmix_topology_t, topology, 8);

SIZE(pmix_coord_t, 24);
AT(pmix_coord_t, coord, 8);
AT(pmix_coord_t, dims, 16);

SIZE(pmix_geometry_t, 40);
AT(pmix_geometry_t, uuid, 8);
AT(pmix_geometry_t, osname, 16);
AT(pmix_geometry_t, coordinates, 24);
AT(pmix_geometry_t, ncoords, 32);

SIZE(pmix_endpoint_t, 32);
AT(pmix_endpoint_t, osname, 8);
AT(pmix_endpoint_t, endpt, 16);

SIZE(pmix_device_distance_t, 32);
AT(pmix_device_distance_t, osname, 8);
AT(pmix_device_distance_t, type, 16);
AT(pmix_device_distance_t, mindist, 24);
AT(pmix_device_distance_t, maxdist, 26);

SIZE(pmix_fabric_t, 40);
AT(pmix_fabric_t, index, 8);
AT(pmix_fabric_t, info, 16);
AT(pmix_fabric_t, ninfo, 24);
AT(pmix_fabric_t, module, 32);

#ifndef RELEASE_4
/* From release 6 on. */
SIZE(pmix_alloc_inheritance_t, 1);
SIZE(pmix_resource_block_directive_t, 1);
SIZE(pmix_device_t, 24);
AT(pmix_device_t, type, 16);
SIZE(pmix_resource_unit_t, 16);
AT(pmix_resource_unit_t, count, 8);
SIZE(pmix_node_pid_t, 16);
AT(pmix_node_pid_t, nodeid, 8);
AT(pmix_node_pid_t, pid, 12);
SIZE(pmix_regex2_t, 24);
AT(pmix_regex2_t, bytes, 8);
AT(pmix_regex2_t, len, 16);

#endif

/* Until release 6.0. */
SIZE(pmix_proc_stats_t, 352);
AT(pmix_proc_stats_t, proc, 8);
AT(pmix_proc_stats_t, cmd, 272);
AT(pmix_proc_stats_t, time, 288);
AT(pmix_proc_stats_t, sample_time, 336);
SIZE(pmix_disk_stats_t, 96);
SIZE(pmix_net_stats_t, 56);
SIZE(pmix_node_stats_t, 104);
AT(pmix_node_stats_t, sample_time, 56);
AT(pmix_node_stats_t, diskstats, 72);

/* Entries 0 to 27 are those of release 4, 30 was 28 in release 5. */
#ifdef RELEASE_4
SIZE(pmix_server_module_t, 224);
#else
SIZE(pmix_server_module_t, 256);
#endif
ENTRY(0, client_connected);
ENTRY(1, client_finalized);
ENTRY(2, abort);
ENTRY(3, fence_nb);
ENTRY(4, direct_modex);
ENTRY(5, publish);
ENTRY(6, lookup);
ENTRY(7, unpublish);
ENTRY(8, spawn);
ENTRY(9, connect);
ENTRY(10, disconnect);
ENTRY(11, register_events);
ENTRY(12, deregister_events);
ENTRY(13, listener);
ENTRY(14, notify_event);
ENTRY(15, query);
ENTRY(16, tool_connected);
ENTRY(17, log);
ENTRY(18, allocate);
ENTRY(19, job_control);
ENTRY(20, monitor);
ENTRY(21, get_credential);
ENTRY(22, validate_credential);
ENTRY(23, iof_pull);
ENTRY(24, push_stdin);
ENTRY(25, group);
ENTRY(26, fabric);
ENTRY(27, client_connected2);
#ifndef RELEASE_4
ENTRY(28, tool_connected2);
ENTRY(29, log2);
ENTRY(30, session_control);
ENTRY(31, resource_block);
#endif
