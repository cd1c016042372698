#include "adapters/c_values/convert_in.hpp"

#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/hwloc/handles.hpp"

namespace troupe::c_api {

namespace {

/// Reads a `T` from memory that need not be aligned.
template <class T>
T load(const void* p) {
  auto x = T{};
  std::memcpy(&x, p, sizeof(x));
  return x;
}

uint64_t load_unsigned(const void* p, size_t size) {
  switch (size) {
    case 1:
      return load<uint8_t>(p);
    case 2:
      return load<uint16_t>(p);
    case 4:
      return load<uint32_t>(p);
    default:
      return load<uint64_t>(p);
  }
}

int64_t load_signed(const void* p, size_t size) {
  switch (size) {
    case 1:
      return load<int8_t>(p);
    case 2:
      return load<int16_t>(p);
    case 4:
      return load<int32_t>(p);
    default:
      return load<int64_t>(p);
  }
}

std::optional<std::string> maybe(const char* x) {
  if (x == nullptr)
    return std::nullopt;
  return std::string{x};
}

timeval_value time_of(const timeval& x) {
  return {x.tv_sec, x.tv_usec};
}

template <class T>
const T& as(const void* p) {
  return *static_cast<const T*>(p);
}

} // namespace

void c_reader::fail(status code, const char* what) {
  if (!ok())
    return;
  code_ = code;
  what_ = what;
}

caf::error c_reader::failure() const {
  return ok() ? caf::error{} : make_error(code_, what_);
}

// -- elements ----------------------------------------------------------------

value::storage c_reader::element(data_type x, const void* p) {
  const auto& type = c_type_of(x);
  if (type.size == 0) {
    fail(status::unknown_data_type, "a value is of no known type");
    return std::monostate{};
  }
  switch (type.storage) {
    case storage_class::boolean:
      return load<uint8_t>(p) != 0;
    case storage_class::unsigned_integer:
      return load_unsigned(p, type.size);
    case storage_class::signed_integer:
      return load_signed(p, type.size);
    case storage_class::floating_point:
      return x == data_type::float_ ? double{load<float>(p)} : load<double>(p);
    case storage_class::timeval:
      return time_of(load<timeval>(p));
    case storage_class::proc:
      return to_proc(as<pmix_proc_t>(p));
    case storage_class::text:
      return text(x, p);
    case storage_class::bytes:
      return bytes(x, p);
    case storage_class::structure:
      return structure(x, p);
    case storage_class::none:
    case storage_class::unknown:
      break;
  }
  return std::monostate{};
}

value::storage c_reader::text(data_type x, const void* p) {
  if (x == data_type::proc_nspace)
    return std::string{text_of(as<pmix_nspace_t>(p))};
  auto result = std::optional<std::string>{};
  if (x == data_type::string)
    result = maybe(load<const char*>(p));
  else if (x == data_type::proc_cpuset)
    result = hwloc::list_cpus(as<pmix_cpuset_t>(p).bitmap);
  else
    result = hwloc::export_topology(as<pmix_topology_t>(p).topology);
  if (result)
    return std::move(*result);
  return std::monostate{};
}

std::string c_reader::blob(const void* p, size_t n) {
  if (p == nullptr && n > 0)
    fail(status::bad_param, "bytes are null");
  if (p == nullptr || n == 0)
    return {};
  return {static_cast<const char*>(p), n};
}

value::storage c_reader::bytes(data_type x, const void* p) {
  if (x == data_type::data_buffer) {
    const auto& buffer = as<pmix_data_buffer_t>(p);
    return blob(buffer.base_ptr, buffer.bytes_used);
  }
  if (x == data_type::regex2) {
    const auto& regex = as<pmix_regex2_t>(p);
    auto result = std::string{regex.type != nullptr ? regex.type : ""};
    result += '\0';
    return result + blob(regex.bytes, regex.len);
  }
  const auto object = load<pmix_byte_object_t>(p);
  return blob(object.bytes, object.size);
}

template <class To, class From>
value::storage boxed(c_reader& r, const void* p) {
  auto x = box<To>{};
  r.read(as<From>(p), *x);
  return x;
}

value::storage c_reader::structure(data_type x, const void* p) {
  switch (x) {
    case data_type::value:
      return boxed<value, pmix_value_t>(*this, p);
    case data_type::app:
      return boxed<app, pmix_app_t>(*this, p);
    case data_type::info:
      return boxed<info, pmix_info_t>(*this, p);
    case data_type::pdata:
      return boxed<pdata, pmix_pdata_t>(*this, p);
    case data_type::proc_info:
      return boxed<proc_info, pmix_proc_info_t>(*this, p);
    case data_type::data_array:
      return boxed<data_array, pmix_data_array_t>(*this, p);
    case data_type::query:
      return boxed<query, pmix_query_t>(*this, p);
    case data_type::envar:
      return boxed<envar, pmix_envar_t>(*this, p);
    case data_type::coord:
      return boxed<coord, pmix_coord_t>(*this, p);
    case data_type::regattr:
      return boxed<regattr, pmix_regattr_t>(*this, p);
    case data_type::geometry:
      return boxed<geometry, pmix_geometry_t>(*this, p);
    case data_type::device_distance:
      return boxed<device_distance, pmix_device_distance_t>(*this, p);
    case data_type::endpoint:
      return boxed<endpoint, pmix_endpoint_t>(*this, p);
    case data_type::device:
      return boxed<device, pmix_device_t>(*this, p);
    case data_type::resource_unit:
      return boxed<resource_unit, pmix_resource_unit_t>(*this, p);
    case data_type::node_pid:
      return boxed<node_pid, pmix_node_pid_t>(*this, p);
    case data_type::proc_stats:
      return boxed<proc_stats, pmix_proc_stats_t>(*this, p);
    case data_type::disk_stats:
      return boxed<disk_stats, pmix_disk_stats_t>(*this, p);
    case data_type::net_stats:
      return boxed<net_stats, pmix_net_stats_t>(*this, p);
    case data_type::node_stats:
      return boxed<node_stats, pmix_node_stats_t>(*this, p);
    default:
      fail(status::unknown_data_type, "a value is of no known type");
      return std::monostate{};
  }
}

// -- structures that hold values ---------------------------------------------

void c_reader::read(const pmix_value_t& from, value& to) {
  to.type = static_cast<data_type>(from.type);
  if (to.type == data_type::undef || !ok())
    return;
  const auto* p = static_cast<const void*>(&from.data);
  if (c_type_of(from.type).by_pointer) {
    p = from.data.ptr;
    if (p == nullptr) {
      // A null array is one without elements; other structures must be there.
      if (to.type != data_type::data_array)
        fail(status::bad_param, "a value points to nothing");
      return;
    }
  }
  if (++depth_ > max_value_depth)
    fail(status::out_of_resource, "values are nested too deeply");
  else
    to.data = element(to.type, p);
  --depth_;
}

void c_reader::read(const pmix_data_array_t& from, data_array& to) {
  to.element_type = static_cast<data_type>(from.type);
  if (from.size == 0 || to.element_type == data_type::undef)
    return;
  const auto size = c_type_of(from.type).size;
  if (size == 0)
    fail(status::unknown_data_type, "an array is of no known type");
  else if (from.array == nullptr)
    fail(status::bad_param, "an array is null");
  if (!ok())
    return;
  if (++depth_ > max_value_depth)
    fail(status::out_of_resource, "values are nested too deeply");
  const auto* p = static_cast<const char*>(from.array);
  to.elements.reserve(from.size);
  for (size_t i = 0; i < from.size && ok(); ++i, p += size)
    to.elements.emplace_back(to.element_type, element(to.element_type, p));
  --depth_;
}

void c_reader::read(const pmix_info_t& from, info& to) {
  to.key = text_of(from.key);
  to.flags = from.flags;
  read(from.value, to.val);
}

void c_reader::read(const pmix_pdata_t& from, pdata& to) {
  read(from.proc, to.proc);
  to.key = text_of(from.key);
  read(from.value, to.val);
}

void c_reader::read(const pmix_app_t& from, app& to) {
  if (from.cmd != nullptr)
    to.cmd = from.cmd;
  to.argv = to_strings(from.argv);
  to.env = to_strings(from.env);
  to.cwd = maybe(from.cwd);
  to.max_procs = from.maxprocs;
  list(from.info, from.ninfo, to.infos);
}

void c_reader::read(const pmix_query_t& from, query& to) {
  to.keys = to_strings(from.keys);
  list(from.qualifiers, from.nqual, to.qualifiers);
}

} // namespace troupe::c_api
