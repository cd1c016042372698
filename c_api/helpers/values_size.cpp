#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/owned.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

// How much memory a value takes, with all it owns.

namespace troupe::c_api {

namespace {

/// Adds up what it is shown; a text counts with its final zero also if it is
/// null.
struct measurer {
  size_t size = 0;
  pmix_status_t code = PMIX_SUCCESS;

  void text(const char* x) {
    size += 1 + (x != nullptr ? std::strlen(x) : 0);
  }

  template <class T>
  void plain(const T* xs, size_t n) {
    if (xs != nullptr)
      size += n * sizeof(T);
  }

  void bytes(const char* xs, size_t n) {
    plain(xs, n);
  }

  void strings(char** xs) {
    for (; xs != nullptr && *xs != nullptr; ++xs)
      text(*xs);
  }

  template <class T>
  void list(T* xs, size_t n) {
    plain(xs, n);
    for (size_t i = 0; xs != nullptr && i < n; ++i)
      each_owned(xs[i], *this);
  }

  void buffer(const pmix_data_buffer_t& x) {
    if (x.base_ptr != nullptr)
      size += x.bytes_used;
  }

  /// Handles of hwloc count as the text they are packed as.
  void handle(data_type type, const void* x) {
    const auto text = to_storage(type, x);
    if (!text)
      code = to_c(text.error());
    else if (const auto* y = std::get_if<std::string>(&*text))
      size += y->size() + 1;
  }

  void cpuset(const pmix_cpuset_t& x) {
    handle(data_type::proc_cpuset, &x);
  }

  void topology(const pmix_topology_t& x) {
    handle(data_type::topology, &x);
  }

  void array(pmix_data_array_t& x) {
    auto* p = static_cast<char*>(x.array);
    const auto step = c_type_of(x.type).size;
    for (size_t i = 0; p != nullptr && i < x.size; ++i, p += step)
      element(x.type, p);
  }

  void any(pmix_value_t& x) {
    auto* p = c_type_of(x.type).by_pointer ? x.data.ptr : &x.data;
    if (p != nullptr && x.type != PMIX_UNDEF)
      element(x.type, p);
  }

  template <class T>
  void structure(void* p) {
    size += sizeof(T);
    each_owned(*static_cast<T*>(p), *this);
  }

  void element(pmix_data_type_t type, void* p) {
    switch (type) {
      case PMIX_STRING:
        return text(*static_cast<char**>(p));
      case PMIX_BYTE_OBJECT:
      case PMIX_COMPRESSED_STRING:
      case PMIX_COMPRESSED_BYTE_OBJECT:
      case PMIX_REGEX:
        return structure<pmix_byte_object_t>(p);
      case PMIX_ENVAR:
        return structure<pmix_envar_t>(p);
      case PMIX_VALUE:
        return structure<pmix_value_t>(p);
      case PMIX_INFO:
        return structure<pmix_info_t>(p);
      case PMIX_PDATA:
        return structure<pmix_pdata_t>(p);
      case PMIX_APP:
        return structure<pmix_app_t>(p);
      case PMIX_QUERY:
        return structure<pmix_query_t>(p);
      case PMIX_PROC_INFO:
        return structure<pmix_proc_info_t>(p);
      case PMIX_DATA_ARRAY:
        return structure<pmix_data_array_t>(p);
      case PMIX_COORD:
        return structure<pmix_coord_t>(p);
      case PMIX_REGATTR:
        return structure<pmix_regattr_t>(p);
      case PMIX_PROC_CPUSET:
        return structure<pmix_cpuset_t>(p);
      case PMIX_TOPO:
        return structure<pmix_topology_t>(p);
      case PMIX_GEOMETRY:
        return structure<pmix_geometry_t>(p);
      case PMIX_DEVICE:
        return structure<pmix_device_t>(p);
      case PMIX_DEVICE_DIST:
        return structure<pmix_device_distance_t>(p);
      case PMIX_ENDPOINT:
        return structure<pmix_endpoint_t>(p);
      case PMIX_NODE_PID:
        return structure<pmix_node_pid_t>(p);
      case PMIX_DATA_BUFFER:
        return structure<pmix_data_buffer_t>(p);
      case PMIX_REGEX2:
        return structure<pmix_regex2_t>(p);
      case PMIX_PROC_STATS:
        return structure<pmix_proc_stats_t>(p);
      case PMIX_DISK_STATS:
        return structure<pmix_disk_stats_t>(p);
      case PMIX_NET_STATS:
        return structure<pmix_net_stats_t>(p);
      case PMIX_NODE_STATS:
        return structure<pmix_node_stats_t>(p);
      default:
        break;
    }
    size += c_type_of(type).size;
    if (c_type_of(type).size == 0)
      code = PMIX_ERR_UNKNOWN_DATA_TYPE;
  }
};

} // namespace

} // namespace troupe::c_api

using namespace troupe::c_api;

pmix_status_t PMIx_Value_get_size(const pmix_value_t* x, size_t* size) try {
  if (x == nullptr || size == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *size = 0;
  if (x->type == PMIX_UNDEF)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  auto m = measurer{};
  auto shown = *x;
  m.any(shown);
  if (m.code == PMIX_SUCCESS)
    *size = m.size + sizeof(pmix_value_t);
  return m.code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Info_get_size(const pmix_info_t* x, size_t* size) try {
  if (x == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto code = PMIx_Value_get_size(&x->value, size);
  if (code == PMIX_SUCCESS)
    *size += text_of(x->key).size() + 1 + sizeof(pmix_info_t);
  return code;
} catch (...) {
  return status_of_exception();
}
