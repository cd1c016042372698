#include "adapters/c_values/c_types.hpp"

#include "adapters/c_values/ownership.hpp"

#include <array>

namespace troupe::c_api {

namespace {

// -- the table
// --------------------------------------------------------------------

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

// -- single objects
// ---------------------------------------------------------------

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

// -- arrays
// -----------------------------------------------------------------------

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
