#pragma once

// Every type that may appear in a message: declare it, then give it an ID. A
// forgotten ID is a compile error at the first send, not a failure at run time
// (CAF_ENABLE_TYPE_ID_CHECKS).

#include <caf/type_id.hpp>

namespace troupe {

struct abort_request;
struct ack;
struct allocation_request;
struct app;
struct ask_root;
struct check_files;
struct check_process;
struct check_result;
struct cleanup_path;
struct client_connected;
struct client_environment;
struct client_finalized;
struct client_lost;
struct close_connection;
struct close_group_log;
struct close_peer;
struct close_stdin;
struct collect_events;
struct collected_events;
struct collective_failed;
struct collective_outcome;
struct collective_part;
struct collective_ready;
struct collective_retired;
struct command_result;
struct commit_request;
struct connect_accepted;
struct connect_procs_request;
struct connect_procs_result;
struct connect_request;
struct connection_changed;
struct connection_lost;
struct control_procs;
struct credentials;
struct deadline;
struct declare_member_lost;
struct define_process_set;
struct delete_process_set;
struct deliver_event;
struct deregister_client;
struct deregister_events_request;
struct deregister_handler;
struct deregister_nspace;
struct deregister_resources;
struct device_distances_request;
struct device_distances_result;
struct direct_modex;
struct disconnect_procs_request;
struct discover_topology;
struct drop_lane;
struct end_job;
struct end_share;
struct environment_event;
struct environment_interest;
struct erase_spool;
struct event;
struct event_batch;
struct event_listeners;
struct events_taken;
struct expect_procs;
struct extend_group_log;
struct fabric_register_request;
struct fabric_update_request;
struct fence_request;
struct file_stamp;
struct file_stamps;
struct finalize_request;
struct find_listeners;
struct find_process;
struct find_procs;
struct forget_job;
struct gauge_list;
struct get_credential_request;
struct get_credential_result;
struct get_gauges;
struct get_group_status;
struct get_mesh_status;
struct get_request;
struct get_result;
struct get_statistics;
struct group_caller;
struct group_calls;
struct group_changed;
struct group_conflict;
struct group_construct_request;
struct group_construct_result;
struct group_data;
struct group_departure;
struct group_destruct_request;
struct group_entry;
struct group_entry_ordered;
struct group_host_outcome;
struct group_key;
struct group_known;
struct group_leave_request;
struct group_list;
struct group_notice;
struct group_over;
struct group_procs_ended;
struct group_snapshot;
struct group_status;
struct group_time_up;
struct group_verdict;
struct group_verdicts;
struct handler_done;
struct handler_registered;
struct handler_verdict;
struct heartbeat;
struct host_answer;
struct host_call;
struct host_collective;
struct host_collective_result;
struct host_group;
struct host_node_lost;
struct info;
struct info_result;
struct io_delivery;
struct io_fetch;
struct io_fragment;
struct io_input;
struct io_input_taken;
struct io_interest;
struct io_job_begun;
struct io_job_over;
struct io_keep;
struct io_list;
struct io_node_lost;
struct io_sink_status;
struct io_stream;
struct io_stream_status;
struct io_subscription;
struct io_unsubscription;
struct io_watcher;
struct io_wiring;
struct list_io;
struct output_format;
struct io_deregister_request;
struct io_pull_request;
struct io_pull_result;
struct io_push_request;
struct job_control_request;
struct job_description;
struct job_ended;
struct job_info;
struct job_info_reply;
struct job_info_request;
struct job_list;
struct job_map;
struct job_mapped;
struct key_value;
struct lane_closed;
struct lane_failed;
struct lane_frame_arrived;
struct lane_opened;
struct leave_mesh;
struct list_groups;
struct list_jobs;
struct list_nspaces;
struct local_process;
struct locate_job;
struct locate_procs;
struct log_entry;
struct log_request;
struct lookup_request;
struct lookup_result;
struct mail_envelope;
struct member_changed;
struct member_fenced;
struct member_message;
struct memory_samples;
struct mesh_duty_changed;
struct mesh_failure;
struct mesh_status;
struct monitor_alert;
struct monitor_request;
struct networks_changed;
struct node_topology;
struct notify_request;
struct nspace_list;
struct order_events;
struct order_group_entry;
struct ordered_event;
struct pdata;
struct peer_changed;
struct peer_delivery;
struct peer_message;
struct peer_status;
struct placed_proc;
struct posted_data;
struct prepare_share;
struct probe_process;
struct proc_changed;
struct proc_data;
struct proc_ended;
struct proc_id;
struct proc_places;
struct process_drained;
struct process_ended;
struct process_output;
struct process_probe;
struct process_started;
struct processing_unit;
struct procs_controlled;
struct procs_gone;
struct procs_paused;
struct publish_request;
struct put_lane_frame;
struct query;
struct query_request;
struct rank_data;
struct reach_node;
struct react_to_alert;
struct read_now;
struct read_sensors;
struct read_spool;
struct refresh_cache_request;
struct refresh_cache_result;
struct register_client;
struct register_events_request;
struct register_handler;
struct register_nspace;
struct register_resources;
struct relay_frame;
struct release;
struct release_node;
struct remove_paths;
struct requester;
struct resolve_nodes_request;
struct resolve_nodes_result;
struct resolve_peers_request;
struct resolve_peers_result;
struct resource_block_request;
struct run_command;
struct sample_elsewhere;
struct sample_memory;
struct sample_usage;
struct send_to_member;
struct sensor_offer;
struct sensor_reading;
struct sensor_readings;
struct server_statistics;
struct session_control_request;
struct setup_fork;
struct share_ended;
struct share_progress;
struct shut_down;
struct signal_process;
struct spawn_request;
struct spawn_result;
struct spool_content;
struct spool_record;
struct start_monitor;
struct start_process;
struct start_sensor;
struct start_share;
struct stop_monitor;
struct stop_sensor;
struct submit_event;
struct sweep_job;
struct tool_connected;
struct unpublish_request;
struct unread;
struct usage_samples;
struct validate_credential_request;
struct value;
struct write_spool;
struct write_stdin;

} // namespace troupe

#define TROUPE_ADD_TYPE_ID(type) CAF_ADD_TYPE_ID(troupe_messages, type)

CAF_BEGIN_TYPE_ID_BLOCK(troupe_messages, caf::first_custom_type_id)

  TROUPE_ADD_TYPE_ID((troupe::abort_request))
  TROUPE_ADD_TYPE_ID((troupe::ack))
  TROUPE_ADD_TYPE_ID((troupe::allocation_request))
  TROUPE_ADD_TYPE_ID((troupe::app))
  TROUPE_ADD_TYPE_ID((troupe::ask_root))
  TROUPE_ADD_TYPE_ID((troupe::check_files))
  TROUPE_ADD_TYPE_ID((troupe::check_process))
  TROUPE_ADD_TYPE_ID((troupe::check_result))
  TROUPE_ADD_TYPE_ID((troupe::cleanup_path))
  TROUPE_ADD_TYPE_ID((troupe::client_connected))
  TROUPE_ADD_TYPE_ID((troupe::client_environment))
  TROUPE_ADD_TYPE_ID((troupe::client_finalized))
  TROUPE_ADD_TYPE_ID((troupe::client_lost))
  TROUPE_ADD_TYPE_ID((troupe::close_connection))
  TROUPE_ADD_TYPE_ID((troupe::close_peer))
  TROUPE_ADD_TYPE_ID((troupe::close_stdin))
  TROUPE_ADD_TYPE_ID((troupe::collect_events))
  TROUPE_ADD_TYPE_ID((troupe::collected_events))
  TROUPE_ADD_TYPE_ID((troupe::collective_failed))
  TROUPE_ADD_TYPE_ID((troupe::collective_outcome))
  TROUPE_ADD_TYPE_ID((troupe::collective_part))
  TROUPE_ADD_TYPE_ID((troupe::collective_ready))
  TROUPE_ADD_TYPE_ID((troupe::collective_retired))
  TROUPE_ADD_TYPE_ID((troupe::command_result))
  TROUPE_ADD_TYPE_ID((troupe::commit_request))
  TROUPE_ADD_TYPE_ID((troupe::connect_accepted))
  TROUPE_ADD_TYPE_ID((troupe::connect_procs_request))
  TROUPE_ADD_TYPE_ID((troupe::connect_procs_result))
  TROUPE_ADD_TYPE_ID((troupe::connect_request))
  TROUPE_ADD_TYPE_ID((troupe::connection_lost))
  TROUPE_ADD_TYPE_ID((troupe::control_procs))
  TROUPE_ADD_TYPE_ID((troupe::credentials))
  TROUPE_ADD_TYPE_ID((troupe::deadline))
  TROUPE_ADD_TYPE_ID((troupe::declare_member_lost))
  TROUPE_ADD_TYPE_ID((troupe::define_process_set))
  TROUPE_ADD_TYPE_ID((troupe::delete_process_set))
  TROUPE_ADD_TYPE_ID((troupe::deliver_event))
  TROUPE_ADD_TYPE_ID((troupe::deregister_client))
  TROUPE_ADD_TYPE_ID((troupe::deregister_events_request))
  TROUPE_ADD_TYPE_ID((troupe::deregister_handler))
  TROUPE_ADD_TYPE_ID((troupe::deregister_nspace))
  TROUPE_ADD_TYPE_ID((troupe::deregister_resources))
  TROUPE_ADD_TYPE_ID((troupe::device_distances_request))
  TROUPE_ADD_TYPE_ID((troupe::device_distances_result))
  TROUPE_ADD_TYPE_ID((troupe::direct_modex))
  TROUPE_ADD_TYPE_ID((troupe::disconnect_procs_request))
  TROUPE_ADD_TYPE_ID((troupe::discover_topology))
  TROUPE_ADD_TYPE_ID((troupe::drop_lane))
  TROUPE_ADD_TYPE_ID((troupe::end_job))
  TROUPE_ADD_TYPE_ID((troupe::end_share))
  TROUPE_ADD_TYPE_ID((troupe::environment_event))
  TROUPE_ADD_TYPE_ID((troupe::environment_interest))
  TROUPE_ADD_TYPE_ID((troupe::erase_spool))
  TROUPE_ADD_TYPE_ID((troupe::event))
  TROUPE_ADD_TYPE_ID((troupe::event_batch))
  TROUPE_ADD_TYPE_ID((troupe::events_taken))
  TROUPE_ADD_TYPE_ID((troupe::expect_procs))
  TROUPE_ADD_TYPE_ID((troupe::fabric_register_request))
  TROUPE_ADD_TYPE_ID((troupe::fabric_update_request))
  TROUPE_ADD_TYPE_ID((troupe::fence_request))
  TROUPE_ADD_TYPE_ID((troupe::file_stamp))
  TROUPE_ADD_TYPE_ID((troupe::file_stamps))
  TROUPE_ADD_TYPE_ID((troupe::finalize_request))
  TROUPE_ADD_TYPE_ID((troupe::find_process))
  TROUPE_ADD_TYPE_ID((troupe::find_procs))
  TROUPE_ADD_TYPE_ID((troupe::forget_job))
  TROUPE_ADD_TYPE_ID((troupe::gauge_list))
  TROUPE_ADD_TYPE_ID((troupe::get_credential_request))
  TROUPE_ADD_TYPE_ID((troupe::get_credential_result))
  TROUPE_ADD_TYPE_ID((troupe::get_gauges))
  TROUPE_ADD_TYPE_ID((troupe::get_mesh_status))
  TROUPE_ADD_TYPE_ID((troupe::get_request))
  TROUPE_ADD_TYPE_ID((troupe::get_result))
  TROUPE_ADD_TYPE_ID((troupe::get_statistics))
  TROUPE_ADD_TYPE_ID((troupe::close_group_log))
  TROUPE_ADD_TYPE_ID((troupe::event_listeners))
  TROUPE_ADD_TYPE_ID((troupe::extend_group_log))
  TROUPE_ADD_TYPE_ID((troupe::find_listeners))
  TROUPE_ADD_TYPE_ID((troupe::get_group_status))
  TROUPE_ADD_TYPE_ID((troupe::group_calls))
  TROUPE_ADD_TYPE_ID((troupe::group_caller))
  TROUPE_ADD_TYPE_ID((troupe::group_changed))
  TROUPE_ADD_TYPE_ID((troupe::group_conflict))
  TROUPE_ADD_TYPE_ID((troupe::group_data))
  TROUPE_ADD_TYPE_ID((troupe::group_departure))
  TROUPE_ADD_TYPE_ID((troupe::group_entry))
  TROUPE_ADD_TYPE_ID((troupe::group_entry_ordered))
  TROUPE_ADD_TYPE_ID((troupe::group_host_outcome))
  TROUPE_ADD_TYPE_ID((troupe::group_key))
  TROUPE_ADD_TYPE_ID((troupe::group_known))
  TROUPE_ADD_TYPE_ID((troupe::group_list))
  TROUPE_ADD_TYPE_ID((troupe::group_notice))
  TROUPE_ADD_TYPE_ID((troupe::group_over))
  TROUPE_ADD_TYPE_ID((troupe::group_procs_ended))
  TROUPE_ADD_TYPE_ID((troupe::group_snapshot))
  TROUPE_ADD_TYPE_ID((troupe::group_status))
  TROUPE_ADD_TYPE_ID((troupe::group_time_up))
  TROUPE_ADD_TYPE_ID((troupe::group_verdict))
  TROUPE_ADD_TYPE_ID((troupe::group_verdicts))
  TROUPE_ADD_TYPE_ID((troupe::host_group))
  TROUPE_ADD_TYPE_ID((troupe::host_node_lost))
  TROUPE_ADD_TYPE_ID((troupe::list_groups))
  TROUPE_ADD_TYPE_ID((troupe::locate_procs))
  TROUPE_ADD_TYPE_ID((troupe::order_group_entry))
  TROUPE_ADD_TYPE_ID((troupe::proc_places))
  TROUPE_ADD_TYPE_ID((troupe::connection_changed))
  TROUPE_ADD_TYPE_ID((troupe::group_construct_request))
  TROUPE_ADD_TYPE_ID((troupe::group_construct_result))
  TROUPE_ADD_TYPE_ID((troupe::group_destruct_request))
  TROUPE_ADD_TYPE_ID((troupe::group_leave_request))
  TROUPE_ADD_TYPE_ID((troupe::handler_done))
  TROUPE_ADD_TYPE_ID((troupe::handler_registered))
  TROUPE_ADD_TYPE_ID((troupe::handler_verdict))
  TROUPE_ADD_TYPE_ID((troupe::heartbeat))
  TROUPE_ADD_TYPE_ID((troupe::host_answer))
  TROUPE_ADD_TYPE_ID((troupe::host_call))
  TROUPE_ADD_TYPE_ID((troupe::host_collective))
  TROUPE_ADD_TYPE_ID((troupe::host_collective_result))
  TROUPE_ADD_TYPE_ID((troupe::info))
  TROUPE_ADD_TYPE_ID((troupe::info_result))
  TROUPE_ADD_TYPE_ID((troupe::io_delivery))
  TROUPE_ADD_TYPE_ID((troupe::io_fetch))
  TROUPE_ADD_TYPE_ID((troupe::io_fragment))
  TROUPE_ADD_TYPE_ID((troupe::io_input))
  TROUPE_ADD_TYPE_ID((troupe::io_input_taken))
  TROUPE_ADD_TYPE_ID((troupe::io_interest))
  TROUPE_ADD_TYPE_ID((troupe::io_job_begun))
  TROUPE_ADD_TYPE_ID((troupe::io_job_over))
  TROUPE_ADD_TYPE_ID((troupe::io_keep))
  TROUPE_ADD_TYPE_ID((troupe::io_list))
  TROUPE_ADD_TYPE_ID((troupe::io_node_lost))
  TROUPE_ADD_TYPE_ID((troupe::io_sink_status))
  TROUPE_ADD_TYPE_ID((troupe::io_stream))
  TROUPE_ADD_TYPE_ID((troupe::io_stream_status))
  TROUPE_ADD_TYPE_ID((troupe::io_subscription))
  TROUPE_ADD_TYPE_ID((troupe::io_unsubscription))
  TROUPE_ADD_TYPE_ID((troupe::io_watcher))
  TROUPE_ADD_TYPE_ID((troupe::io_wiring))
  TROUPE_ADD_TYPE_ID((troupe::list_io))
  TROUPE_ADD_TYPE_ID((troupe::output_format))
  TROUPE_ADD_TYPE_ID((troupe::io_deregister_request))
  TROUPE_ADD_TYPE_ID((troupe::io_pull_request))
  TROUPE_ADD_TYPE_ID((troupe::io_pull_result))
  TROUPE_ADD_TYPE_ID((troupe::io_push_request))
  TROUPE_ADD_TYPE_ID((troupe::job_control_request))
  TROUPE_ADD_TYPE_ID((troupe::job_description))
  TROUPE_ADD_TYPE_ID((troupe::job_ended))
  TROUPE_ADD_TYPE_ID((troupe::job_info))
  TROUPE_ADD_TYPE_ID((troupe::job_info_reply))
  TROUPE_ADD_TYPE_ID((troupe::job_info_request))
  TROUPE_ADD_TYPE_ID((troupe::job_list))
  TROUPE_ADD_TYPE_ID((troupe::job_map))
  TROUPE_ADD_TYPE_ID((troupe::job_mapped))
  TROUPE_ADD_TYPE_ID((troupe::key_value))
  TROUPE_ADD_TYPE_ID((troupe::lane_closed))
  TROUPE_ADD_TYPE_ID((troupe::lane_failed))
  TROUPE_ADD_TYPE_ID((troupe::lane_frame_arrived))
  TROUPE_ADD_TYPE_ID((troupe::lane_opened))
  TROUPE_ADD_TYPE_ID((troupe::leave_mesh))
  TROUPE_ADD_TYPE_ID((troupe::list_jobs))
  TROUPE_ADD_TYPE_ID((troupe::list_nspaces))
  TROUPE_ADD_TYPE_ID((troupe::local_process))
  TROUPE_ADD_TYPE_ID((troupe::locate_job))
  TROUPE_ADD_TYPE_ID((troupe::log_entry))
  TROUPE_ADD_TYPE_ID((troupe::log_request))
  TROUPE_ADD_TYPE_ID((troupe::lookup_request))
  TROUPE_ADD_TYPE_ID((troupe::lookup_result))
  TROUPE_ADD_TYPE_ID((troupe::mail_envelope))
  TROUPE_ADD_TYPE_ID((troupe::member_changed))
  TROUPE_ADD_TYPE_ID((troupe::member_fenced))
  TROUPE_ADD_TYPE_ID((troupe::member_message))
  TROUPE_ADD_TYPE_ID((troupe::memory_samples))
  TROUPE_ADD_TYPE_ID((troupe::mesh_duty_changed))
  TROUPE_ADD_TYPE_ID((troupe::mesh_failure))
  TROUPE_ADD_TYPE_ID((troupe::mesh_status))
  TROUPE_ADD_TYPE_ID((troupe::monitor_alert))
  TROUPE_ADD_TYPE_ID((troupe::monitor_request))
  TROUPE_ADD_TYPE_ID((troupe::networks_changed))
  TROUPE_ADD_TYPE_ID((troupe::node_topology))
  TROUPE_ADD_TYPE_ID((troupe::notify_request))
  TROUPE_ADD_TYPE_ID((troupe::nspace_list))
  TROUPE_ADD_TYPE_ID((troupe::order_events))
  TROUPE_ADD_TYPE_ID((troupe::ordered_event))
  TROUPE_ADD_TYPE_ID((troupe::pdata))
  TROUPE_ADD_TYPE_ID((troupe::peer_changed))
  TROUPE_ADD_TYPE_ID((troupe::peer_delivery))
  TROUPE_ADD_TYPE_ID((troupe::peer_message))
  TROUPE_ADD_TYPE_ID((troupe::peer_status))
  TROUPE_ADD_TYPE_ID((troupe::placed_proc))
  TROUPE_ADD_TYPE_ID((troupe::posted_data))
  TROUPE_ADD_TYPE_ID((troupe::prepare_share))
  TROUPE_ADD_TYPE_ID((troupe::probe_process))
  TROUPE_ADD_TYPE_ID((troupe::proc_changed))
  TROUPE_ADD_TYPE_ID((troupe::proc_data))
  TROUPE_ADD_TYPE_ID((troupe::proc_ended))
  TROUPE_ADD_TYPE_ID((troupe::proc_id))
  TROUPE_ADD_TYPE_ID((troupe::process_drained))
  TROUPE_ADD_TYPE_ID((troupe::process_ended))
  TROUPE_ADD_TYPE_ID((troupe::process_output))
  TROUPE_ADD_TYPE_ID((troupe::process_probe))
  TROUPE_ADD_TYPE_ID((troupe::process_started))
  TROUPE_ADD_TYPE_ID((troupe::procs_controlled))
  TROUPE_ADD_TYPE_ID((troupe::processing_unit))
  TROUPE_ADD_TYPE_ID((troupe::procs_gone))
  TROUPE_ADD_TYPE_ID((troupe::procs_paused))
  TROUPE_ADD_TYPE_ID((troupe::publish_request))
  TROUPE_ADD_TYPE_ID((troupe::put_lane_frame))
  TROUPE_ADD_TYPE_ID((troupe::query))
  TROUPE_ADD_TYPE_ID((troupe::query_request))
  TROUPE_ADD_TYPE_ID((troupe::rank_data))
  TROUPE_ADD_TYPE_ID((troupe::reach_node))
  TROUPE_ADD_TYPE_ID((troupe::react_to_alert))
  TROUPE_ADD_TYPE_ID((troupe::read_now))
  TROUPE_ADD_TYPE_ID((troupe::read_sensors))
  TROUPE_ADD_TYPE_ID((troupe::read_spool))
  TROUPE_ADD_TYPE_ID((troupe::refresh_cache_request))
  TROUPE_ADD_TYPE_ID((troupe::refresh_cache_result))
  TROUPE_ADD_TYPE_ID((troupe::register_client))
  TROUPE_ADD_TYPE_ID((troupe::register_events_request))
  TROUPE_ADD_TYPE_ID((troupe::register_handler))
  TROUPE_ADD_TYPE_ID((troupe::register_nspace))
  TROUPE_ADD_TYPE_ID((troupe::register_resources))
  TROUPE_ADD_TYPE_ID((troupe::relay_frame))
  TROUPE_ADD_TYPE_ID((troupe::release))
  TROUPE_ADD_TYPE_ID((troupe::release_node))
  TROUPE_ADD_TYPE_ID((troupe::remove_paths))
  TROUPE_ADD_TYPE_ID((troupe::requester))
  TROUPE_ADD_TYPE_ID((troupe::resolve_nodes_request))
  TROUPE_ADD_TYPE_ID((troupe::resolve_nodes_result))
  TROUPE_ADD_TYPE_ID((troupe::resolve_peers_request))
  TROUPE_ADD_TYPE_ID((troupe::resolve_peers_result))
  TROUPE_ADD_TYPE_ID((troupe::resource_block_request))
  TROUPE_ADD_TYPE_ID((troupe::run_command))
  TROUPE_ADD_TYPE_ID((troupe::sample_elsewhere))
  TROUPE_ADD_TYPE_ID((troupe::sample_memory))
  TROUPE_ADD_TYPE_ID((troupe::sample_usage))
  TROUPE_ADD_TYPE_ID((troupe::send_to_member))
  TROUPE_ADD_TYPE_ID((troupe::sensor_offer))
  TROUPE_ADD_TYPE_ID((troupe::sensor_reading))
  TROUPE_ADD_TYPE_ID((troupe::sensor_readings))
  TROUPE_ADD_TYPE_ID((troupe::server_statistics))
  TROUPE_ADD_TYPE_ID((troupe::session_control_request))
  TROUPE_ADD_TYPE_ID((troupe::setup_fork))
  TROUPE_ADD_TYPE_ID((troupe::share_ended))
  TROUPE_ADD_TYPE_ID((troupe::share_progress))
  TROUPE_ADD_TYPE_ID((troupe::shut_down))
  TROUPE_ADD_TYPE_ID((troupe::signal_process))
  TROUPE_ADD_TYPE_ID((troupe::spawn_request))
  TROUPE_ADD_TYPE_ID((troupe::spawn_result))
  TROUPE_ADD_TYPE_ID((troupe::spool_content))
  TROUPE_ADD_TYPE_ID((troupe::spool_record))
  TROUPE_ADD_TYPE_ID((troupe::start_monitor))
  TROUPE_ADD_TYPE_ID((troupe::start_process))
  TROUPE_ADD_TYPE_ID((troupe::start_sensor))
  TROUPE_ADD_TYPE_ID((troupe::start_share))
  TROUPE_ADD_TYPE_ID((troupe::stop_monitor))
  TROUPE_ADD_TYPE_ID((troupe::submit_event))
  TROUPE_ADD_TYPE_ID((troupe::stop_sensor))
  TROUPE_ADD_TYPE_ID((troupe::sweep_job))
  TROUPE_ADD_TYPE_ID((troupe::tool_connected))
  TROUPE_ADD_TYPE_ID((troupe::unpublish_request))
  TROUPE_ADD_TYPE_ID((troupe::unread))
  TROUPE_ADD_TYPE_ID((troupe::usage_samples))
  TROUPE_ADD_TYPE_ID((troupe::validate_credential_request))
  TROUPE_ADD_TYPE_ID((troupe::value))
  TROUPE_ADD_TYPE_ID((troupe::write_stdin))
  TROUPE_ADD_TYPE_ID((troupe::write_spool))

CAF_END_TYPE_ID_BLOCK(troupe_messages)
