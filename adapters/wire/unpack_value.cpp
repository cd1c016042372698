#include "adapters/wire/unpack_value.hpp"

#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace troupe::wire {

namespace {

using storage = value::storage;

// -- structures that hold no values ------------------------------------------

/// FLOAT and DOUBLE travel as decimal text with six digits after the point.
double unpack_double(reader& r) {
  const auto text = r.string_or_empty();
  auto result = 0.0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, result);
  if (r.ok() && (stop != end || error != std::errc{}))
    r.fail("the text of a floating-point number is none");
  return result;
}

timeval_value unpack_timeval(reader& r) {
  const auto seconds = r.signed_integer(8);
  return {seconds, r.signed_integer(8)};
}

/// With its inner tag.
uint32_t unpack_pid(reader& r) {
  r.inner_tag(data_type::pid);
  return static_cast<uint32_t>(r.unsigned_integer(4));
}

proc_info unpack_proc_info(reader& r) {
  auto x = proc_info{};
  x.proc = unpack_proc(r);
  x.hostname = unpack_string(r);
  x.executable_name = unpack_string(r);
  x.pid = unpack_pid(r);
  x.state = r.byte();
  return x;
}

envar unpack_envar(reader& r) {
  auto x = envar{};
  x.name = unpack_string(r);
  x.val = unpack_string(r);
  x.separator = r.byte();
  return x;
}

coord unpack_coord(reader& r) {
  auto x = coord{};
  x.view = r.byte();
  const auto n = r.count(data_type::uint32);
  x.coordinates = unpack_elements(r, n, [](reader& r) {
    return static_cast<uint32_t>(r.unsigned_integer(4));
  });
  return x;
}

regattr unpack_regattr(reader& r) {
  auto x = regattr{};
  x.name = unpack_string(r);
  x.key = std::string{r.key()};
  x.type = r.type_tag();
  const auto n = r.count32(data_type::string);
  x.description = unpack_elements(r, n, unpack_string);
  return x;
}

geometry unpack_geometry(reader& r) {
  auto x = geometry{};
  x.fabric = r.size();
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  const auto n = r.count(data_type::coord);
  x.coordinates = unpack_elements(r, n, unpack_coord);
  return x;
}

endpoint unpack_endpoint(reader& r) {
  auto x = endpoint{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.bytes = std::string{r.blob()};
  return x;
}

device unpack_device(reader& r) {
  auto x = device{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.type = r.unsigned_integer(8);
  return x;
}

node_pid unpack_node_pid(reader& r) {
  auto x = node_pid{};
  x.hostname = unpack_string(r);
  x.node_id = static_cast<uint32_t>(r.unsigned_integer(4));
  x.pid = unpack_pid(r);
  return x;
}

proc_stats unpack_proc_stats(reader& r) {
  auto x = proc_stats{};
  x.node = unpack_string(r);
  x.proc = unpack_proc(r);
  x.pid = unpack_pid(r);
  x.cmd = unpack_string(r);
  x.state = r.byte();
  x.time = unpack_timeval(r);
  x.priority = static_cast<int32_t>(r.signed_integer(4));
  x.num_threads = static_cast<int16_t>(r.signed_integer(2));
  x.pss = unpack_double(r);
  x.vsize = unpack_double(r);
  x.rss = unpack_double(r);
  x.processor = static_cast<uint16_t>(r.signed_integer(2));
  x.sample_time = unpack_timeval(r);
  return x;
}

disk_stats unpack_disk_stats(reader& r) {
  auto x = disk_stats{};
  x.disk = unpack_string(r);
  for (auto* field :
       {&x.num_reads_completed, &x.num_reads_merged, &x.num_sectors_read,
        &x.milliseconds_reading, &x.num_writes_completed, &x.num_writes_merged,
        &x.num_sectors_written, &x.milliseconds_writing, &x.num_ios_in_progress,
        &x.milliseconds_io, &x.weighted_milliseconds_io})
    *field = r.unsigned_integer(8);
  return x;
}

net_stats unpack_net_stats(reader& r) {
  auto x = net_stats{};
  x.interface_name = unpack_string(r);
  for (auto* field :
       {&x.num_bytes_received, &x.num_packets_received, &x.num_receive_errors,
        &x.num_bytes_sent, &x.num_packets_sent, &x.num_send_errors})
    *field = r.unsigned_integer(8);
  return x;
}

node_stats unpack_node_stats(reader& r) {
  auto x = node_stats{};
  x.node = unpack_string(r);
  for (auto* field : {&x.load_average, &x.load_average_5, &x.load_average_15,
                      &x.total_memory, &x.free_memory, &x.buffers, &x.cached,
                      &x.swap_cached, &x.swap_total, &x.swap_free, &x.mapped})
    *field = unpack_double(r);
  x.sample_time = unpack_timeval(r);
  const auto num_disks = r.count(data_type::disk_stats);
  x.disks = unpack_elements(r, num_disks, unpack_disk_stats);
  const auto num_nets = r.count(data_type::net_stats);
  x.nets = unpack_elements(r, num_nets, unpack_net_stats);
  return x;
}

} // namespace

std::optional<std::string> unpack_string(reader& r) {
  if (const auto x = r.string())
    return std::string{*x};
  return std::nullopt;
}

proc_id unpack_proc(reader& r) {
  auto x = proc_id{};
  x.nspace = std::string{r.nspace()};
  x.rank = static_cast<uint32_t>(r.unsigned_integer(4));
  return x;
}

resource_unit unpack_resource_unit(reader& r) {
  auto x = resource_unit{};
  x.type = r.unsigned_integer(8);
  x.count = r.size();
  return x;
}

device_distance unpack_device_distance(reader& r) {
  auto x = device_distance{};
  x.uuid = unpack_string(r);
  x.os_name = unpack_string(r);
  x.type = r.unsigned_integer(8);
  x.min_distance = static_cast<uint16_t>(r.unsigned_integer(2));
  x.max_distance = static_cast<uint16_t>(r.unsigned_integer(2));
  return x;
}

std::optional<std::string> unpack_topology(reader& r) {
  auto xml = unpack_string(r);
  if (xml)
    r.bytes(topology_support_size);
  return xml;
}

namespace {

// -- scalars -----------------------------------------------------------------

bool unpack_bool(reader& r) {
  const auto x = r.byte();
  if (x > 1)
    r.fail("a boolean is neither 0 nor 1");
  return x != 0;
}

storage unpack_text(reader& r, data_type x) {
  const auto text = r.string();
  if (!text)
    return std::monostate{};
  if (x == data_type::proc_nspace && text->size() > max_nspace_length)
    r.fail("a namespace has more than 255 bytes");
  return std::string{*text};
}

// -- bytes that need a look --------------------------------------------------

std::string unpack_buffer(reader& r) {
  const auto type = r.byte();
  if (type != 1 && type != 2)
    r.fail("a buffer is of no known type");
  return std::string{r.blob()};
}

/// A REGEX has no length: its beginning says how to find its end.
std::string unpack_regex(reader& r) {
  if (r.from() == origin::client) {
    r.fail("a client sent a REGEX");
    return {};
  }
  constexpr auto size_prefix = std::string_view{"size="};
  auto result = std::string{r.up_to_zero()};
  if (result != std::string_view{"blob:\0", 6})
    return result;
  result += r.up_to_zero();
  const auto size = r.up_to_zero();
  // `size=<n>:` and a zero.
  auto n = size_t{0};
  auto is_size = size.size() > size_prefix.size() + 2
                 && size.substr(0, size_prefix.size()) == size_prefix;
  if (is_size) {
    const auto* end = size.data() + size.size() - 2;
    is_size =
      *end == ':'
      && std::from_chars(size.data() + size_prefix.size(), end, n).ptr == end;
  }
  if (!is_size) {
    r.fail("the size of a REGEX is none");
    return {};
  }
  result += size;
  result += r.bytes(n);
  return result;
}

std::string unpack_regex2(reader& r) {
  auto result = std::string{r.string_or_empty()};
  result += '\0';
  result += r.blob();
  return result;
}

// -- structures that hold values ---------------------------------------------

std::vector<std::string> unpack_strings(reader& r,
                                        size_t most = max_strings_from_client,
                                        const char* what = "strings") {
  const auto n = r.count32(data_type::string);
  r.at_most(n, most, what);
  return unpack_elements(r, n, [](reader& r) {
    const auto x = r.string();
    if (!x)
      r.fail("a string in a list is null");
    return std::string{x.value_or(std::string_view{})};
  });
}

std::vector<info> unpack_nested_infos(reader& r) {
  const auto n = r.count(data_type::info);
  return unpack_elements(r, n, unpack_info);
}

// -- arrays ------------------------------------------------------------------

/// Lists of processes from here on are looked through for repetitions.
constexpr size_t long_list = 1024;

/// Drops processes that have been named before: that says nothing new, and
/// whoever names one 60,000 times shall cost those behind us no more than if it
/// did so once.
void keep_each_once(std::vector<proc_id>& xs) {
  auto seen = std::unordered_map<std::string, std::unordered_set<uint32_t>>{};
  // Those of a namespace mostly follow each other. Elements stay where they are
  // when others come.
  decltype(seen)::pointer last = nullptr;
  const auto is_again = [&](const proc_id& x) {
    if (last == nullptr || last->first != x.nspace)
      last = &*seen.try_emplace(x.nspace).first;
    return !last->second.insert(x.rank).second;
  };
  auto end = xs.begin();
  for (auto& x : xs)
    if (!is_again(x)) {
      if (&*end != &x)
        *end = std::move(x);
      ++end;
    }
  xs.erase(end, xs.end());
}

/// Whether `x` may stand in front of a value.
bool check_type(reader& r, data_type x) {
  if (r.ok() && x != data_type::undef && !may_send(r.rules(), x))
    r.fail("a type that the peer's packing module does not have",
           status::unknown_data_type);
  return r.ok();
}

value unpack_element(reader& r, data_type x) {
  auto result = value{x, std::monostate{}};
  if (r.enter())
    result.data = unpack_data(r, x);
  r.leave();
  return result;
}

/// An array of no type is a tag and a size of 0. Libraries of 6 write a null
/// array as the tag alone; no other field begins like that size does.
data_array unpack_undefined_array(reader& r) {
  const auto size =
    r.is_fixed() ? std::string_view{"\0\x0f", 2} : std::string_view{"\0", 1};
  if (r.rules().peer.major < 6 || r.next_is(size))
    if (r.size() != 0)
      r.fail("an array of no type has elements");
  return {};
}

data_array unpack_data_array(reader& r) {
  auto x = data_array{};
  x.element_type = r.type_tag();
  if (!check_type(r, x.element_type))
    return x;
  if (x.element_type == data_type::undef)
    return unpack_undefined_array(r);
  const auto n = r.count(x.element_type);
  if (n > 0)
    r.inner_tag(x.element_type);
  x.elements = unpack_elements(r, n, [type = x.element_type](reader& r) {
    return unpack_element(r, type);
  });
  return x;
}

data_array unpack_info_array(reader& r) {
  auto x = data_array{};
  x.element_type = data_type::info;
  const auto n = r.count(data_type::info);
  x.elements = unpack_elements(
    r, n, [](reader& r) { return unpack_element(r, data_type::info); });
  return x;
}

storage unpack_structure(reader& r, data_type x) {
  switch (x) {
    case data_type::timeval:
      return unpack_timeval(r);
    case data_type::value:
      return box<value>{unpack_value(r)};
    case data_type::proc:
      return unpack_proc(r);
    case data_type::app:
      return box<app>{unpack_app(r)};
    case data_type::info:
      return box<info>{unpack_info(r)};
    case data_type::pdata:
      return box<pdata>{unpack_pdata(r)};
    case data_type::buffer:
      return unpack_buffer(r);
    case data_type::kval:
      return box<key_value>{unpack_key_value(r)};
    case data_type::proc_info:
      return box<proc_info>{unpack_proc_info(r)};
    case data_type::data_array:
      return box<data_array>{unpack_data_array(r)};
    case data_type::query:
      return box<query>{unpack_query(r)};
    case data_type::info_array:
      return box<data_array>{unpack_info_array(r)};
    case data_type::envar:
      return box<envar>{unpack_envar(r)};
    case data_type::coord:
      return box<coord>{unpack_coord(r)};
    case data_type::regattr:
      return box<regattr>{unpack_regattr(r)};
    case data_type::regex:
      return unpack_regex(r);
    case data_type::regex2:
      return unpack_regex2(r);
    case data_type::geometry:
      return box<geometry>{unpack_geometry(r)};
    case data_type::device_distance:
      return box<device_distance>{unpack_device_distance(r)};
    case data_type::endpoint:
      return box<endpoint>{unpack_endpoint(r)};
    case data_type::topology: {
      auto xml = unpack_topology(r);
      if (!xml)
        return std::monostate{};
      // Clients of release 6 send all they know of themselves when they
      // connect. Peers would hand the text to hwloc: it goes no further.
      if (r.from() == origin::client)
        return std::monostate{};
      return std::move(*xml);
    }
    case data_type::proc_stats:
      return box<proc_stats>{unpack_proc_stats(r)};
    case data_type::disk_stats:
      return box<disk_stats>{unpack_disk_stats(r)};
    case data_type::net_stats:
      return box<net_stats>{unpack_net_stats(r)};
    case data_type::node_stats:
      return box<node_stats>{unpack_node_stats(r)};
    case data_type::device:
      return box<device>{unpack_device(r)};
    case data_type::resource_unit:
      return box<resource_unit>{unpack_resource_unit(r)};
    case data_type::node_pid:
      return box<node_pid>{unpack_node_pid(r)};
    default:
      r.fail("a type without an encoding", status::unknown_data_type);
      return std::monostate{};
  }
}

} // namespace

// -- values ------------------------------------------------------------------

storage unpack_data(reader& r, data_type x) {
  const auto& row = layout_of(x);
  switch (row.kind) {
    case shape::nothing:
      return std::monostate{};
    case shape::boolean:
      return unpack_bool(r);
    case shape::unsigned_integer:
      return r.unsigned_integer(row.width);
    case shape::signed_integer:
      return r.signed_integer(row.width);
    case shape::unsigned_as_signed:
      return uint64_t{static_cast<uint32_t>(r.signed_integer(row.width))};
    case shape::floating_text:
      return unpack_double(r);
    case shape::text:
      return unpack_text(r, x);
    case shape::bytes:
      return std::string{r.blob()};
    case shape::pointer:
      if (r.byte() != 1)
        r.fail("a pointer is not marked as one");
      return std::monostate{};
    case shape::structure:
      return unpack_structure(r, x);
    case shape::unknown:
      break;
  }
  r.fail("a type without an encoding", status::unknown_data_type);
  return std::monostate{};
}

value unpack_value(reader& r) {
  auto result = value{};
  if (r.enter()) {
    result.type = r.type_tag();
    if (check_type(r, result.type)) {
      r.inner_tag(result.type);
      result.data = unpack_data(r, result.type);
    }
  }
  r.leave();
  return result;
}

info unpack_info(reader& r) {
  auto x = info{};
  x.key = std::string{r.key()};
  x.flags = static_cast<uint32_t>(r.unsigned_integer(4));
  x.val = unpack_value(r);
  return x;
}

key_value unpack_key_value(reader& r) {
  auto x = key_value{};
  x.key = std::string{r.key()};
  x.val = unpack_value(r);
  return x;
}

pdata unpack_pdata(reader& r) {
  auto x = pdata{};
  x.proc = unpack_proc(r);
  x.key = std::string{r.key()};
  x.val = unpack_value(r);
  return x;
}

app unpack_app(reader& r) {
  auto x = app{};
  x.cmd = std::string{r.string_or_empty()};
  r.inner_tag(data_type::int_);
  x.argv = unpack_strings(r);
  x.env = unpack_strings(r);
  x.cwd = unpack_string(r);
  r.inner_tag(data_type::int_);
  x.max_procs = static_cast<int32_t>(r.signed_integer(4));
  x.infos = unpack_nested_infos(r);
  return x;
}

query unpack_query(reader& r) {
  auto x = query{};
  x.keys = unpack_strings(r, max_query_keys_from_client, "keys in a query");
  x.qualifiers = unpack_nested_infos(r);
  return x;
}

// -- lists -------------------------------------------------------------------

std::vector<info> unpack_infos(reader& r) {
  return unpack_list(r, data_type::info, unpack_info);
}

std::vector<proc_id> unpack_procs(reader& r) {
  auto result = unpack_list(r, data_type::proc, unpack_proc);
  if (r.from() == origin::client && result.size() > long_list)
    keep_each_once(result);
  return result;
}

std::vector<key_value> unpack_key_values(reader& r) {
  auto result = std::vector<key_value>{};
  while (r.left() > 0) {
    const auto n = r.pack(data_type::kval);
    for (size_t i = 0; i < n && r.ok(); ++i)
      result.push_back(unpack_key_value(r));
  }
  return result;
}

} // namespace troupe::wire
