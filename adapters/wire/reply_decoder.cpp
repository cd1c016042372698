#include "adapters/wire/replies.hpp"
#include "adapters/wire/unpack_value.hpp"

namespace troupe::wire {

namespace {

constexpr auto rank_data_key = std::string_view{"pmix.pblob"};

status unpack_status(reader& r) {
  r.pack_exactly(data_type::status, 1);
  return static_cast<status>(r.signed_integer(4));
}

std::string unpack_text(reader& r) {
  r.pack_exactly(data_type::string, 1);
  return std::string{r.string_or_empty()};
}

std::string unpack_nspace(reader& r) {
  r.pack_exactly(data_type::string, 1);
  return std::string{r.nspace()};
}

uint64_t unpack_size(reader& r) {
  r.pack_exactly(data_type::size, 1);
  return r.unsigned_integer(8);
}

// -- job info ----------------------------------------------------------------

rank_data unpack_rank_data(reader& r) {
  auto x = rank_data{};
  r.pack_exactly(data_type::proc_rank, 1);
  x.rank = static_cast<uint32_t>(r.unsigned_integer(4));
  x.entries = unpack_key_values(r);
  return x;
}

/// Reads one KVAL of job info: the packed data of a rank or an entry.
void unpack_job_entry(reader& r, std::vector<key_value>& entries,
                      std::vector<rank_data>& ranks) {
  auto key = r.key();
  if (key != rank_data_key) {
    auto x = key_value{std::string{key}, unpack_value(r)};
    entries.push_back(std::move(x));
    return;
  }
  if (r.type_tag() != data_type::byte_object)
    r.fail("the data of a rank is no byte object", status::type_mismatch);
  const auto size = r.size();
  r.within(size, r.rules().described,
           [&] { ranks.push_back(unpack_rank_data(r)); });
}

void unpack_job_data(reader& r, std::vector<key_value>& entries,
                     std::vector<rank_data>& ranks) {
  while (r.left() > 0) {
    const auto n = r.pack(data_type::kval);
    for (size_t i = 0; i < n && r.ok(); ++i)
      unpack_job_entry(r, entries, ranks);
  }
}

job_info unpack_job_info(reader& r) {
  auto x = job_info{};
  x.nspace = unpack_nspace(r);
  unpack_job_data(r, x.entries, x.ranks);
  return x;
}

// -- bodies ------------------------------------------------------------------

/// Reads PACK(BYTE_OBJECT) until the end; `f` reads what is in each.
template <class F>
auto unpack_byte_objects(reader& r, F f) {
  auto result = std::vector<decltype(f(r))>{};
  while (r.left() > 0) {
    const auto n = r.pack(data_type::byte_object);
    for (size_t i = 0; i < n && r.ok(); ++i) {
      const auto size = r.size();
      r.within(size, r.rules().described, [&] { result.push_back(f(r)); });
    }
  }
  return result;
}

proc_data unpack_proc_data(reader& r) {
  auto x = proc_data{};
  r.pack_exactly(data_type::proc, 1);
  x.proc = unpack_proc(r);
  x.entries = unpack_key_values(r);
  return x;
}

reply_body unpack_spawn(reader& r) {
  auto x = spawn_result{};
  x.nspace = unpack_nspace(r);
  unpack_job_data(r, x.entries, x.ranks);
  return x;
}

reply_body unpack_credential(reader& r) {
  auto x = get_credential_result{};
  r.pack_exactly(data_type::byte_object, 1);
  x.credential = std::string{r.blob()};
  if (r.left() > 0)
    x.infos = unpack_infos(r);
  return x;
}

reply_body unpack_group(reader& r, status outcome) {
  auto x = group_construct_result{};
  x.outcome = outcome;
  const auto layout = group_layout_of(r.rules().peer);
  if (layout != group_layout::context_id)
    x.members = unpack_procs(r);
  auto has_id = r.left() > 0;
  if (layout == group_layout::members_and_infos) {
    r.pack_exactly(data_type::bool_, 1);
    has_id = r.byte() != 0;
  }
  if (has_id)
    x.context_id = unpack_size(r);
  if (layout == group_layout::context_id && r.left() > 0) {
    // Our servers add to what those of 4.2 say, where 0 is no context id.
    if (x.context_id == uint64_t{0})
      x.context_id = std::nullopt;
    x.members = unpack_procs(r);
    x.infos = unpack_infos(r);
  }
  if (layout == group_layout::members_and_infos && r.left() > 0)
    x.infos = unpack_infos(r);
  // Servers of 5 may add data of other namespaces, which a get fetches as well.
  if (layout == group_layout::members && r.left() > 0) {
    r.pack_exactly(data_type::byte_object, 1);
    r.blob();
  }
  return x;
}

reply_body unpack_distances(reader& r) {
  return device_distances_result{
    unpack_list(r, data_type::device_distance, unpack_device_distance)};
}

reply_body unpack_body(reader& r, command asked, status outcome) {
  switch (asked) {
    case command::get:
      return get_result{unpack_byte_objects(r, unpack_proc_data)};
    case command::lookup:
      return lookup_result{unpack_list(r, data_type::pdata, unpack_pdata)};
    case command::spawn:
      return unpack_spawn(r);
    case command::connect:
      return connect_procs_result{unpack_byte_objects(r, unpack_job_info)};
    case command::query:
    case command::allocate:
    case command::job_control:
    case command::monitor:
    case command::validate_credential:
    case command::fabric_register:
    case command::fabric_update:
    case command::session_control:
      return info_result{unpack_infos(r),
                         outcome != status::query_partial_success};
    case command::get_credential:
      return unpack_credential(r);
    case command::io_pull:
      return io_pull_result{unpack_size(r)};
    case command::group_construct:
      return unpack_group(r, outcome);
    case command::device_distances:
      return unpack_distances(r);
    case command::refresh_cache:
      return refresh_cache_result{unpack_key_values(r)};
    case command::resolve_peers:
      return resolve_peers_result{unpack_procs(r)};
    case command::resolve_nodes:
      return resolve_nodes_result{unpack_text(r)};
    default:
      return ack{};
  }
}

} // namespace

caf::expected<reply> decode_reply(command asked, std::string_view payload,
                                  const dialect& d) {
  auto r = reader{payload, d, origin::server};
  auto x = reply{};
  if (asked == command::job_info) {
    x.body = unpack_job_info(r);
  } else {
    x.outcome = unpack_status(r);
    if (r.left() > 0)
      x.body = unpack_body(r, asked, x.outcome);
  }
  r.expect_end();
  if (!r.ok())
    return r.failure();
  return x;
}

caf::expected<rank_data> decode_rank_data(std::string_view bytes,
                                          const dialect& d) {
  auto r = reader{bytes, d, origin::server};
  auto x = unpack_rank_data(r);
  if (!r.ok())
    return r.failure();
  return x;
}

} // namespace troupe::wire
