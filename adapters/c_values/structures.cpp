#include "adapters/c_values/structures.hpp"

#include "adapters/c_values/convert.hpp"
#include "adapters/hwloc/handles.hpp"
#include "messages/fields.hpp"

namespace troupe::c_api {

namespace {

// -- fields ------------------------------------------------------------------

// Fields of our structures beside those of the C API, once:
// `each_pair(f, x, c)` shows them to `f`, which reads or fills the latter. A
// pair whose types do not say what to do has a name for that:
//
//     f(a, b)          as the types say
//     f.command        a text; an empty one is null in C
//     f.flags          flags of an info
//     f.bytes          bytes with their length
//     f.numbers        an array of numbers
//     f.strings        a list that ends with a null pointer
//     f.list           an array of structures
//
// Source: PMIx Standard v5, "Data Structures and Types".

/// The structure of the C API that is a `T`.
template <class T>
struct form_of {
  using type = void;
};

template <>
struct form_of<value> {
  using type = pmix_value_t;
};

template <>
struct form_of<data_array> {
  using type = pmix_data_array_t;
};

/// Names the form of `ours`, and lists the pairs of
/// fields of `x` and `c`.
#define TROUPE_PAIRS(ours, theirs)                                             \
  template <>                                                                  \
  struct form_of<ours> {                                                       \
    using type = theirs;                                                       \
  };                                                                           \
  template <class F, class X, class C>                                         \
  void each_pair(F&& f, X& x, C& c, const ours*)

TROUPE_PAIRS(proc_id, pmix_proc_t) {
  f(x.nspace, c.nspace);
  f(x.rank, c.rank);
}

TROUPE_PAIRS(info, pmix_info_t) {
  f(x.key, c.key);
  f.flags(x.flags, c.flags);
  f(x.val, c.value);
}

TROUPE_PAIRS(pdata, pmix_pdata_t) {
  f(x.proc, c.proc);
  f(x.key, c.key);
  f(x.val, c.value);
}

TROUPE_PAIRS(app, pmix_app_t) {
  f.command(x.cmd, c.cmd);
  f.strings(x.argv, c.argv);
  f.strings(x.env, c.env);
  f(x.cwd, c.cwd);
  f(x.max_procs, c.maxprocs);
  f.list(x.infos, c.info, c.ninfo);
}

TROUPE_PAIRS(query, pmix_query_t) {
  f.strings(x.keys, c.keys);
  f.list(x.qualifiers, c.qualifiers, c.nqual);
}

TROUPE_PAIRS(proc_info, pmix_proc_info_t) {
  f(x.proc, c.proc);
  f(x.hostname, c.hostname);
  f(x.executable_name, c.executable_name);
  f(x.pid, c.pid);
  f(x.state, c.state);
}

TROUPE_PAIRS(envar, pmix_envar_t) {
  f(x.name, c.envar);
  f(x.val, c.value);
  f(x.separator, c.separator);
}

TROUPE_PAIRS(coord, pmix_coord_t) {
  f(x.view, c.view);
  f.numbers(x.coordinates, c.coord, c.dims);
}

TROUPE_PAIRS(regattr, pmix_regattr_t) {
  f(x.name, c.name);
  f(x.key, c.string);
  f(x.type, c.type);
  f.strings(x.description, c.description);
}

TROUPE_PAIRS(geometry, pmix_geometry_t) {
  f(x.fabric, c.fabric);
  f(x.uuid, c.uuid);
  f(x.os_name, c.osname);
  f.list(x.coordinates, c.coordinates, c.ncoords);
}

TROUPE_PAIRS(device, pmix_device_t) {
  f(x.uuid, c.uuid);
  f(x.os_name, c.osname);
  f(x.type, c.type);
}

TROUPE_PAIRS(device_distance, pmix_device_distance_t) {
  f(x.uuid, c.uuid);
  f(x.os_name, c.osname);
  f(x.type, c.type);
  f(x.min_distance, c.mindist);
  f(x.max_distance, c.maxdist);
}

TROUPE_PAIRS(endpoint, pmix_endpoint_t) {
  f(x.uuid, c.uuid);
  f(x.os_name, c.osname);
  f.bytes(x.bytes, c.endpt.bytes, c.endpt.size);
}

TROUPE_PAIRS(resource_unit, pmix_resource_unit_t) {
  f(x.type, c.type);
  f(x.count, c.count);
}

TROUPE_PAIRS(node_pid, pmix_node_pid_t) {
  f(x.hostname, c.hostname);
  f(x.node_id, c.nodeid);
  f(x.pid, c.pid);
}

TROUPE_PAIRS(proc_stats, pmix_proc_stats_t) {
  f(x.node, c.node);
  f(x.proc, c.proc);
  f(x.pid, c.pid);
  f(x.cmd, c.cmd);
  f(x.state, c.state);
  f(x.time, c.time);
  f(x.percent_cpu, c.percent_cpu);
  f(x.priority, c.priority);
  f(x.num_threads, c.num_threads);
  f(x.pss, c.pss);
  f(x.vsize, c.vsize);
  f(x.rss, c.rss);
  f(x.peak_vsize, c.peak_vsize);
  f(x.processor, c.processor);
  f(x.sample_time, c.sample_time);
}

TROUPE_PAIRS(disk_stats, pmix_disk_stats_t) {
  f(x.disk, c.disk);
  f(x.num_reads_completed, c.num_reads_completed);
  f(x.num_reads_merged, c.num_reads_merged);
  f(x.num_sectors_read, c.num_sectors_read);
  f(x.milliseconds_reading, c.milliseconds_reading);
  f(x.num_writes_completed, c.num_writes_completed);
  f(x.num_writes_merged, c.num_writes_merged);
  f(x.num_sectors_written, c.num_sectors_written);
  f(x.milliseconds_writing, c.milliseconds_writing);
  f(x.num_ios_in_progress, c.num_ios_in_progress);
  f(x.milliseconds_io, c.milliseconds_io);
  f(x.weighted_milliseconds_io, c.weighted_milliseconds_io);
}

TROUPE_PAIRS(net_stats, pmix_net_stats_t) {
  f(x.interface_name, c.net_interface);
  f(x.num_bytes_received, c.num_bytes_recvd);
  f(x.num_packets_received, c.num_packets_recvd);
  f(x.num_receive_errors, c.num_recv_errs);
  f(x.num_bytes_sent, c.num_bytes_sent);
  f(x.num_packets_sent, c.num_packets_sent);
  f(x.num_send_errors, c.num_send_errs);
}

TROUPE_PAIRS(node_stats, pmix_node_stats_t) {
  f(x.node, c.node);
  f(x.load_average, c.la);
  f(x.load_average_5, c.la5);
  f(x.load_average_15, c.la15);
  f(x.total_memory, c.total_mem);
  f(x.free_memory, c.free_mem);
  f(x.buffers, c.buffers);
  f(x.cached, c.cached);
  f(x.swap_cached, c.swap_cached);
  f(x.swap_total, c.swap_total);
  f(x.swap_free, c.swap_free);
  f(x.mapped, c.mapped);
  f(x.sample_time, c.sample_time);
  f.list(x.disks, c.diskstats, c.ndiskstats);
  f.list(x.nets, c.netstats, c.nnetstats);
}

#undef TROUPE_PAIRS

// -- memory ------------------------------------------------------------------

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
const T& as(const void* p) {
  return *static_cast<const T*>(p);
}

template <class T>
T& as_mutable(void* p) {
  return *static_cast<T*>(p);
}

bool is_null(const value::storage& x) {
  return std::holds_alternative<std::monostate>(x);
}

std::optional<std::string> text_or_none(const char* x) {
  if (x == nullptr)
    return std::nullopt;
  return std::string{x};
}

timeval_value to_time(const timeval& x) {
  return {x.tv_sec, x.tv_usec};
}

timeval to_c_time(const timeval_value& x) {
  return {x.seconds, x.microseconds};
}

} // namespace

void first_error::fail(status code, const char* what) {
  if (!ok())
    return;
  code_ = code;
  what_ = what;
}

caf::error first_error::failure() const {
  return ok() ? caf::error{} : make_error(code_, what_);
}

// -- reading -----------------------------------------------------------------

/// Reads the pairs of fields that it is shown.
class field_reader {
public:
  explicit field_reader(c_reader& r) : r_(r) {
    // nop
  }

  template <class To, class From>
  void operator()(To& to, const From& from) {
    if constexpr (std::is_same_v<To, std::optional<std::string>>)
      to = text_or_none(from);
    else if constexpr (std::is_same_v<To, std::string>)
      to = text_of(from);
    else if constexpr (std::is_same_v<To, timeval_value>)
      to = to_time(from);
    else if constexpr (std::is_class_v<To>)
      r_.read(from, to);
    else
      to = static_cast<To>(from);
  }

  void command(std::string& to, const char* from) {
    if (from != nullptr)
      to = from;
  }

  void flags(uint32_t& to, uint32_t from) {
    to = from;
  }

  void bytes(std::string& to, const char* from, size_t n) {
    to = r_.blob(from, n);
  }

  void numbers(std::vector<uint32_t>& to, const uint32_t* from, size_t n) {
    if (from == nullptr && n > 0)
      r_.fail(status::bad_param, "coordinates are null");
    else if (r_.ok() && n > 0)
      to.assign(from, from + n);
  }

  template <class T>
  void strings(std::vector<T>& to, const char* const* from) {
    for (auto& x : to_strings(from))
      to.emplace_back(std::move(x));
  }

  template <class To, class From>
  void list(std::vector<To>& to, const From* from, size_t n) {
    r_.list(from, n, to);
  }

private:
  c_reader& r_;
};

template <class From, class To>
void c_reader::read(const From& from, To& to) {
  each_pair(field_reader{*this}, to, from, &to);
}

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
      return to_time(load<timeval>(p));
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
    result = text_or_none(load<const char*>(p));
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

value::storage c_reader::structure(data_type x, const void* p) {
  auto result = value::storage{};
  auto is_known = x == data_type::data_array;
  const auto take = [&](auto tag) {
    using type = typename decltype(tag)::type;
    using form = typename form_of<type>::type;
    if constexpr (!std::is_void_v<form>) {
      is_known = true;
      auto to = box<type>{};
      read(as<form>(p), *to);
      result = std::move(to);
    }
  };
  if (is_known)
    take(type_tag<data_array>{});
  else
    visit_structure(x, take);
  if (!is_known)
    fail(status::unknown_data_type, "a value is of no known type");
  return result;
}

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

// -- writing -----------------------------------------------------------------

/// Fills the fields of the C API that it is shown.
class field_writer {
public:
  explicit field_writer(c_writer& w) : w_(w) {
    // nop
  }

  template <class From, class To>
  void operator()(const From& from, To& to) {
    if constexpr (std::is_same_v<From, std::optional<std::string>>) {
      if (from)
        w_.text(*from, to);
    } else if constexpr (std::is_same_v<From, std::string>)
      set_text(to, from);
    else if constexpr (std::is_same_v<From, timeval_value>)
      to = to_c_time(from);
    else if constexpr (std::is_class_v<From>)
      w_.write(from, to);
    else
      to = static_cast<To>(from);
  }

  void command(const std::string& from, char*& to) {
    if (!from.empty())
      w_.text(from, to);
  }

  /// A persistent info would not free its value, which is a copy.
  void flags(uint32_t from, pmix_info_directives_t& to) {
    to = from & ~info_persistent;
  }

  void bytes(const std::string& from, char*& to, size_t& n) {
    w_.bytes(from, to, n);
  }

  void numbers(const std::vector<uint32_t>& from, uint32_t*& to, size_t& n) {
    to = w_.checked<uint32_t>(from.size());
    if (to == nullptr)
      return;
    n = from.size();
    std::memcpy(to, from.data(), n * sizeof(uint32_t));
  }

  void strings(const std::vector<std::string>& from, char**& to) {
    w_.strings(from, to);
  }

  /// A null pointer would end the list: a line that is null becomes empty.
  void strings(const std::vector<std::optional<std::string>>& from,
               char**& to) {
    auto lines = std::vector<std::string>{};
    for (const auto& line : from)
      lines.push_back(line.value_or(""));
    w_.strings(lines, to);
  }

  template <class From, class To>
  void list(const std::vector<From>& from, To*& to, size_t& n) {
    w_.list(from, to, n);
  }

private:
  c_writer& w_;
};

template <class From, class To>
void c_writer::write(const From& from, To& to) {
  each_pair(field_writer{*this}, from, to, &from);
}

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
        return store(p, to_c_time(*y));
      return mismatch();
    case storage_class::proc:
      if (const auto* y = std::get_if<proc_id>(&from))
        return write(*y, as_mutable<pmix_proc_t>(p));
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
    set_text(as_mutable<pmix_nspace_t>(p), *text);
  } else if (x == data_type::proc_cpuset) {
    auto& to = as_mutable<pmix_cpuset_t>(p);
    to.bitmap = hwloc::parse_cpus(*text);
    if (to.bitmap == nullptr)
      fail(status::bad_param, "a list of processors is none");
    this->text("hwloc", to.source);
  } else if (x == data_type::topology) {
    auto& to = as_mutable<pmix_topology_t>(p);
    to.topology = hwloc::import_topology(*text);
    if (to.topology == nullptr)
      fail(status::bad_param, "a topology is none");
    this->text("hwloc", to.source);
  } else {
    this->text(*text, as_mutable<char*>(p));
  }
}

void c_writer::put_bytes(data_type x, const std::string& from, void* p) {
  if (x == data_type::data_buffer) {
    auto& to = as_mutable<pmix_data_buffer_t>(p);
    bytes(from, to.base_ptr, to.bytes_used);
    to.bytes_allocated = to.bytes_used;
    to.unpack_ptr = to.base_ptr;
    to.pack_ptr =
      to.base_ptr == nullptr ? nullptr : to.base_ptr + to.bytes_used;
  } else if (x == data_type::regex2) {
    auto& to = as_mutable<pmix_regex2_t>(p);
    const auto zero = from.find('\0');
    if (zero == std::string::npos)
      return fail(status::bad_param, "a REGEX2 has no type");
    text(std::string_view{from}.substr(0, zero), to.type);
    auto* data = static_cast<char*>(nullptr);
    bytes(std::string_view{from}.substr(zero + 1), data, to.len);
    to.bytes = reinterpret_cast<uint8_t*>(data);
  } else {
    auto& to = as_mutable<pmix_byte_object_t>(p);
    bytes(from, to.bytes, to.size);
  }
}

void c_writer::structure(data_type x, const value::storage& from, void* p) {
  auto is_known = x == data_type::data_array;
  const auto put = [&](auto tag) {
    using type = typename decltype(tag)::type;
    using form = typename form_of<type>::type;
    if constexpr (!std::is_void_v<form>) {
      is_known = true;
      if (const auto* y = std::get_if<box<type>>(&from))
        write(**y, as_mutable<form>(p));
      else
        fail(status::bad_param, "a value is not kept as its type says");
    }
  };
  if (!is_known)
    visit_structure(x, put);
  else if (!is_null(from))
    put(type_tag<data_array>{});
  if (!is_known)
    fail(status::unknown_data_type, "a value is of no known type");
}

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

// -- parts -------------------------------------------------------------------

void c_writer::text(std::string_view from, char*& to) {
  if (!ok())
    return;
  to = duplicate(from);
  if (to == nullptr)
    fail(status::nomem, "there is no memory");
}

void c_writer::bytes(std::string_view from, char*& to, size_t& size) {
  to = nullptr;
  if (!ok() || from.empty())
    return;
  // All of it is written: it need not be zeroed.
  to = static_cast<char*>(std::malloc(from.size()));
  if (to == nullptr)
    return fail(status::nomem, "there is no memory");
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

// -- used elsewhere ----------------------------------------------------------

template void c_reader::read(const pmix_proc_t&, proc_id&);
template void c_reader::read(const pmix_info_t&, info&);
template void c_reader::read(const pmix_app_t&, app&);
template void c_reader::read(const pmix_query_t&, query&);
template void c_reader::read(const pmix_pdata_t&, pdata&);

template void c_writer::write(const proc_id&, pmix_proc_t&);
template void c_writer::write(const info&, pmix_info_t&);
template void c_writer::write(const app&, pmix_app_t&);
template void c_writer::write(const query&, pmix_query_t&);
template void c_writer::write(const pdata&, pmix_pdata_t&);
template void c_writer::write(const device_distance&, pmix_device_distance_t&);

} // namespace troupe::c_api
