#include "adapters/wire/replies.hpp"

#include "adapters/wire/layout.hpp"
#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "messages/attributes.hpp"

#include <algorithm>
#include <iterator>

namespace troupe::wire {

// -- encoding ----------------------------------------------------------------

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

/// Infos of which the first says whose they are.
bool is_from_proc(const value& x) {
  const auto* array = x.array();
  if (array == nullptr || array->element_type != data_type::info
      || array->elements.empty())
    return false;
  const auto* first = std::get_if<box<info>>(&array->elements.front().data);
  return first != nullptr && (*first)->key == attr::procid
         && (*first)->val.proc() != nullptr;
}

/// What clients of 6 look for in the answer to a group construct: they take
/// everything for this, without a look at its type.
bool is_group_info(const info& x) {
  if (x.key == attr::group_info)
    return is_from_proc(x.val);
  const auto* array = x.val.array();
  if (x.key != attr::group_info_array || array == nullptr)
    return false;
  const auto& all = array->elements;
  return std::all_of(all.begin(), all.end(), [](const value& y) {
    const auto* one = std::get_if<box<info>>(&y.data);
    return one != nullptr && is_from_proc((*one)->val);
  });
}

void pack_body(writer& w, const group_construct_result& x) {
  const auto layout = group_layout_of(w.rules().peer);
  if (layout != group_layout::context_id)
    pack_procs(w, x.members);
  if (layout == group_layout::members_and_infos) {
    w.pack(data_type::bool_);
    w.byte(x.context_id ? 1 : 0);
  }
  // Clients of 4.2.2 and before take whatever stands there for the context id,
  // and leave what follows it. Our own library reads on.
  const auto goes_on = layout == group_layout::context_id
                       && !(x.members.empty() && x.infos.empty());
  if (x.context_id || goes_on)
    w.packed_size(x.context_id.value_or(0));
  if (goes_on)
    pack_procs(w, x.members);
  if (goes_on || layout == group_layout::members_and_infos) {
    auto infos = std::vector<info>{};
    std::copy_if(x.infos.begin(), x.infos.end(), std::back_inserter(infos),
                 is_group_info);
    pack_infos(w, infos);
  }
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

caf::error encode_reply(const group_construct_result& x, const dialect& d,
                        std::string& out) {
  // Clients of 6 read on after `success` only.
  const auto may_differ =
    group_layout_of(d.peer) != group_layout::members_and_infos;
  return encode_body(x, may_differ ? x.outcome : status::success, d, out);
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

// -- decoding ----------------------------------------------------------------

namespace {

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

/// Reads one KVAL of job info: an entry, or the packed data of a rank, of which
/// `take_rank` reads so many bytes.
template <class F>
void unpack_job_entry(reader& r, std::vector<key_value>& entries, F take_rank) {
  auto key = r.key();
  if (key != rank_data_key) {
    auto x = key_value{std::string{key}, unpack_value(r)};
    entries.push_back(std::move(x));
    return;
  }
  if (r.type_tag() != data_type::byte_object)
    r.fail("the data of a rank is no byte object", status::type_mismatch);
  take_rank(r.size());
}

template <class F>
void read_job_data(reader& r, std::vector<key_value>& entries, F take_rank) {
  while (r.left() > 0) {
    const auto n = r.pack(data_type::kval);
    for (size_t i = 0; i < n && r.ok(); ++i)
      unpack_job_entry(r, entries, take_rank);
  }
}

void unpack_job_data(reader& r, std::vector<key_value>& entries,
                     std::vector<rank_data>& ranks) {
  read_job_data(r, entries, [&](uint64_t size) {
    r.within(size, r.rules().described,
             [&] { ranks.push_back(unpack_rank_data(r)); });
  });
}

job_info unpack_job_info(reader& r) {
  auto x = job_info{};
  x.nspace = unpack_nspace(r);
  unpack_job_data(r, x.entries, x.ranks);
  return x;
}

/// Skips a value of a type of which that says whether it can be read.
/// @returns whether it is one.
bool skip_plain_value(reader& r) {
  const auto type = r.type_tag();
  const auto& row = layout_of(type);
  if (!r.ok() || !may_send(r.rules(), type) || type == data_type::proc_nspace)
    return false;
  r.inner_tag(type);
  switch (row.kind) {
    case shape::boolean:
      r.byte();
      break;
    case shape::unsigned_integer:
      r.unsigned_integer(row.width);
      break;
    case shape::signed_integer:
    case shape::unsigned_as_signed:
      r.signed_integer(row.width);
      break;
    case shape::text:
      r.string();
      break;
    case shape::bytes:
      if (type != data_type::byte_object)
        return false;
      r.blob();
      break;
    default:
      return false;
  }
  return r.ok();
}

/// Whether the packed data of a rank can be read when somebody asks for them.
bool can_wait(packed_rank& x, const dialect& d,
              bool (*may_wait)(std::string_view key)) {
  auto r = reader{x.bytes, d, origin::server};
  r.pack_exactly(data_type::proc_rank, 1);
  x.rank = static_cast<uint32_t>(r.unsigned_integer(4));
  while (r.left() > 0) {
    const auto n = r.pack(data_type::kval);
    for (size_t i = 0; i < n && r.ok(); ++i)
      if (!may_wait(r.key()) || !skip_plain_value(r))
        return false;
  }
  return r.ok();
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

/// What is wanted of `unpack_answer`: overloads cannot tell by what they return.
template <class T>
struct answer_type {};

reply_body unpack_answer(reader& r, status, answer_type<get_result>) {
  return get_result{unpack_byte_objects(r, unpack_proc_data)};
}

reply_body unpack_answer(reader& r, status, answer_type<lookup_result>) {
  return lookup_result{unpack_list(r, data_type::pdata, unpack_pdata)};
}

reply_body unpack_answer(reader& r, status, answer_type<spawn_result>) {
  auto x = spawn_result{};
  x.nspace = unpack_nspace(r);
  unpack_job_data(r, x.entries, x.ranks);
  return x;
}

reply_body unpack_answer(reader& r, status, answer_type<connect_procs_result>) {
  return connect_procs_result{unpack_byte_objects(r, unpack_job_info)};
}

reply_body unpack_answer(reader& r, status outcome, answer_type<info_result>) {
  return info_result{unpack_infos(r), outcome != status::query_partial_success};
}

reply_body unpack_answer(reader& r, status,
                         answer_type<get_credential_result>) {
  auto x = get_credential_result{};
  r.pack_exactly(data_type::byte_object, 1);
  x.credential = std::string{r.blob()};
  if (r.left() > 0)
    x.infos = unpack_infos(r);
  return x;
}

reply_body unpack_answer(reader& r, status, answer_type<io_pull_result>) {
  return io_pull_result{unpack_size(r)};
}

reply_body unpack_answer(reader& r, status outcome,
                         answer_type<group_construct_result>) {
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

reply_body unpack_answer(reader& r, status,
                         answer_type<device_distances_result>) {
  return device_distances_result{
    unpack_list(r, data_type::device_distance, unpack_device_distance)};
}

reply_body unpack_answer(reader& r, status, answer_type<refresh_cache_result>) {
  return refresh_cache_result{unpack_key_values(r)};
}

reply_body unpack_answer(reader& r, status, answer_type<resolve_peers_result>) {
  return resolve_peers_result{unpack_procs(r)};
}

reply_body unpack_answer(reader& r, status, answer_type<resolve_nodes_result>) {
  return resolve_nodes_result{unpack_text(r)};
}

/// Of answers without a body, and of job info, which has no status.
template <class T>
reply_body unpack_answer(reader&, status, answer_type<T>) {
  return ack{};
}

// NOLINTNEXTLINE(readability-function-size): a flat list of commands.
reply_body unpack_body(reader& r, command asked, status outcome) {
  switch (asked) {
#define TROUPE_REQUEST(number, name, request, answer)                          \
  case command::name:                                                          \
    return unpack_answer(r, outcome, answer_type<answer>{});
#include "messages/requests.def"
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

caf::expected<job_info> decode_job_info(std::string_view payload,
                                        const dialect& d,
                                        bool (*may_wait)(std::string_view key),
                                        std::vector<packed_rank>& ranks) {
  auto r = reader{payload, d, origin::server};
  auto x = job_info{};
  auto can_all_wait = true;
  x.nspace = unpack_nspace(r);
  read_job_data(r, x.entries, [&](uint64_t size) {
    auto packed = packed_rank{rank_undef, r.bytes(size)};
    can_all_wait = can_all_wait && can_wait(packed, r.rules(), may_wait);
    ranks.push_back(packed);
  });
  r.expect_end();
  if (r.ok() && can_all_wait)
    return x;
  // That says what is wrong, too.
  ranks.clear();
  auto all = decode_reply(command::job_info, payload, d);
  if (!all)
    return std::move(all.error());
  return std::move(std::get<job_info>(all->body));
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
