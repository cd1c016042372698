#include "adapters/c_values/convert_out.hpp"

#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/hwloc/handles.hpp"

namespace troupe::c_api {

namespace {

template <class T>
void store(void* p, T x) {
  std::memcpy(p, &x, sizeof(x));
}

void store_integer(void* p, size_t size, uint64_t x) {
  switch (size) {
    case 1:
      store(p, static_cast<uint8_t>(x));
      break;
    case 2:
      store(p, static_cast<uint16_t>(x));
      break;
    case 4:
      store(p, static_cast<uint32_t>(x));
      break;
    default:
      store(p, x);
  }
}

template <class T>
T& as(void* p) {
  return *static_cast<T*>(p);
}

bool is_null(const value::storage& x) {
  return std::holds_alternative<std::monostate>(x);
}

} // namespace

void c_writer::fail(status code, const char* what) {
  if (!ok())
    return;
  code_ = code;
  what_ = what;
}

caf::error c_writer::failure() const {
  return ok() ? caf::error{} : make_error(code_, what_);
}

// -- elements ----------------------------------------------------------------

void c_writer::element(data_type x, const value::storage& from, void* p) {
  const auto& type = c_type_of(x);
  if (type.size == 0) {
    fail(status::unknown_data_type, "a value is of no known type");
    return;
  }
  const auto mismatch = [this] {
    fail(status::bad_param, "a value is not kept as its type says");
  };
  switch (type.storage) {
    case storage_class::boolean:
      if (const auto* y = std::get_if<bool>(&from))
        return store(p, static_cast<uint8_t>(*y));
      return mismatch();
    case storage_class::unsigned_integer:
      if (const auto* y = std::get_if<uint64_t>(&from))
        return store_integer(p, type.size, *y);
      return mismatch();
    case storage_class::signed_integer:
      if (const auto* y = std::get_if<int64_t>(&from))
        return store_integer(p, type.size, static_cast<uint64_t>(*y));
      return mismatch();
    case storage_class::floating_point:
      if (const auto* y = std::get_if<double>(&from))
        return x == data_type::float_ ? store(p, static_cast<float>(*y))
                                      : store(p, *y);
      return mismatch();
    case storage_class::timeval:
      if (const auto* y = std::get_if<timeval_value>(&from))
        return store(p, timeval{y->seconds, y->microseconds});
      return mismatch();
    case storage_class::proc:
      if (const auto* y = std::get_if<proc_id>(&from))
        return write(*y, as<pmix_proc_t>(p));
      return mismatch();
    case storage_class::text:
      return put_text(x, from, p);
    case storage_class::bytes:
      if (const auto* y = std::get_if<std::string>(&from))
        return put_bytes(x, *y, p);
      if (!is_null(from))
        mismatch();
      return;
    case storage_class::structure:
      return structure(x, from, p);
    case storage_class::none:
    case storage_class::unknown:
      break;
  }
}

void c_writer::put_text(data_type x, const value::storage& from, void* p) {
  const auto* text = std::get_if<std::string>(&from);
  if (text == nullptr) {
    if (!is_null(from))
      fail(status::bad_param, "a value is not kept as its type says");
    return;
  }
  if (x == data_type::proc_nspace) {
    set_text(as<pmix_nspace_t>(p), *text);
  } else if (x == data_type::proc_cpuset) {
    auto& to = as<pmix_cpuset_t>(p);
    to.bitmap = hwloc::parse_cpus(*text);
    if (to.bitmap == nullptr)
      fail(status::bad_param, "a list of processors is none");
    this->text("hwloc", to.source);
  } else if (x == data_type::topology) {
    auto& to = as<pmix_topology_t>(p);
    to.topology = hwloc::import_topology(*text);
    if (to.topology == nullptr)
      fail(status::bad_param, "a topology is none");
    this->text("hwloc", to.source);
  } else {
    this->text(*text, as<char*>(p));
  }
}

void c_writer::put_bytes(data_type x, const std::string& from, void* p) {
  if (x == data_type::data_buffer) {
    auto& to = as<pmix_data_buffer_t>(p);
    bytes(from, to.base_ptr, to.bytes_used);
    to.bytes_allocated = to.bytes_used;
    to.unpack_ptr = to.base_ptr;
    to.pack_ptr =
      to.base_ptr == nullptr ? nullptr : to.base_ptr + to.bytes_used;
  } else if (x == data_type::regex2) {
    auto& to = as<pmix_regex2_t>(p);
    const auto zero = from.find('\0');
    if (zero == std::string::npos)
      return fail(status::bad_param, "a REGEX2 has no type");
    text(std::string_view{from}.substr(0, zero), to.type);
    auto* data = static_cast<char*>(nullptr);
    bytes(std::string_view{from}.substr(zero + 1), data, to.len);
    to.bytes = reinterpret_cast<uint8_t*>(data);
  } else {
    auto& to = as<pmix_byte_object_t>(p);
    bytes(from, to.bytes, to.size);
  }
}

template <class From, class To>
void c_writer::unbox(const value::storage& from, void* p) {
  if (const auto* x = std::get_if<box<From>>(&from))
    write(**x, as<To>(p));
  else
    fail(status::bad_param, "a value is not kept as its type says");
}

void c_writer::structure(data_type x, const value::storage& from, void* p) {
  switch (x) {
    case data_type::value:
      return unbox<value, pmix_value_t>(from, p);
    case data_type::app:
      return unbox<app, pmix_app_t>(from, p);
    case data_type::info:
      return unbox<info, pmix_info_t>(from, p);
    case data_type::pdata:
      return unbox<pdata, pmix_pdata_t>(from, p);
    case data_type::proc_info:
      return unbox<proc_info, pmix_proc_info_t>(from, p);
    case data_type::data_array:
      return is_null(from) ? void()
                           : unbox<data_array, pmix_data_array_t>(from, p);
    case data_type::query:
      return unbox<query, pmix_query_t>(from, p);
    case data_type::envar:
      return unbox<envar, pmix_envar_t>(from, p);
    case data_type::coord:
      return unbox<coord, pmix_coord_t>(from, p);
    case data_type::regattr:
      return unbox<regattr, pmix_regattr_t>(from, p);
    case data_type::geometry:
      return unbox<geometry, pmix_geometry_t>(from, p);
    case data_type::device_distance:
      return unbox<device_distance, pmix_device_distance_t>(from, p);
    case data_type::endpoint:
      return unbox<endpoint, pmix_endpoint_t>(from, p);
    case data_type::device:
      return unbox<device, pmix_device_t>(from, p);
    case data_type::resource_unit:
      return unbox<resource_unit, pmix_resource_unit_t>(from, p);
    case data_type::node_pid:
      return unbox<node_pid, pmix_node_pid_t>(from, p);
    case data_type::proc_stats:
      return unbox<proc_stats, pmix_proc_stats_t>(from, p);
    case data_type::disk_stats:
      return unbox<disk_stats, pmix_disk_stats_t>(from, p);
    case data_type::net_stats:
      return unbox<net_stats, pmix_net_stats_t>(from, p);
    case data_type::node_stats:
      return unbox<node_stats, pmix_node_stats_t>(from, p);
    default:
      fail(status::unknown_data_type, "a value is of no known type");
  }
}

// -- structures that hold values ---------------------------------------------

void c_writer::write(const value& from, pmix_value_t& to) {
  auto type = from.type;
  if (type == data_type::undef || !ok())
    return;
  // The old array of infos has no form in C any more.
  if (type == data_type::info_array)
    type = data_type::data_array;
  const auto& row = c_type_of(type);
  if (row.size == 0)
    return fail(status::unknown_data_type, "a value is of no known type");
  to.type = static_cast<pmix_data_type_t>(type);
  auto* p = static_cast<void*>(&to.data);
  if (row.by_pointer) {
    if (type == data_type::data_array && is_null(from.data))
      return;
    p = checked<char>(row.size);
    to.data.ptr = p;
  }
  if (!ok())
    return;
  if (++depth_ > max_value_depth)
    fail(status::out_of_resource, "values are nested too deeply");
  else
    element(type, from.data, p);
  --depth_;
}

void c_writer::write(const data_array& from, pmix_data_array_t& to) {
  to.type = static_cast<pmix_data_type_t>(from.element_type);
  const auto n = from.elements.size();
  if (n == 0 || !ok())
    return;
  const auto& row = c_type_of(from.element_type);
  if (row.size == 0)
    return fail(status::unknown_data_type, "an array is of no known type");
  to.array = create_array(to.type, n);
  if (to.array == nullptr)
    return fail(status::nomem, "there is no memory");
  to.size = n;
  if (++depth_ > max_value_depth)
    fail(status::out_of_resource, "values are nested too deeply");
  auto* p = static_cast<char*>(to.array);
  for (const auto& x : from.elements) {
    if (x.type != from.element_type)
      fail(status::bad_param, "an array has elements of several types");
    if (!ok())
      break;
    element(from.element_type, x.data, p);
    p += row.size;
  }
  --depth_;
}

void c_writer::write(const info& from, pmix_info_t& to) {
  set_text(to.key, from.key);
  // A persistent info would not free its value, which is a copy.
  to.flags = from.flags & ~info_persistent;
  write(from.val, to.value);
}

void c_writer::write(const pdata& from, pmix_pdata_t& to) {
  write(from.proc, to.proc);
  set_text(to.key, from.key);
  write(from.val, to.value);
}

void c_writer::write(const app& from, pmix_app_t& to) {
  if (!from.cmd.empty())
    text(from.cmd, to.cmd);
  strings(from.argv, to.argv);
  strings(from.env, to.env);
  maybe_text(from.cwd, to.cwd);
  to.maxprocs = from.max_procs;
  list(from.infos, to.info, to.ninfo);
}

void c_writer::write(const query& from, pmix_query_t& to) {
  strings(from.keys, to.keys);
  list(from.qualifiers, to.qualifiers, to.nqual);
}

// -- parts -------------------------------------------------------------------

void c_writer::text(std::string_view from, char*& to) {
  if (!ok())
    return;
  to = duplicate(from);
  if (to == nullptr)
    fail(status::nomem, "there is no memory");
}

void c_writer::maybe_text(const std::optional<std::string>& from, char*& to) {
  if (from)
    text(std::string_view{*from}, to);
}

void c_writer::bytes(std::string_view from, char*& to, size_t& size) {
  to = checked<char>(from.size());
  if (to == nullptr)
    return;
  std::memcpy(to, from.data(), from.size());
  size = from.size();
}

void c_writer::strings(const std::vector<std::string>& from, char**& to) {
  if (from.empty())
    return;
  to = checked<char*>(from.size() + 1);
  for (size_t i = 0; i < from.size() && ok(); ++i)
    text(from[i], to[i]);
}

} // namespace troupe::c_api
