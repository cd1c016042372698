#pragma once

// Code to (de)serialize and print the messages is made once, in inspect.cpp,
// instead of in every file that sends one. Included by messages/actors.hpp.

#include <caf/deserializer.hpp>
#include <caf/detail/stringification_inspector.hpp>
#include <caf/serializer.hpp>

/// Calls `X(type)` for every message and every structure inside one.
#define TROUPE_FOR_EACH_INSPECTED(X)                                           \
  X(abort_request)                                                             \
  X(ack)                                                                       \
  X(allocation_request)                                                        \
  X(app)                                                                       \
  X(ask_root)                                                                  \
  X(cleanup_path)                                                              \
  X(client_connected)                                                          \
  X(client_environment)                                                        \
  X(client_finalized)                                                          \
  X(client_lost)                                                               \
  X(close_connection)                                                          \
  X(close_peer)                                                                \
  X(close_stdin)                                                               \
  X(collective_failed)                                                         \
  X(collective_outcome)                                                        \
  X(collective_part)                                                           \
  X(collective_ready)                                                          \
  X(collective_retired)                                                        \
  X(commit_request)                                                            \
  X(connect_accepted)                                                          \
  X(connect_procs_request)                                                     \
  X(connect_procs_result)                                                      \
  X(connect_request)                                                           \
  X(connection_lost)                                                           \
  X(coord)                                                                     \
  X(credentials)                                                               \
  X(data_array)                                                                \
  X(deadline)                                                                  \
  X(declare_member_lost)                                                       \
  X(define_process_set)                                                        \
  X(delete_process_set)                                                        \
  X(deliver_event)                                                             \
  X(deregister_client)                                                         \
  X(deregister_events_request)                                                 \
  X(deregister_handler)                                                        \
  X(deregister_nspace)                                                         \
  X(deregister_resources)                                                      \
  X(device)                                                                    \
  X(device_distance)                                                           \
  X(device_distances_request)                                                  \
  X(device_distances_result)                                                   \
  X(direct_modex)                                                              \
  X(disconnect_procs_request)                                                  \
  X(discover_topology)                                                         \
  X(disk_stats)                                                                \
  X(drop_lane)                                                                 \
  X(end_job)                                                                   \
  X(end_share)                                                                 \
  X(endpoint)                                                                  \
  X(envar)                                                                     \
  X(environment_event)                                                         \
  X(environment_interest)                                                      \
  X(event)                                                                     \
  X(fabric_register_request)                                                   \
  X(fabric_update_request)                                                     \
  X(fence_request)                                                             \
  X(finalize_request)                                                          \
  X(forget_job)                                                                \
  X(geometry)                                                                  \
  X(get_credential_request)                                                    \
  X(get_credential_result)                                                     \
  X(get_mesh_status)                                                           \
  X(get_request)                                                               \
  X(get_result)                                                                \
  X(get_statistics)                                                            \
  X(group_construct_request)                                                   \
  X(group_construct_result)                                                    \
  X(group_destruct_request)                                                    \
  X(group_leave_request)                                                       \
  X(handler_call)                                                              \
  X(handler_registered)                                                        \
  X(handler_verdict)                                                           \
  X(heartbeat)                                                                 \
  X(host_answer)                                                               \
  X(host_call)                                                                 \
  X(host_collective)                                                           \
  X(host_collective_result)                                                    \
  X(info)                                                                      \
  X(info_result)                                                               \
  X(io_delivery)                                                               \
  X(io_deregister_request)                                                     \
  X(io_pull_request)                                                           \
  X(io_pull_result)                                                            \
  X(io_push_request)                                                           \
  X(job_control_request)                                                       \
  X(job_description)                                                           \
  X(job_ended)                                                                 \
  X(job_info)                                                                  \
  X(job_info_reply)                                                            \
  X(job_info_request)                                                          \
  X(job_list)                                                                  \
  X(job_map)                                                                   \
  X(job_mapped)                                                                \
  X(key_value)                                                                 \
  X(lane_closed)                                                               \
  X(lane_failed)                                                               \
  X(lane_opened)                                                               \
  X(lane_status)                                                               \
  X(leave_mesh)                                                                \
  X(list_jobs)                                                                 \
  X(locate_job)                                                                \
  X(log_entry)                                                                 \
  X(log_request)                                                               \
  X(lookup_request)                                                            \
  X(lookup_result)                                                             \
  X(mail_envelope)                                                             \
  X(member_changed)                                                            \
  X(member_fenced)                                                             \
  X(member_message)                                                            \
  X(memory_samples)                                                            \
  X(mesh_collective_id)                                                        \
  X(mesh_duty_changed)                                                         \
  X(mesh_failure)                                                              \
  X(mesh_status)                                                               \
  X(monitor_request)                                                           \
  X(net_stats)                                                                 \
  X(networks_changed)                                                          \
  X(node_address)                                                              \
  X(node_answer)                                                               \
  X(node_departure)                                                            \
  X(node_dismissal)                                                            \
  X(node_join)                                                                 \
  X(node_pid)                                                                  \
  X(node_query)                                                                \
  X(node_refusal)                                                              \
  X(node_row)                                                                  \
  X(node_share)                                                                \
  X(node_stats)                                                                \
  X(node_suspicion)                                                            \
  X(node_topology)                                                             \
  X(node_update)                                                               \
  X(node_update_request)                                                       \
  X(node_welcome)                                                              \
  X(node_witness)                                                              \
  X(node_witness_request)                                                      \
  X(notify_request)                                                            \
  X(pdata)                                                                     \
  X(peer_changed)                                                              \
  X(peer_status)                                                               \
  X(placed_proc)                                                               \
  X(posted_data)                                                               \
  X(prepare_share)                                                             \
  X(proc_changed)                                                              \
  X(proc_data)                                                                 \
  X(proc_ended)                                                                \
  X(proc_id)                                                                   \
  X(proc_info)                                                                 \
  X(proc_stats)                                                                \
  X(process_drained)                                                           \
  X(process_ended)                                                             \
  X(process_output)                                                            \
  X(process_started)                                                           \
  X(processing_unit)                                                           \
  X(procs_gone)                                                                \
  X(publish_request)                                                           \
  X(query)                                                                     \
  X(query_request)                                                             \
  X(rank_data)                                                                 \
  X(reach_node)                                                                \
  X(read_sensors)                                                              \
  X(refresh_cache_request)                                                     \
  X(refresh_cache_result)                                                      \
  X(regattr)                                                                   \
  X(register_client)                                                           \
  X(register_events_request)                                                   \
  X(register_handler)                                                          \
  X(register_nspace)                                                           \
  X(register_resources)                                                        \
  X(release)                                                                   \
  X(release_node)                                                              \
  X(remove_paths)                                                              \
  X(requester)                                                                 \
  X(resolve_nodes_request)                                                     \
  X(resolve_nodes_result)                                                      \
  X(resolve_peers_request)                                                     \
  X(resolve_peers_result)                                                      \
  X(resource_block_request)                                                    \
  X(resource_unit)                                                             \
  X(sample_memory)                                                             \
  X(send_to_member)                                                            \
  X(sensor_offer)                                                              \
  X(sensor_reading)                                                            \
  X(sensor_readings)                                                           \
  X(server_statistics)                                                         \
  X(session_control_request)                                                   \
  X(setup_fork)                                                                \
  X(share_ended)                                                               \
  X(share_progress)                                                            \
  X(shut_down)                                                                 \
  X(signal_process)                                                            \
  X(spawn_request)                                                             \
  X(spawn_result)                                                              \
  X(start_process)                                                             \
  X(start_sensor)                                                              \
  X(start_share)                                                               \
  X(stop_sensor)                                                               \
  X(sweep_job)                                                                 \
  X(timeval_value)                                                             \
  X(tool_connected)                                                            \
  X(unpublish_request)                                                         \
  X(validate_credential_request)                                               \
  X(value)                                                                     \
  X(write_stdin)

/// Instantiates `inspect` for the inspectors that CAF uses for messages.
#define TROUPE_INSTANTIATE(prefix, type)                                       \
  prefix template caf::error inspect(caf::serializer&, type&);                 \
  prefix template caf::error inspect(caf::deserializer&, type&);               \
  prefix template void inspect(caf::detail::stringification_inspector&, type&);

#define TROUPE_EXTERN_INSPECT(type) TROUPE_INSTANTIATE(extern, type)

namespace troupe {

TROUPE_FOR_EACH_INSPECTED(TROUPE_EXTERN_INSPECT)

} // namespace troupe
