#include "adapters/wire/pack_value.hpp"

#include "adapters/wire/compression.hpp"
#include "adapters/wire/unpack_value.hpp"

#include <charconv>

namespace troupe::wire {

namespace {

using storage = value::storage;

// -- structures that hold no values ------------------------------------------

/// FLOAT and DOUBLE travel as decimal text with six digits after the point.
void pack_double(writer& w, double x) {
  // The longest finite number has 309 digits before the point and six after.
  char buffer[352];
  const auto result = std::to_chars(std::begin(buffer), std::end(buffer), x,
                                    std::chars_format::fixed, 6);
  w.string({buffer, static_cast<size_t>(result.ptr - buffer)});
}

void pack_timeval(writer& w, const timeval_value& x) {
  w.signed_integer(x.seconds, 8);
  w.signed_integer(x.microseconds, 8);
}

/// With its inner tag.
void pack_pid(writer& w, uint32_t x) {
  w.inner_tag(data_type::pid);
  w.unsigned_integer(x, 4);
}

/// Released readers of the flex family take a DATA_TYPE for a signed number.
void pack_data_type(writer& w, uint64_t x) {
  if (w.rules().signed_data_type && !w.is_fixed() && x <= UINT16_MAX)
    w.signed_integer(static_cast<int16_t>(x), 2);
  else
    w.unsigned_integer(x, 2);
}

void pack_proc_info(writer& w, const proc_info& x) {
  pack_proc(w, x.proc);
  w.string(x.hostname);
  w.string(x.executable_name);
  pack_pid(w, x.pid);
  w.byte(x.state);
}

void pack_envar(writer& w, const envar& x) {
  w.string(x.name);
  w.string(x.val);
  w.byte(x.separator);
}

void pack_coord(writer& w, const coord& x) {
  w.byte(x.view);
  w.size(x.coordinates.size());
  for (auto number : x.coordinates)
    w.unsigned_integer(number, 4);
}

void pack_regattr(writer& w, const regattr& x) {
  w.string(x.name);
  w.key(x.key);
  pack_data_type(w, static_cast<uint16_t>(x.type));
  w.signed_integer(static_cast<int64_t>(x.description.size()), 4);
  for (const auto& line : x.description)
    w.string(line);
}

void pack_geometry(writer& w, const geometry& x) {
  w.size(x.fabric);
  w.string(x.uuid);
  w.string(x.os_name);
  w.size(x.coordinates.size());
  for (const auto& y : x.coordinates)
    pack_coord(w, y);
}

void pack_endpoint(writer& w, const endpoint& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.blob(x.bytes);
}

void pack_device(writer& w, const device& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.unsigned_integer(x.type, 8);
}

void pack_node_pid(writer& w, const node_pid& x) {
  w.string(x.hostname);
  w.unsigned_integer(x.node_id, 4);
  pack_pid(w, x.pid);
}

void pack_proc_stats(writer& w, const proc_stats& x) {
  w.string(x.node);
  pack_proc(w, x.proc);
  pack_pid(w, x.pid);
  w.string(x.cmd);
  w.byte(x.state);
  pack_timeval(w, x.time);
  w.signed_integer(x.priority, 4);
  w.signed_integer(x.num_threads, 2);
  pack_double(w, x.pss);
  pack_double(w, x.vsize);
  pack_double(w, x.rss);
  w.signed_integer(static_cast<int16_t>(x.processor), 2);
  pack_timeval(w, x.sample_time);
}

void pack_disk_stats(writer& w, const disk_stats& x) {
  w.string(x.disk);
  for (auto number :
       {x.num_reads_completed, x.num_reads_merged, x.num_sectors_read,
        x.milliseconds_reading, x.num_writes_completed, x.num_writes_merged,
        x.num_sectors_written, x.milliseconds_writing, x.num_ios_in_progress,
        x.milliseconds_io, x.weighted_milliseconds_io})
    w.unsigned_integer(number, 8);
}

void pack_net_stats(writer& w, const net_stats& x) {
  w.string(x.interface_name);
  for (auto number :
       {x.num_bytes_received, x.num_packets_received, x.num_receive_errors,
        x.num_bytes_sent, x.num_packets_sent, x.num_send_errors})
    w.unsigned_integer(number, 8);
}

void pack_node_stats(writer& w, const node_stats& x) {
  w.string(x.node);
  for (auto number : {x.load_average, x.load_average_5, x.load_average_15,
                      x.total_memory, x.free_memory, x.buffers, x.cached,
                      x.swap_cached, x.swap_total, x.swap_free, x.mapped})
    pack_double(w, number);
  pack_timeval(w, x.sample_time);
  w.size(x.disks.size());
  for (const auto& y : x.disks)
    pack_disk_stats(w, y);
  w.size(x.nets.size());
  for (const auto& y : x.nets)
    pack_net_stats(w, y);
}

} // namespace

void pack_proc(writer& w, const proc_id& x) {
  w.nspace(x.nspace);
  w.unsigned_integer(x.rank, 4);
}

void pack_resource_unit(writer& w, const resource_unit& x) {
  w.unsigned_integer(x.type, 8);
  w.size(x.count);
}

void pack_device_distance(writer& w, const device_distance& x) {
  w.string(x.uuid);
  w.string(x.os_name);
  w.unsigned_integer(x.type, 8);
  w.unsigned_integer(x.min_distance, 2);
  w.unsigned_integer(x.max_distance, 2);
}

void pack_topology(writer& w, const std::optional<std::string>& xml) {
  w.string(xml);
  if (xml)
    for (size_t i = 0; i < topology_support_size; ++i)
      w.byte(0);
}

namespace {

/// Calls `f` with the `T` in `data`; a value must be kept as its type says.
template <class T, class F>
void with(writer& w, const storage& data, F f) {
  if (const auto* x = std::get_if<T>(&data))
    f(*x);
  else
    w.fail("a value is not kept as its type says", status::bad_param);
}

/// The same for structures, which are kept in boxes.
template <class T>
void pack_box(writer& w, const storage& data, void (*f)(writer&, const T&)) {
  with<box<T>>(w, data, [&](const box<T>& x) { f(w, *x); });
}

// -- scalars -----------------------------------------------------------------

void pack_text(writer& w, data_type x, const storage& data) {
  if (std::holds_alternative<std::monostate>(data)) {
    w.null_string();
    return;
  }
  with<std::string>(w, data, [&](const std::string& text) {
    if (x == data_type::proc_nspace)
      w.nspace(text);
    else
      w.string(std::string_view{text});
  });
}

void pack_bytes(writer& w, const storage& data) {
  if (std::holds_alternative<std::monostate>(data))
    w.blob({});
  else
    with<std::string>(w, data, [&](const std::string& x) { w.blob(x); });
}

void pack_unsigned(writer& w, data_type x, unsigned width,
                   const storage& data) {
  with<uint64_t>(w, data, [&](uint64_t number) {
    if (x == data_type::data_type)
      pack_data_type(w, number);
    else
      w.unsigned_integer(number, width);
  });
}

void pack_unsigned_as_signed(writer& w, uint64_t x) {
  if (x > UINT32_MAX)
    w.fail("an integer does not fit its type");
  w.signed_integer(static_cast<int32_t>(static_cast<uint32_t>(x)), 4);
}

// -- bytes that need a look --------------------------------------------------

void pack_buffer(writer& w, const std::string& x) {
  w.byte(w.rules().described ? 2 : 1);
  w.blob(x);
}

void pack_regex2(writer& w, const std::string& x) {
  const auto zero = x.find('\0');
  if (zero == std::string::npos) {
    w.fail("a REGEX2 has no type", status::bad_param);
    return;
  }
  w.string(std::string_view{x}.substr(0, zero));
  w.blob(std::string_view{x}.substr(zero + 1));
}

// -- structures that hold values ---------------------------------------------

void pack_strings(writer& w, const std::vector<std::string>& xs) {
  w.signed_integer(static_cast<int64_t>(xs.size()), 4);
  for (const auto& x : xs)
    w.string(std::string_view{x});
}

void pack_nested_infos(writer& w, const std::vector<info>& xs) {
  auto n = size_t{0};
  w.preceded(
    [&] {
      for (const auto& x : xs)
        n += w.entry([&] { pack_info(w, x); }) ? 1 : 0;
    },
    [&](size_t) { w.size(n); });
}

// -- arrays ------------------------------------------------------------------

/// Whether a value of type `x` has to be turned into a plain string.
bool is_expanded(const writer& w, data_type x) {
  return x == data_type::compressed_string
         && (w.rules().expand_strings || w.rules().peer.major < 5);
}

void pack_expanded(writer& w, const storage& data) {
  with<std::string>(w, data, [&](const std::string& compressed) {
    if (const auto text = inflate_text(compressed))
      w.string(std::string_view{*text});
    else
      w.fail("a compressed string is damaged or too long");
  });
}

/// Writes the tag of a type that the peer must know.
void pack_type(writer& w, data_type x) {
  if (x != data_type::undef && !supports(w.rules(), x))
    w.fail("the peer cannot read a value of this type",
           status::unknown_data_type);
  w.type_tag(x);
}

void pack_element(writer& w, data_type x, const value& element) {
  if (element.type != x)
    w.fail("an array has elements of several types", status::bad_param);
  if (w.enter()) {
    if (is_expanded(w, x))
      pack_expanded(w, element.data);
    else
      pack_data(w, x, element.data);
  }
  w.leave();
}

/// Writes the number of elements and the elements. Only infos may be left out:
/// the places of other elements may mean something.
void pack_elements(writer& w, const data_array& x) {
  const auto type = x.element_type;
  if (type == data_type::info) {
    auto n = size_t{0};
    w.preceded(
      [&] {
        for (const auto& y : x.elements)
          n += w.entry([&] { pack_element(w, type, y); }) ? 1 : 0;
      },
      [&](size_t) { w.size(n); });
    return;
  }
  w.size(x.elements.size());
  if (!x.elements.empty())
    w.inner_tag(type);
  for (const auto& y : x.elements) {
    if (!w.ok())
      return;
    pack_element(w, type, y);
  }
}

void pack_undefined_array(writer& w) {
  w.type_tag(data_type::undef);
  // Libraries of 6 read the tag only, older ones the size as well.
  if (w.rules().peer.major < 6)
    w.size(0);
}

void pack_data_array(writer& w, const data_array& x) {
  if (x.element_type == data_type::undef) {
    if (!x.elements.empty())
      w.fail("an array of no type has elements", status::bad_param);
    pack_undefined_array(w);
    return;
  }
  pack_type(w, is_expanded(w, x.element_type) ? data_type::string
                                              : x.element_type);
  pack_elements(w, x);
}

// NOLINTNEXTLINE(readability-function-size): a flat list of types.
void pack_structure(writer& w, data_type x, const storage& data) {
  switch (x) {
    case data_type::timeval:
      with<timeval_value>(w, data, [&](const auto& y) { pack_timeval(w, y); });
      break;
    case data_type::value:
      pack_box<value>(w, data, pack_value);
      break;
    case data_type::proc:
      with<proc_id>(w, data, [&](const auto& y) { pack_proc(w, y); });
      break;
    case data_type::app:
      pack_box<app>(w, data, pack_app);
      break;
    case data_type::info:
      pack_box<info>(w, data, pack_info);
      break;
    case data_type::pdata:
      pack_box<pdata>(w, data, pack_pdata);
      break;
    case data_type::buffer:
      with<std::string>(w, data, [&](const auto& y) { pack_buffer(w, y); });
      break;
    case data_type::kval:
      pack_box<key_value>(w, data, pack_key_value);
      break;
    case data_type::proc_info:
      pack_box<proc_info>(w, data, pack_proc_info);
      break;
    case data_type::data_array:
      if (std::holds_alternative<std::monostate>(data))
        pack_undefined_array(w);
      else
        pack_box<data_array>(w, data, pack_data_array);
      break;
    case data_type::query:
      pack_box<query>(w, data, pack_query);
      break;
    case data_type::info_array:
      pack_box<data_array>(w, data, pack_elements);
      break;
    case data_type::envar:
      pack_box<envar>(w, data, pack_envar);
      break;
    case data_type::coord:
      pack_box<coord>(w, data, pack_coord);
      break;
    case data_type::regattr:
      pack_box<regattr>(w, data, pack_regattr);
      break;
    case data_type::regex:
      with<std::string>(w, data, [&](const auto& y) { w.bytes(y); });
      break;
    case data_type::regex2:
      with<std::string>(w, data, [&](const auto& y) { pack_regex2(w, y); });
      break;
    case data_type::geometry:
      pack_box<geometry>(w, data, pack_geometry);
      break;
    case data_type::device_distance:
      pack_box<device_distance>(w, data, pack_device_distance);
      break;
    case data_type::endpoint:
      pack_box<endpoint>(w, data, pack_endpoint);
      break;
    case data_type::topology:
      if (const auto* xml = std::get_if<std::string>(&data))
        pack_topology(w, *xml);
      else
        pack_topology(w, std::nullopt);
      break;
    case data_type::proc_stats:
      pack_box<proc_stats>(w, data, pack_proc_stats);
      break;
    case data_type::disk_stats:
      pack_box<disk_stats>(w, data, pack_disk_stats);
      break;
    case data_type::net_stats:
      pack_box<net_stats>(w, data, pack_net_stats);
      break;
    case data_type::node_stats:
      pack_box<node_stats>(w, data, pack_node_stats);
      break;
    case data_type::device:
      pack_box<device>(w, data, pack_device);
      break;
    case data_type::resource_unit:
      pack_box<resource_unit>(w, data, pack_resource_unit);
      break;
    case data_type::node_pid:
      pack_box<node_pid>(w, data, pack_node_pid);
      break;
    default:
      w.fail("a type without an encoding", status::unknown_data_type);
  }
}

} // namespace

// -- values ------------------------------------------------------------------

void pack_data(writer& w, data_type x, const storage& data) {
  const auto& row = layout_of(x);
  switch (row.kind) {
    case shape::nothing:
      break;
    case shape::boolean:
      with<bool>(w, data, [&](bool y) { w.byte(y ? 1 : 0); });
      break;
    case shape::unsigned_integer:
      pack_unsigned(w, x, row.width, data);
      break;
    case shape::signed_integer:
      with<int64_t>(w, data,
                    [&](int64_t y) { w.signed_integer(y, row.width); });
      break;
    case shape::unsigned_as_signed:
      with<uint64_t>(w, data,
                     [&](uint64_t y) { pack_unsigned_as_signed(w, y); });
      break;
    case shape::floating_text:
      with<double>(w, data, [&](double y) { pack_double(w, y); });
      break;
    case shape::text:
      pack_text(w, x, data);
      break;
    case shape::bytes:
      pack_bytes(w, data);
      break;
    case shape::pointer:
      w.byte(1);
      break;
    case shape::structure:
      pack_structure(w, x, data);
      break;
    case shape::unknown:
      w.fail("a type without an encoding", status::unknown_data_type);
      break;
  }
}

void pack_value(writer& w, const value& x) {
  if (w.enter()) {
    if (is_expanded(w, x.type)) {
      w.type_tag(data_type::string);
      pack_expanded(w, x.data);
    } else {
      pack_type(w, x.type);
      w.inner_tag(x.type);
      pack_data(w, x.type, x.data);
    }
  }
  w.leave();
}

void pack_info(writer& w, const info& x) {
  w.key(x.key);
  w.unsigned_integer(x.flags, 4);
  pack_value(w, x.val);
}

void pack_key_value(writer& w, const key_value& x) {
  w.key(x.key);
  pack_value(w, x.val);
}

void pack_pdata(writer& w, const pdata& x) {
  pack_proc(w, x.proc);
  w.key(x.key);
  pack_value(w, x.val);
}

void pack_app(writer& w, const app& x) {
  if (x.cmd.empty())
    w.null_string();
  else
    w.string(std::string_view{x.cmd});
  w.inner_tag(data_type::int_);
  pack_strings(w, x.argv);
  pack_strings(w, x.env);
  w.string(x.cwd);
  w.inner_tag(data_type::int_);
  w.signed_integer(x.max_procs, 4);
  pack_nested_infos(w, x.infos);
}

void pack_query(writer& w, const query& x) {
  pack_strings(w, x.keys);
  pack_nested_infos(w, x.qualifiers);
}

// -- lists -------------------------------------------------------------------

void pack_infos(writer& w, const std::vector<info>& xs) {
  if (!w.leaves_out()) {
    pack_list(w, data_type::info, xs, pack_info);
    return;
  }
  auto n = size_t{0};
  w.preceded(
    [&] {
      for (const auto& x : xs)
        n += w.entry([&] { pack_info(w, x); }) ? 1 : 0;
    },
    [&](size_t) {
      w.packed_size(n);
      if (n > 0)
        w.pack(data_type::info, n);
    });
}

void pack_procs(writer& w, const std::vector<proc_id>& xs) {
  pack_list(w, data_type::proc, xs, pack_proc);
}

void pack_key_values(writer& w, const std::vector<key_value>& xs) {
  for (const auto& x : xs)
    w.entry([&] {
      w.pack(data_type::kval);
      pack_key_value(w, x);
    });
}

} // namespace troupe::wire
