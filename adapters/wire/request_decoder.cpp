#include "adapters/wire/long_request.hpp"
#include "adapters/wire/unpack_value.hpp"

namespace troupe::wire {

namespace {

// -- single PACK calls -------------------------------------------------------

uint64_t unpack_size(reader& r) {
  r.pack_exactly(data_type::size, 1);
  return r.unsigned_integer(8);
}

uint32_t unpack_uint32(reader& r) {
  r.pack_exactly(data_type::uint32, 1);
  return static_cast<uint32_t>(r.unsigned_integer(4));
}

uint8_t unpack_byte(reader& r, data_type type) {
  r.pack_exactly(type, 1);
  return r.byte();
}

int32_t unpack_status(reader& r) {
  r.pack_exactly(data_type::status, 1);
  return static_cast<int32_t>(r.signed_integer(4));
}

std::optional<std::string> unpack_text(reader& r) {
  r.pack_exactly(data_type::string, 1);
  return unpack_string(r);
}

std::string unpack_nspace(reader& r) {
  r.pack_exactly(data_type::string, 1);
  return std::string{r.nspace()};
}

std::string unpack_key(reader& r) {
  r.pack_exactly(data_type::string, 1);
  return std::string{r.key()};
}

std::string_view unpack_blob(reader& r) {
  r.pack_exactly(data_type::byte_object, 1);
  return r.blob();
}

std::string unpack_bytes(reader& r) {
  return std::string{unpack_blob(r)};
}

/// A namespace and a rank in a PACK each.
proc_id unpack_target(reader& r) {
  auto nspace = unpack_nspace(r);
  r.pack_exactly(data_type::proc_rank, 1);
  return {std::move(nspace), static_cast<uint32_t>(r.unsigned_integer(4))};
}

/// A count and as many PACKs of one key.
std::vector<std::string> unpack_keys(reader& r) {
  const auto n = r.packed_count(data_type::string);
  r.at_most(n, max_keys_from_client, "keys");
  return unpack_elements(r, n, unpack_key);
}

// -- requests ----------------------------------------------------------------

request unpack_abort(reader& r) {
  auto x = abort_request{};
  x.exit_status = unpack_status(r);
  x.message = unpack_text(r);
  x.procs = unpack_procs(r);
  return x;
}

request unpack_commit(reader& r) {
  auto x = commit_request{};
  while (r.left() > 0) {
    auto block = posted_data{};
    block.visible_to = static_cast<scope>(unpack_byte(r, data_type::scope));
    r.pack_exactly(data_type::buffer, 1);
    const auto type = r.byte();
    if (r.ok() && type != 1 && type != 2)
      r.fail("a buffer is of no known type");
    const auto size = r.size();
    r.within(size, type == 2, [&] { block.entries = unpack_key_values(r); });
    x.blocks.push_back(std::move(block));
  }
  return x;
}

request unpack_get(reader& r) {
  auto x = get_request{};
  x.target = unpack_target(r);
  x.directives = unpack_infos(r);
  if (r.left() > 0) {
    r.pack_exactly(data_type::string, 1);
    if (const auto key = r.string()) {
      if (key->size() > max_key_length)
        r.fail("a key has more than 511 bytes");
      x.key = std::string{*key};
    }
  }
  return x;
}

template <class T>
request unpack_keys_request(reader& r) {
  auto x = T{};
  x.uid = unpack_uint32(r);
  x.keys = unpack_keys(r);
  x.directives = unpack_infos(r);
  return x;
}

template <class T>
request unpack_procs_request(reader& r) {
  auto x = T{};
  x.procs = unpack_procs(r);
  x.directives = unpack_infos(r);
  return x;
}

template <class T>
request unpack_directives_request(reader& r) {
  auto x = T{};
  x.directives = unpack_infos(r);
  return x;
}

request unpack_publish(reader& r) {
  auto x = publish_request{};
  x.uid = unpack_uint32(r);
  const auto n = r.packed_count(data_type::info);
  r.at_most(n, max_published_from_client, "keys to publish");
  if (n > 0)
    r.pack_exactly(data_type::info, n);
  x.infos = unpack_elements(r, n, unpack_info);
  return x;
}

request unpack_spawn(reader& r) {
  auto x = spawn_request{};
  x.job_infos = unpack_infos(r);
  x.apps = unpack_list(r, data_type::app, unpack_app);
  return x;
}

/// Clients from 6.0 on append their own posted data.
request unpack_connect(reader& r) {
  auto x = connect_procs_request{};
  x.procs = unpack_procs(r);
  x.directives = unpack_infos(r);
  while (r.left() > 0) {
    const auto n = r.pack(data_type::info);
    for (size_t i = 0; i < n && r.ok(); ++i)
      x.own_data.push_back(unpack_info(r));
  }
  return x;
}

request unpack_notify(reader& r) {
  auto x = notify_request{};
  x.code = static_cast<status>(unpack_status(r));
  x.range = static_cast<data_range>(unpack_byte(r, data_type::data_range));
  x.infos = unpack_infos(r);
  return x;
}

request unpack_register_events(reader& r) {
  auto x = register_events_request{};
  x.codes = unpack_list(r, data_type::status, [](reader& r) {
    return static_cast<status>(r.signed_integer(4));
  });
  x.directives = unpack_infos(r);
  return x;
}

request unpack_deregister_events(reader& r) {
  auto x = deregister_events_request{};
  while (r.left() > 0) {
    const auto n = r.pack(data_type::status);
    for (size_t i = 0; i < n && r.ok(); ++i)
      x.codes.push_back(static_cast<status>(r.signed_integer(4)));
  }
  return x;
}

request unpack_log(reader& r) {
  auto x = log_request{};
  r.pack_exactly(data_type::time, 1);
  x.timestamp = r.unsigned_integer(8);
  x.data = unpack_infos(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_allocation(reader& r) {
  auto x = allocation_request{};
  x.directive = unpack_byte(r, data_type::alloc_directive);
  x.infos = unpack_infos(r);
  return x;
}

request unpack_job_control(reader& r) {
  auto x = job_control_request{};
  x.targets = unpack_procs(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_monitor(reader& r) {
  auto x = monitor_request{};
  r.pack_exactly(data_type::info, 1);
  x.monitor = unpack_info(r);
  x.error_code = static_cast<status>(unpack_status(r));
  x.directives = unpack_infos(r);
  return x;
}

request unpack_validate_credential(reader& r) {
  auto x = validate_credential_request{};
  x.credential = unpack_bytes(r);
  x.directives = unpack_infos(r);
  return x;
}

/// Clients of 3.2 forget their handler's number.
request unpack_io_pull(reader& r) {
  auto x = io_pull_request{};
  x.procs = unpack_procs(r);
  x.directives = unpack_infos(r);
  r.pack_exactly(data_type::iof_channel, 1);
  x.channels = static_cast<io_channels>(r.unsigned_integer(2));
  if (r.left() > 0)
    x.handler = unpack_size(r);
  return x;
}

/// @returns its bytes, which are not in `x`, if there are any.
std::optional<std::string_view> unpack_io_push(reader& r, io_push_request& x) {
  x.targets = unpack_procs(r);
  x.directives = unpack_infos(r);
  if (r.left() == 0)
    return std::nullopt;
  return unpack_blob(r);
}

request unpack_io_push(reader& r) {
  auto x = io_push_request{};
  x.bytes = unpack_io_push(r, x);
  return x;
}

request unpack_io_deregister(reader& r) {
  auto x = io_deregister_request{};
  x.directives = unpack_infos(r);
  x.subscription = unpack_size(r);
  return x;
}

/// The name of a group: one that is too long is for the server to refuse.
std::string unpack_group_id(reader& r) {
  return unpack_text(r).value_or("");
}

request unpack_group_construct(reader& r) {
  auto x = group_construct_request{};
  x.id = unpack_group_id(r);
  x.procs = unpack_procs(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_group_destruct(reader& r, bool with_members) {
  auto x = group_destruct_request{};
  x.id = unpack_group_id(r);
  if (with_members)
    x.procs = unpack_procs(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_group_leave(reader& r) {
  auto x = group_leave_request{};
  x.id = unpack_group_id(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_fabric_update(reader& r) {
  return fabric_update_request{unpack_size(r)};
}

request unpack_device_distances(reader& r) {
  auto x = device_distances_request{};
  r.pack_exactly(data_type::topology, 1);
  x.topology = unpack_topology(r);
  r.pack_exactly(data_type::proc_cpuset, 1);
  x.cpuset = unpack_string(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_resource_block(reader& r) {
  auto x = resource_block_request{};
  x.directive = unpack_byte(r, data_type::resblock_directive);
  x.block = unpack_text(r);
  x.units = unpack_list(r, data_type::resource_unit, unpack_resource_unit);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_session_control(reader& r) {
  auto x = session_control_request{};
  x.session = unpack_uint32(r);
  x.directives = unpack_infos(r);
  return x;
}

request unpack_resolve_peers(reader& r) {
  auto x = resolve_peers_request{};
  x.node = unpack_text(r);
  x.nspace = unpack_text(r);
  return x;
}

/// Takes the rest of a request that nobody here can read.
request unpack_unknown(reader& r, uint8_t number) {
  r.bytes(r.left());
  return unknown_request{number};
}

// NOLINTNEXTLINE(readability-function-size): a flat list of commands.
request unpack_body(reader& r, uint8_t number, bool destruct_has_members) {
  switch (static_cast<command>(number)) {
    case command::job_info:
      return job_info_request{};
    case command::abort:
      return unpack_abort(r);
    case command::commit:
      return unpack_commit(r);
    case command::fence:
      return unpack_procs_request<fence_request>(r);
    case command::get:
      return unpack_get(r);
    case command::finalize:
      return finalize_request{};
    case command::publish:
      return unpack_publish(r);
    case command::lookup:
      return unpack_keys_request<lookup_request>(r);
    case command::unpublish:
      return unpack_keys_request<unpublish_request>(r);
    case command::spawn:
      return unpack_spawn(r);
    case command::connect:
      return unpack_connect(r);
    case command::disconnect:
      return unpack_procs_request<disconnect_procs_request>(r);
    case command::notify:
      return unpack_notify(r);
    case command::register_events:
      return unpack_register_events(r);
    case command::deregister_events:
      return unpack_deregister_events(r);
    case command::query:
      return query_request{unpack_list(r, data_type::query, unpack_query)};
    case command::log:
      return unpack_log(r);
    case command::allocate:
      return unpack_allocation(r);
    case command::job_control:
      return unpack_job_control(r);
    case command::monitor:
      return unpack_monitor(r);
    case command::get_credential:
      return unpack_directives_request<get_credential_request>(r);
    case command::validate_credential:
      return unpack_validate_credential(r);
    case command::io_pull:
      return unpack_io_pull(r);
    case command::io_push:
      return unpack_io_push(r);
    case command::io_deregister:
      return unpack_io_deregister(r);
    case command::group_construct:
      return unpack_group_construct(r);
    case command::group_destruct:
      return unpack_group_destruct(r, destruct_has_members);
    case command::group_leave:
      return unpack_group_leave(r);
    case command::fabric_register:
      return unpack_directives_request<fabric_register_request>(r);
    case command::fabric_update:
      return unpack_fabric_update(r);
    case command::device_distances:
      return unpack_device_distances(r);
    case command::refresh_cache:
      return refresh_cache_request{unpack_target(r)};
    case command::resource_block:
      return unpack_resource_block(r);
    case command::session_control:
      return unpack_session_control(r);
    case command::resolve_peers:
      return unpack_resolve_peers(r);
    case command::resolve_nodes:
      return resolve_nodes_request{unpack_text(r)};
    default:
      return unpack_unknown(r, number);
  }
}

caf::expected<request> decode(std::string_view payload, const dialect& d,
                              bool destruct_has_members) {
  auto r = reader{payload, d, origin::client};
  const auto number = unpack_byte(r, data_type::command);
  if (!r.ok())
    return r.failure();
  auto result = unpack_body(r, number, destruct_has_members);
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return result;
}

std::optional<command> unpack_command(reader& r) {
  const auto number = unpack_byte(r, data_type::command);
  return r.ok() ? std::optional{static_cast<command>(number)} : std::nullopt;
}

bool is_too_much(const caf::error& x) {
  return status_of(x) == status::out_of_resource;
}

} // namespace

std::optional<command> command_in(std::string_view payload, const dialect& d) {
  auto r = reader{payload, d, origin::client};
  return unpack_command(r);
}

bool can_be_refused(command x) {
  return x != command::deregister_events && x != command::job_info;
}

caf::expected<request> decode_request(std::string_view payload,
                                      const dialect& d) {
  const auto with_members = destructs_with_members(d.peer);
  auto result = decode(payload, d, with_members);
  // Which patch release began to send the members is known from the source of
  // some releases only: try the other layout before giving up.
  if (!result && command_in(payload, d) == command::group_destruct) {
    auto other = decode(payload, d, !with_members);
    if (other || is_too_much(other.error()))
      return other;
  }
  return result;
}

caf::expected<request> decode_long_request(std::string memory, size_t size,
                                           const dialect& d) {
  const auto payload = std::string_view{memory}.substr(memory.size() - size);
  auto r = reader{payload, d, origin::client};
  if (unpack_command(r) != command::io_push)
    return decode_request(payload, d);
  auto x = io_push_request{};
  const auto bytes = unpack_io_push(r, x);
  r.expect_end();
  if (!r.ok())
    return r.failure();
  if (bytes && bytes->empty()) {
    x.bytes.emplace();
  } else if (bytes) {
    const auto length = bytes->size();
    memory.erase(0, static_cast<size_t>(bytes->data() - memory.data()));
    memory.resize(length);
    x.bytes = std::move(memory);
  }
  return x;
}

} // namespace troupe::wire
