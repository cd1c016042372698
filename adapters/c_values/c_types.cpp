#include "adapters/c_values/c_types.hpp"

#include "adapters/c_values/owned.hpp"
#include "adapters/hwloc/handles.hpp"

#include <array>

namespace troupe::c_api {

namespace {

bool is_hwloc(const char* source) {
  return source != nullptr && std::strncmp(source, "hwloc", 5) == 0;
}

size_t count_of(char* const* xs) {
  auto n = size_t{0};
  while (xs[n] != nullptr)
    ++n;
  return n;
}

/// Whether `pmix_value_t` has a pointer to an owned element that is there.
bool has_target(const pmix_value_t& x, const c_type& type) {
  return type.size != 0 && type.by_pointer && x.data.ptr != nullptr;
}

// -- freeing ------------------------------------------------------------------

/// Frees what it is shown.
struct releaser {
  void text(char*& x) {
    std::free(x);
    x = nullptr;
  }

  template <class T>
  void plain(T*& xs, size_t& n) {
    std::free(xs);
    xs = nullptr;
    n = 0;
  }

  void bytes(char*& xs, size_t& n) {
    plain(xs, n);
  }

  void strings(char**& xs) {
    if (xs != nullptr)
      for (auto** x = xs; *x != nullptr; ++x)
        std::free(*x);
    std::free(xs);
    xs = nullptr;
  }

  template <class T>
  void list(T*& xs, size_t& n) {
    if (xs != nullptr)
      for (size_t i = 0; i < n; ++i)
        each_owned(xs[i], *this);
    plain(xs, n);
  }

  void any(pmix_value_t& x) {
    const auto& type = c_type_of(x.type);
    if (has_target(x, type)) {
      if (type.release != nullptr)
        type.release(x.data.ptr);
      std::free(x.data.ptr);
    } else if (type.release != nullptr && !type.by_pointer) {
      type.release(&x.data);
    }
    std::memset(&x, 0, sizeof(x));
  }

  void array(pmix_data_array_t& x) {
    free_array(x.type, x.array, x.size);
    x = {};
  }

  void buffer(pmix_data_buffer_t& x) {
    std::free(x.base_ptr);
    x = {};
  }

  void cpuset(pmix_cpuset_t& x) {
    if (is_hwloc(x.source))
      hwloc::release_cpus(x.bitmap);
    std::free(x.source);
    x = {};
  }

  void topology(pmix_topology_t& x) {
    if (is_hwloc(x.source))
      hwloc::release_topology(x.topology);
    std::free(x.source);
    x = {};
  }
};

// -- copying ------------------------------------------------------------------

/// Replaces what a bitwise copy shares with its origin. After the first failure
/// it takes away what is shared.
struct owner {
  pmix_status_t code = PMIX_SUCCESS;

  bool ok() const {
    return code == PMIX_SUCCESS;
  }

  /// Sets `x`, checked for memory.
  template <class T>
  void put(T*& x, void* copy) {
    x = static_cast<T*>(copy);
    if (copy == nullptr)
      code = PMIX_ERR_NOMEM;
  }

  void text(char*& x) {
    if (!ok())
      x = nullptr;
    else if (x != nullptr)
      put(x, duplicate(x));
  }

  template <class T>
  void plain(T*& xs, size_t& n) {
    const auto* from = xs;
    if (from == nullptr || n == 0 || !ok()) {
      xs = nullptr;
      n = 0;
      return;
    }
    put(xs, allocate<T>(n));
    if (ok())
      std::memcpy(xs, from, n * sizeof(T));
    else
      n = 0;
  }

  void bytes(char*& xs, size_t& n) {
    plain(xs, n);
  }

  void strings(char**& xs) {
    auto** from = xs;
    if (from == nullptr || !ok()) {
      xs = nullptr;
      return;
    }
    const auto n = count_of(from);
    put(xs, allocate<char*>(n + 1));
    for (size_t i = 0; i < n && ok(); ++i)
      put(xs[i], duplicate(from[i]));
  }

  template <class T>
  void list(T*& xs, size_t& n) {
    plain(xs, n);
    for (size_t i = 0; i < n; ++i)
      each_owned(xs[i], *this);
  }

  void any(pmix_value_t& x) {
    const auto& type = c_type_of(x.type);
    if (type.size == 0 && x.type != PMIX_UNDEF)
      code = PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (!ok()) {
      std::memset(&x, 0, sizeof(x));
    } else if (has_target(x, type)) {
      const auto* from = x.data.ptr;
      put(x.data.ptr, std::malloc(type.size));
      if (ok())
        code = copy(x.type, x.data.ptr, from);
      if (!ok()) {
        std::free(x.data.ptr);
        std::memset(&x, 0, sizeof(x));
      }
    } else if (type.own != nullptr && !type.by_pointer) {
      code = type.own(&x.data);
      if (!ok())
        std::memset(&x, 0, sizeof(x));
    }
  }

  void array(pmix_data_array_t& x) {
    const auto& type = c_type_of(x.type);
    const auto* from = static_cast<const char*>(x.array);
    const auto n = from == nullptr || !ok() ? size_t{0} : x.size;
    x.array = nullptr;
    x.size = 0;
    if (n == 0)
      return;
    if (type.size == 0) {
      code = PMIX_ERR_UNKNOWN_DATA_TYPE;
      return;
    }
    put(x.array, std::calloc(n, type.size));
    for (auto* to = static_cast<char*>(x.array); x.size < n && ok(); ++x.size) {
      code = copy(x.type, to, from);
      to += type.size;
      from += type.size;
    }
  }

  void buffer(pmix_data_buffer_t& x) {
    const auto from = x;
    x = {};
    if (!ok() || from.base_ptr == nullptr || from.bytes_used == 0)
      return;
    put(x.base_ptr, std::malloc(from.bytes_used));
    if (!ok())
      return;
    std::memcpy(x.base_ptr, from.base_ptr, from.bytes_used);
    const auto read = from.unpack_ptr == nullptr
                        ? size_t{0}
                        : static_cast<size_t>(from.unpack_ptr - from.base_ptr);
    x.unpack_ptr = x.base_ptr + (read <= from.bytes_used ? read : 0);
    x.pack_ptr = x.base_ptr + from.bytes_used;
    x.bytes_used = x.bytes_allocated = from.bytes_used;
  }

  template <class Copy>
  void handle(char*& source, void*& x, Copy duplicate_handle) {
    const auto known = x == nullptr || is_hwloc(source);
    const auto* from = x;
    x = nullptr;
    text(source);
    if (!known) {
      // Not supported: to copy what comes from another library than hwloc.
      code = PMIX_ERR_NOT_SUPPORTED;
    }
    if (ok() && from != nullptr)
      put(x, duplicate_handle(from));
  }

  void cpuset(pmix_cpuset_t& x) {
    handle(x.source, x.bitmap, hwloc::duplicate_cpus);
  }

  void topology(pmix_topology_t& x) {
    handle(x.source, x.topology, hwloc::duplicate_topology);
  }
};

// -- the table ---------------------------------------------------------------

template <class T>
void release_any(void* x) {
  auto f = releaser{};
  each_owned(*static_cast<T*>(x), f);
}

template <class T>
pmix_status_t own_any(void* x) {
  auto f = owner{};
  each_owned(*static_cast<T*>(x), f);
  if (!f.ok())
    release_any<T>(x);
  return f.code;
}

void release_text(void* x) {
  releaser{}.text(*static_cast<char**>(x));
}

pmix_status_t own_text(void* x) {
  auto f = owner{};
  f.text(*static_cast<char**>(x));
  return f.code;
}

struct table {
  std::array<c_type, 76> rows{};
  c_type none{};

  c_type& row(data_type x) {
    return rows[static_cast<size_t>(x)];
  }

  /// A type without pointers.
  void plain(data_type x, size_t size) {
    row(x).size = size;
  }

  /// A structure that owns something.
  template <class T>
  void owning(data_type x, bool by_pointer = true) {
    auto& y = row(x);
    y.size = sizeof(T);
    y.by_pointer = by_pointer;
    y.release = release_any<T>;
    y.own = own_any<T>;
  }

  table() {
    using t = data_type;
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].storage = storage_of(static_cast<t>(i));
      rows[i].size = width_of(static_cast<t>(i));
    }
    none.storage = storage_class::unknown;
    plain(t::timeval, sizeof(timeval));
    plain(t::pointer, sizeof(void*));
    plain(t::proc, sizeof(pmix_proc_t));
    plain(t::proc_nspace, sizeof(pmix_nspace_t));
    plain(t::resource_unit, sizeof(pmix_resource_unit_t));
    for (auto x : {t::proc, t::proc_nspace, t::resource_unit})
      row(x).by_pointer = true;
    row(t::string) = {sizeof(char*), storage_class::text, false,
                      nullptr,       release_text,        own_text};
    for (auto x : {t::byte_object, t::compressed_string,
                   t::compressed_byte_object, t::regex})
      owning<pmix_byte_object_t>(x, false);
    owning<pmix_envar_t>(t::envar, false);
    owning<pmix_value_t>(t::value);
    owning<pmix_app_t>(t::app);
    owning<pmix_info_t>(t::info);
    owning<pmix_pdata_t>(t::pdata);
    owning<pmix_proc_info_t>(t::proc_info);
    owning<pmix_data_array_t>(t::data_array);
    owning<pmix_query_t>(t::query);
    owning<pmix_coord_t>(t::coord);
    owning<pmix_regattr_t>(t::regattr);
    owning<pmix_cpuset_t>(t::proc_cpuset);
    owning<pmix_geometry_t>(t::geometry);
    owning<pmix_device_distance_t>(t::device_distance);
    owning<pmix_endpoint_t>(t::endpoint);
    owning<pmix_topology_t>(t::topology);
    owning<pmix_proc_stats_t>(t::proc_stats);
    owning<pmix_disk_stats_t>(t::disk_stats);
    owning<pmix_net_stats_t>(t::net_stats);
    owning<pmix_node_stats_t>(t::node_stats);
    owning<pmix_data_buffer_t>(t::data_buffer);
    owning<pmix_device_t>(t::device);
    owning<pmix_node_pid_t>(t::node_pid);
    owning<pmix_regex2_t>(t::regex2);
    row(t::proc).construct = [](void* x) {
      static_cast<pmix_proc_t*>(x)->rank = PMIX_RANK_UNDEF;
    };
    row(t::device_distance).construct = [](void* x) {
      auto& y = *static_cast<pmix_device_distance_t*>(x);
      y.mindist = y.maxdist = UINT16_MAX;
    };
    row(t::node_pid).construct = [](void* x) {
      auto& y = *static_cast<pmix_node_pid_t*>(x);
      y.nodeid = UINT32_MAX;
      y.pid = -1;
    };
  }
};

const table& types() {
  static const table result;
  return result;
}

template <class T>
void release_object(T* x) {
  if (x != nullptr)
    release_any<T>(x);
}

} // namespace

const c_type& c_type_of(pmix_data_type_t x) {
  const auto& xs = types();
  return x < xs.rows.size() ? xs.rows[x] : xs.none;
}

// -- single objects ----------------------------------------------------------

#define TROUPE_RELEASE(type)                                                   \
  void release(type* x) {                                                      \
    release_object(x);                                                         \
  }

TROUPE_RELEASE(pmix_value_t)
TROUPE_RELEASE(pmix_data_array_t)
TROUPE_RELEASE(pmix_app_t)
TROUPE_RELEASE(pmix_query_t)
TROUPE_RELEASE(pmix_pdata_t)
TROUPE_RELEASE(pmix_regattr_t)
TROUPE_RELEASE(pmix_proc_info_t)
TROUPE_RELEASE(pmix_byte_object_t)
TROUPE_RELEASE(pmix_envar_t)
TROUPE_RELEASE(pmix_coord_t)
TROUPE_RELEASE(pmix_geometry_t)
TROUPE_RELEASE(pmix_device_t)
TROUPE_RELEASE(pmix_device_distance_t)
TROUPE_RELEASE(pmix_endpoint_t)
TROUPE_RELEASE(pmix_node_pid_t)
TROUPE_RELEASE(pmix_regex2_t)
TROUPE_RELEASE(pmix_data_buffer_t)
TROUPE_RELEASE(pmix_cpuset_t)
TROUPE_RELEASE(pmix_topology_t)
TROUPE_RELEASE(pmix_proc_stats_t)
TROUPE_RELEASE(pmix_disk_stats_t)
TROUPE_RELEASE(pmix_net_stats_t)
TROUPE_RELEASE(pmix_node_stats_t)

#undef TROUPE_RELEASE

void release(pmix_info_t* x) {
  if (x == nullptr)
    return;
  release_any<pmix_info_t>(x);
  std::memset(&x->value, 0, sizeof(x->value));
}

void construct(pmix_data_type_t type, void* element) {
  const auto& row = c_type_of(type);
  if (element == nullptr || row.size == 0)
    return;
  std::memset(element, 0, row.size);
  if (row.construct != nullptr)
    row.construct(element);
}

pmix_status_t copy(pmix_data_type_t type, void* to, const void* from) {
  const auto& row = c_type_of(type);
  if (row.size == 0)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  std::memcpy(to, from, row.size);
  return row.own != nullptr ? row.own(to) : PMIX_SUCCESS;
}

// -- arrays ------------------------------------------------------------------

void* create_array(pmix_data_type_t type, size_t n) {
  const auto& row = c_type_of(type);
  if (row.size == 0 || n == 0)
    return nullptr;
  auto* result = static_cast<char*>(std::calloc(n, row.size));
  if (result != nullptr && row.construct != nullptr)
    for (size_t i = 0; i < n; ++i)
      row.construct(result + i * row.size);
  return result;
}

void free_array(pmix_data_type_t type, void* array, size_t n) {
  const auto& row = c_type_of(type);
  if (array != nullptr && row.release != nullptr)
    for (size_t i = 0; i < n; ++i)
      row.release(static_cast<char*>(array) + i * row.size);
  std::free(array);
}

} // namespace troupe::c_api
