#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/replies.hpp"
#include "messages/attributes.hpp"

namespace troupe::wire {

namespace {

/// The key under which the packed data of a rank stands in job info.
constexpr auto rank_data_key = std::string_view{"pmix.pblob"};

void pack_status(writer& w, status x) {
  w.pack(data_type::status);
  w.signed_integer(static_cast<int32_t>(x), 4);
}

void pack_string(writer& w, std::string_view x) {
  w.pack(data_type::string);
  w.string(x);
}

void pack_nspace(writer& w, std::string_view x) {
  w.pack(data_type::string);
  w.nspace(x);
}

// -- job info ----------------------------------------------------------------

void pack_rank_data(writer& w, const rank_data& x) {
  w.pack(data_type::proc_rank);
  w.unsigned_integer(x.rank, 4);
  pack_key_values(w, x.entries);
}

void pack_ranks(writer& w, const std::vector<rank_data>& xs) {
  for (const auto& x : xs) {
    w.pack(data_type::kval);
    w.key(rank_data_key);
    w.type_tag(data_type::byte_object);
    w.preceded([&] { pack_rank_data(w, x); }, [&](size_t n) { w.size(n); });
  }
}

// -- bodies ------------------------------------------------------------------

void pack_body(writer&, const ack&) {
  // nop
}

void pack_body(writer& w, const job_info& x) {
  pack_nspace(w, x.nspace);
  pack_key_values(w, x.entries);
  pack_ranks(w, x.ranks);
}

void pack_body(writer& w, const get_result& x) {
  for (const auto& block : x.blocks)
    pack_byte_object(w, [&] {
      w.pack(data_type::proc);
      pack_proc(w, block.proc);
      pack_key_values(w, block.entries);
    });
}

/// Keys whose value the peer cannot read are as good as not found.
void pack_body(writer& w, const lookup_result& x) {
  auto n = size_t{0};
  w.preceded(
    [&] {
      for (const auto& y : x.found)
        n += w.entry([&] { pack_pdata(w, y); }) ? 1 : 0;
    },
    [&](size_t) {
      w.packed_size(n);
      if (n > 0)
        w.pack(data_type::pdata, n);
    });
}

void pack_body(writer& w, const spawn_result& x) {
  pack_nspace(w, x.nspace);
  pack_key_values(w, x.entries);
  pack_ranks(w, x.ranks);
}

void pack_body(writer& w, const connect_procs_result& x) {
  for (const auto& job : x.jobs)
    pack_byte_object(w, [&] { pack_body(w, job); });
}

void pack_body(writer& w, const info_result& x) {
  pack_infos(w, x.infos);
}

void pack_body(writer& w, const get_credential_result& x) {
  w.pack(data_type::byte_object);
  w.blob(x.credential);
  pack_infos(w, x.infos);
}

void pack_body(writer& w, const io_pull_result& x) {
  w.packed_size(x.subscription);
}

void pack_body(writer& w, const group_construct_result& x) {
  const auto layout = group_layout_of(w.rules().peer);
  if (layout != group_layout::context_id)
    pack_procs(w, x.members);
  if (layout == group_layout::members_and_infos) {
    w.pack(data_type::bool_);
    w.byte(x.context_id ? 1 : 0);
  }
  if (x.context_id)
    w.packed_size(*x.context_id);
  if (layout == group_layout::members_and_infos)
    pack_infos(w, x.infos);
}

void pack_body(writer& w, const device_distances_result& x) {
  pack_list(w, data_type::device_distance, x.distances, pack_device_distance);
}

void pack_body(writer& w, const refresh_cache_result& x) {
  pack_key_values(w, x.entries);
}

void pack_body(writer& w, const resolve_peers_result& x) {
  pack_procs(w, x.procs);
}

void pack_body(writer& w, const resolve_nodes_result& x) {
  pack_string(w, x.nodes);
}

template <class T>
caf::error encode_body(const T& x, status outcome, const dialect& d,
                       std::string& out) {
  auto w = writer{out, d, unreadable::left_out};
  if constexpr (!std::is_same_v<T, job_info>)
    pack_status(w, outcome);
  pack_body(w, x);
  return w.finish();
}

} // namespace

void encode_status(status x, const dialect& d, std::string& out) {
  auto w = writer{out, d};
  pack_status(w, x);
}

caf::error encode_denial(status x, const std::vector<info>& reasons,
                         const dialect& d, std::string& out) {
  return encode_body(info_result{reasons, true}, x, d, out);
}

void encode_reply(const ack&, const dialect& d, std::string& out) {
  encode_status(status::success, d, out);
}

caf::error encode_reply(const info_result& x, const dialect& d,
                        std::string& out) {
  return encode_body(
    x, x.complete ? status::success : status::query_partial_success, d, out);
}

#define TROUPE_ENCODE_REPLY(type)                                              \
  caf::error encode_reply(const type& x, const dialect& d, std::string& out) { \
    return encode_body(x, status::success, d, out);                            \
  }

TROUPE_ENCODE_REPLY(job_info)
TROUPE_ENCODE_REPLY(get_result)
TROUPE_ENCODE_REPLY(lookup_result)
TROUPE_ENCODE_REPLY(spawn_result)
TROUPE_ENCODE_REPLY(connect_procs_result)
TROUPE_ENCODE_REPLY(get_credential_result)
TROUPE_ENCODE_REPLY(io_pull_result)
TROUPE_ENCODE_REPLY(group_construct_result)
TROUPE_ENCODE_REPLY(device_distances_result)
TROUPE_ENCODE_REPLY(refresh_cache_result)
TROUPE_ENCODE_REPLY(resolve_peers_result)
TROUPE_ENCODE_REPLY(resolve_nodes_result)

#undef TROUPE_ENCODE_REPLY

caf::error encode_reply(const reply& x, const dialect& d, std::string& out) {
  return std::visit(
    [&](const auto& body) { return encode_body(body, x.outcome, d, out); },
    x.body);
}

caf::error encode_rank_data(const rank_data& x, const dialect& d,
                            std::string& out) {
  auto w = writer{out, d, unreadable::left_out};
  pack_rank_data(w, x);
  return w.finish();
}

} // namespace troupe::wire
