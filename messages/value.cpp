#include "messages/value.hpp"

#include <tuple>
#include <utility>

namespace troupe {

value::value() = default;

value::value(data_type type, storage data) : type(type), data(std::move(data)) {
  // nop
}

value::value(const value& other) = default;

value::value(value&& other) noexcept = default;

value& value::operator=(const value& other) = default;

value& value::operator=(value&& other) noexcept = default;

value::~value() = default;

// -- makers
// -----------------------------------------------------------------------

value value::boolean(bool x) {
  return {data_type::bool_, x};
}

value value::string(std::string x) {
  return {data_type::string, std::move(x)};
}

value value::uint16(uint16_t x) {
  return {data_type::uint16, uint64_t{x}};
}

value value::uint32(uint32_t x) {
  return {data_type::uint32, uint64_t{x}};
}

value value::uint64(uint64_t x) {
  return {data_type::uint64, x};
}

value value::size(uint64_t x) {
  return {data_type::size, x};
}

value value::integer(int32_t x) {
  return {data_type::int_, int64_t{x}};
}

value value::pid(uint32_t x) {
  return {data_type::pid, uint64_t{x}};
}

value value::rank(uint32_t x) {
  return {data_type::proc_rank, uint64_t{x}};
}

value value::of_status(int32_t x) {
  return {data_type::status, int64_t{x}};
}

value value::of_proc(proc_id x) {
  return {data_type::proc, std::move(x)};
}

value value::bytes(std::string x) {
  return {data_type::byte_object, std::move(x)};
}

value value::infos(std::vector<info> xs) {
  auto elements = std::vector<value>{};
  elements.reserve(xs.size());
  for (auto& x : xs)
    elements.push_back({data_type::info, box<info>{std::move(x)}});
  return array(data_type::info, std::move(elements));
}

value value::procs(std::vector<proc_id> xs) {
  auto elements = std::vector<value>{};
  elements.reserve(xs.size());
  for (auto& x : xs)
    elements.push_back(of_proc(std::move(x)));
  return array(data_type::proc, std::move(elements));
}

value value::array(data_type element_type, std::vector<value> xs) {
  return {data_type::data_array,
          box<data_array>{data_array{element_type, std::move(xs)}}};
}

// -- readers
// ----------------------------------------------------------------------

const std::string* value::text() const {
  if (storage_of(type) != storage_class::text)
    return nullptr;
  return std::get_if<std::string>(&data);
}

const proc_id* value::proc() const {
  return std::get_if<proc_id>(&data);
}

const data_array* value::array() const {
  const auto* x = std::get_if<box<data_array>>(&data);
  return x != nullptr ? &**x : nullptr;
}

bool value::truth() const {
  if (type == data_type::undef)
    return true;
  if (const auto* x = text())
    return !x->empty()
           && std::string_view{"tTyY1"}.find(x->front())
                != std::string_view::npos;
  if (const auto x = number<int64_t>())
    return *x != 0;
  return number<uint64_t>().value_or(0) != 0;
}

// -- comparison
// -------------------------------------------------------------------

#define TROUPE_EQUALITY(type, ...)                                             \
  bool operator==(const type& l, const type& r) {                              \
    const auto fields = [](const type& x) { return std::tie(__VA_ARGS__); };   \
    return fields(l) == fields(r);                                             \
  }

TROUPE_EQUALITY(timeval_value, x.seconds, x.microseconds)
TROUPE_EQUALITY(value, x.type, x.data)
TROUPE_EQUALITY(info, x.key, x.flags, x.val)
TROUPE_EQUALITY(key_value, x.key, x.val)
TROUPE_EQUALITY(pdata, x.proc, x.key, x.val)
TROUPE_EQUALITY(data_array, x.element_type, x.elements)
TROUPE_EQUALITY(app, x.cmd, x.argv, x.env, x.cwd, x.max_procs, x.infos)
TROUPE_EQUALITY(query, x.keys, x.qualifiers)
TROUPE_EQUALITY(proc_info, x.proc, x.hostname, x.executable_name, x.pid,
                x.state)
TROUPE_EQUALITY(envar, x.name, x.val, x.separator)
TROUPE_EQUALITY(coord, x.view, x.coordinates)
TROUPE_EQUALITY(regattr, x.name, x.key, x.type, x.description)
TROUPE_EQUALITY(geometry, x.fabric, x.uuid, x.os_name, x.coordinates)
TROUPE_EQUALITY(device_distance, x.uuid, x.os_name, x.type, x.min_distance,
                x.max_distance)
TROUPE_EQUALITY(endpoint, x.uuid, x.os_name, x.bytes)
TROUPE_EQUALITY(device, x.uuid, x.os_name, x.type)
TROUPE_EQUALITY(resource_unit, x.type, x.count)
TROUPE_EQUALITY(node_pid, x.hostname, x.node_id, x.pid)
TROUPE_EQUALITY(proc_stats, x.node, x.proc, x.pid, x.cmd, x.state, x.time,
                x.percent_cpu, x.priority, x.num_threads, x.pss, x.vsize, x.rss,
                x.peak_vsize, x.processor, x.sample_time)
TROUPE_EQUALITY(disk_stats, x.disk, x.num_reads_completed, x.num_reads_merged,
                x.num_sectors_read, x.milliseconds_reading,
                x.num_writes_completed, x.num_writes_merged,
                x.num_sectors_written, x.milliseconds_writing,
                x.num_ios_in_progress, x.milliseconds_io,
                x.weighted_milliseconds_io)
TROUPE_EQUALITY(net_stats, x.interface_name, x.num_bytes_received,
                x.num_packets_received, x.num_receive_errors, x.num_bytes_sent,
                x.num_packets_sent, x.num_send_errors)
TROUPE_EQUALITY(node_stats, x.node, x.load_average, x.load_average_5,
                x.load_average_15, x.total_memory, x.free_memory, x.buffers,
                x.cached, x.swap_cached, x.swap_total, x.swap_free, x.mapped,
                x.sample_time, x.disks, x.nets)

#undef TROUPE_EQUALITY

// -- lists of infos
// ---------------------------------------------------------------

const value* find(const std::vector<info>& infos, std::string_view key) {
  for (const auto& x : infos)
    if (x.key == key)
      return &x.val;
  return nullptr;
}

bool flag(const std::vector<info>& infos, std::string_view key) {
  const auto* x = find(infos, key);
  return x != nullptr && x->truth();
}

std::optional<std::string> text(const std::vector<info>& infos,
                                std::string_view key) {
  if (const auto* x = find(infos, key))
    if (const auto* str = x->text())
      return *str;
  return std::nullopt;
}

std::vector<info> infos_of(const value& x) {
  auto result = std::vector<info>{};
  if (const auto* array = x.array()) {
    result.reserve(array->elements.size());
    for (const auto& element : array->elements)
      if (const auto* y = std::get_if<box<info>>(&element.data))
        result.push_back(**y);
  }
  return result;
}

std::vector<proc_id> procs_of(const value& x) {
  auto result = std::vector<proc_id>{};
  if (const auto* proc = x.proc()) {
    result.push_back(*proc);
  } else if (const auto* array = x.array()) {
    for (const auto& element : array->elements)
      if (const auto* y = element.proc())
        result.push_back(*y);
  }
  return result;
}

} // namespace troupe
