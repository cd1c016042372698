#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/requests.hpp"

namespace troupe::wire {

namespace {

/// Writes the body of each request, and knows the command that it travels as.
struct request_packer {
  writer& w;

  // -- single PACK calls -----------------------------------------------------

  void begin(command x) {
    w.pack(data_type::command);
    w.byte(static_cast<uint8_t>(x));
  }

  void pack_byte(data_type type, uint8_t x) {
    w.pack(type);
    w.byte(x);
  }

  void pack_uint32(data_type type, uint32_t x) {
    w.pack(type);
    w.unsigned_integer(x, 4);
  }

  void pack_status(int32_t x) {
    w.pack(data_type::status);
    w.signed_integer(x, 4);
  }

  template <class T>
  void pack_text(const T& x) {
    w.pack(data_type::string);
    w.string(x);
  }

  void pack_nspace(std::string_view x) {
    w.pack(data_type::string);
    w.nspace(x);
  }

  void pack_key(std::string_view x) {
    w.pack(data_type::string);
    w.key(x);
  }

  void pack_bytes(std::string_view x) {
    w.pack(data_type::byte_object);
    w.blob(x);
  }

  void pack_target(const proc_id& x) {
    pack_nspace(x.nspace);
    pack_uint32(data_type::proc_rank, x.rank);
  }

  void pack_keys(const std::vector<std::string>& xs) {
    w.packed_size(xs.size());
    for (const auto& x : xs)
      pack_key(x);
  }

  void pack_procs_and_infos(const std::vector<proc_id>& procs,
                            const std::vector<info>& infos) {
    pack_procs(w, procs);
    pack_infos(w, infos);
  }

  // -- requests --------------------------------------------------------------

  void operator()(const unknown_request& x) {
    begin(static_cast<command>(x.number));
  }

  void operator()(const job_info_request&) {
    begin(command::job_info);
  }

  void operator()(const abort_request& x) {
    begin(command::abort);
    pack_status(x.exit_status);
    pack_text(x.message);
    pack_procs(w, x.procs);
  }

  void operator()(const commit_request& x) {
    begin(command::commit);
    for (const auto& block : x.blocks) {
      pack_byte(data_type::scope, static_cast<uint8_t>(block.visible_to));
      pack_byte(data_type::buffer, w.rules().described ? 2 : 1);
      w.preceded([&] { pack_key_values(w, block.entries); },
                 [&](size_t n) { w.size(n); });
    }
  }

  void operator()(const fence_request& x) {
    begin(command::fence);
    pack_procs_and_infos(x.procs, x.directives);
  }

  void operator()(const get_request& x) {
    begin(command::get);
    pack_target(x.target);
    pack_infos(w, x.directives);
    if (x.key)
      pack_key(*x.key);
  }

  void operator()(const finalize_request&) {
    begin(command::finalize);
  }

  void operator()(const publish_request& x) {
    begin(command::publish);
    pack_uint32(data_type::uint32, x.uid);
    pack_infos(w, x.infos);
  }

  void operator()(const lookup_request& x) {
    begin(command::lookup);
    pack_uint32(data_type::uint32, x.uid);
    pack_keys(x.keys);
    pack_infos(w, x.directives);
  }

  void operator()(const unpublish_request& x) {
    begin(command::unpublish);
    pack_uint32(data_type::uint32, x.uid);
    pack_keys(x.keys);
    pack_infos(w, x.directives);
  }

  void operator()(const spawn_request& x) {
    begin(command::spawn);
    pack_infos(w, x.job_infos);
    pack_list(w, data_type::app, x.apps, pack_app);
  }

  void operator()(const connect_procs_request& x) {
    begin(command::connect);
    pack_procs_and_infos(x.procs, x.directives);
    for (const auto& y : x.own_data) {
      w.pack(data_type::info);
      pack_info(w, y);
    }
  }

  void operator()(const disconnect_procs_request& x) {
    begin(command::disconnect);
    pack_procs_and_infos(x.procs, x.directives);
  }

  void operator()(const notify_request& x) {
    begin(command::notify);
    pack_status(static_cast<int32_t>(x.code));
    pack_byte(data_type::data_range, static_cast<uint8_t>(x.range));
    pack_infos(w, x.infos);
  }

  void operator()(const register_events_request& x) {
    begin(command::register_events);
    pack_list(
      w, data_type::status, x.codes, +[](writer& w, const status& code) {
        w.signed_integer(static_cast<int32_t>(code), 4);
      });
    pack_infos(w, x.directives);
  }

  void operator()(const deregister_events_request& x) {
    begin(command::deregister_events);
    for (const auto code : x.codes)
      pack_status(static_cast<int32_t>(code));
  }

  void operator()(const query_request& x) {
    begin(command::query);
    pack_list(w, data_type::query, x.queries, pack_query);
  }

  void operator()(const log_request& x) {
    begin(command::log);
    w.pack(data_type::time);
    w.unsigned_integer(x.timestamp, 8);
    pack_infos(w, x.data);
    pack_infos(w, x.directives);
  }

  void operator()(const allocation_request& x) {
    begin(command::allocate);
    pack_byte(data_type::alloc_directive, x.directive);
    pack_infos(w, x.infos);
  }

  void operator()(const job_control_request& x) {
    begin(command::job_control);
    pack_procs_and_infos(x.targets, x.directives);
  }

  void operator()(const monitor_request& x) {
    begin(command::monitor);
    w.pack(data_type::info);
    pack_info(w, x.monitor);
    pack_status(static_cast<int32_t>(x.error_code));
    pack_infos(w, x.directives);
  }

  void operator()(const get_credential_request& x) {
    begin(command::get_credential);
    pack_infos(w, x.directives);
  }

  void operator()(const validate_credential_request& x) {
    begin(command::validate_credential);
    pack_bytes(x.credential);
    pack_infos(w, x.directives);
  }

  void operator()(const io_pull_request& x) {
    begin(command::io_pull);
    pack_procs_and_infos(x.procs, x.directives);
    w.pack(data_type::iof_channel);
    w.unsigned_integer(static_cast<uint16_t>(x.channels), 2);
    if (x.handler)
      w.packed_size(*x.handler);
  }

  void operator()(const io_push_request& x) {
    begin(command::io_push);
    pack_procs_and_infos(x.targets, x.directives);
    if (x.bytes)
      pack_bytes(*x.bytes);
  }

  void operator()(const io_deregister_request& x) {
    begin(command::io_deregister);
    pack_infos(w, x.directives);
    w.packed_size(x.subscription);
  }

  void operator()(const group_construct_request& x) {
    begin(command::group_construct);
    pack_nspace(x.id);
    pack_procs_and_infos(x.procs, x.directives);
  }

  void operator()(const group_destruct_request& x) {
    begin(command::group_destruct);
    pack_nspace(x.id);
    if (x.procs)
      pack_procs(w, *x.procs);
    pack_infos(w, x.directives);
  }

  void operator()(const group_leave_request& x) {
    begin(command::group_leave);
    pack_nspace(x.id);
    pack_infos(w, x.directives);
  }

  void operator()(const fabric_register_request& x) {
    begin(command::fabric_register);
    pack_infos(w, x.directives);
  }

  void operator()(const fabric_update_request& x) {
    begin(command::fabric_update);
    w.packed_size(x.index);
  }

  void operator()(const device_distances_request& x) {
    begin(command::device_distances);
    w.pack(data_type::topology);
    pack_topology(w, x.topology);
    w.pack(data_type::proc_cpuset);
    w.string(x.cpuset);
    pack_infos(w, x.directives);
  }

  void operator()(const refresh_cache_request& x) {
    begin(command::refresh_cache);
    pack_target(x.target);
  }

  void operator()(const resource_block_request& x) {
    begin(command::resource_block);
    pack_byte(data_type::resblock_directive, x.directive);
    pack_text(x.block);
    pack_list(w, data_type::resource_unit, x.units, pack_resource_unit);
    pack_infos(w, x.directives);
  }

  void operator()(const session_control_request& x) {
    begin(command::session_control);
    pack_uint32(data_type::uint32, x.session);
    pack_infos(w, x.directives);
  }

  void operator()(const resolve_peers_request& x) {
    begin(command::resolve_peers);
    pack_text(x.node);
    pack_text(x.nspace);
  }

  void operator()(const resolve_nodes_request& x) {
    begin(command::resolve_nodes);
    pack_text(x.nspace);
  }
};

/// The command of each request.
struct command_finder {
  command operator()(const unknown_request& x) {
    return static_cast<command>(x.number);
  }
#define TROUPE_COMMAND(type, name)                                             \
  command operator()(const type&) {                                            \
    return command::name;                                                      \
  }
  TROUPE_COMMAND(job_info_request, job_info)
  TROUPE_COMMAND(abort_request, abort)
  TROUPE_COMMAND(commit_request, commit)
  TROUPE_COMMAND(fence_request, fence)
  TROUPE_COMMAND(get_request, get)
  TROUPE_COMMAND(finalize_request, finalize)
  TROUPE_COMMAND(publish_request, publish)
  TROUPE_COMMAND(lookup_request, lookup)
  TROUPE_COMMAND(unpublish_request, unpublish)
  TROUPE_COMMAND(spawn_request, spawn)
  TROUPE_COMMAND(connect_procs_request, connect)
  TROUPE_COMMAND(disconnect_procs_request, disconnect)
  TROUPE_COMMAND(notify_request, notify)
  TROUPE_COMMAND(register_events_request, register_events)
  TROUPE_COMMAND(deregister_events_request, deregister_events)
  TROUPE_COMMAND(query_request, query)
  TROUPE_COMMAND(log_request, log)
  TROUPE_COMMAND(allocation_request, allocate)
  TROUPE_COMMAND(job_control_request, job_control)
  TROUPE_COMMAND(monitor_request, monitor)
  TROUPE_COMMAND(get_credential_request, get_credential)
  TROUPE_COMMAND(validate_credential_request, validate_credential)
  TROUPE_COMMAND(io_pull_request, io_pull)
  TROUPE_COMMAND(io_push_request, io_push)
  TROUPE_COMMAND(io_deregister_request, io_deregister)
  TROUPE_COMMAND(group_construct_request, group_construct)
  TROUPE_COMMAND(group_destruct_request, group_destruct)
  TROUPE_COMMAND(group_leave_request, group_leave)
  TROUPE_COMMAND(fabric_register_request, fabric_register)
  TROUPE_COMMAND(fabric_update_request, fabric_update)
  TROUPE_COMMAND(device_distances_request, device_distances)
  TROUPE_COMMAND(refresh_cache_request, refresh_cache)
  TROUPE_COMMAND(resource_block_request, resource_block)
  TROUPE_COMMAND(session_control_request, session_control)
  TROUPE_COMMAND(resolve_peers_request, resolve_peers)
  TROUPE_COMMAND(resolve_nodes_request, resolve_nodes)
#undef TROUPE_COMMAND
};

} // namespace

command command_of(const request& x) {
  return std::visit(command_finder{}, x);
}

bool is_answered(const request& x) {
  return !std::holds_alternative<deregister_events_request>(x);
}

caf::error encode_request(const request& x, const dialect& d,
                          std::string& out) {
  auto w = writer{out, d};
  std::visit(request_packer{w}, x);
  return w.finish();
}

} // namespace troupe::wire
