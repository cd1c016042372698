#include "adapters/c_values/c_types.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

// Construct, destruct, create and free of every structure. Null is accepted
// everywhere; a destructed object owns nothing and may be destructed again.

using namespace troupe;

namespace {

template <class T>
T* create(pmix_data_type_t type, size_t n) {
  return static_cast<T*>(c_api::create_array(type, n));
}

/// The last of several infos is marked, for programs that count them.
pmix_info_t* create_infos(size_t n) {
  auto* result = create<pmix_info_t>(PMIX_INFO, n);
  if (result != nullptr)
    result[n - 1].flags = PMIX_INFO_ARRAY_END;
  return result;
}

template <class T>
void release_object(T* x) {
  c_api::release(x);
  std::free(x);
}

} // namespace

#define TROUPE_CONSTRUCT(name, type, number)                                   \
  void PMIx_##name##_construct(type* x) {                                      \
    c_api::construct(number, x);                                               \
  }

#define TROUPE_DESTRUCT(name, type)                                            \
  void PMIx_##name##_destruct(type* x) {                                       \
    c_api::release(x);                                                         \
  }

#define TROUPE_CREATE(name, type, number)                                      \
  type* PMIx_##name##_create(size_t n) {                                       \
    return create<type>(number, n);                                            \
  }

#define TROUPE_FREE(name, type, number)                                        \
  void PMIx_##name##_free(type* xs, size_t n) {                                \
    c_api::free_array(number, xs, n);                                          \
  }

#define TROUPE_FAMILY(name, type, number)                                      \
  TROUPE_CONSTRUCT(name, type, number)                                         \
  TROUPE_DESTRUCT(name, type)                                                  \
  TROUPE_CREATE(name, type, number)                                            \
  TROUPE_FREE(name, type, number)

/// Types that own nothing: destructed means constructed.
#define TROUPE_PLAIN_FAMILY(name, type, number)                                \
  TROUPE_CONSTRUCT(name, type, number)                                         \
  void PMIx_##name##_destruct(type* x) {                                       \
    c_api::construct(number, x);                                               \
  }                                                                            \
  TROUPE_CREATE(name, type, number)                                            \
  TROUPE_FREE(name, type, number)

TROUPE_FAMILY(Value, pmix_value_t, PMIX_VALUE)
TROUPE_FAMILY(Pdata, pmix_pdata_t, PMIX_PDATA)
TROUPE_FAMILY(App, pmix_app_t, PMIX_APP)
TROUPE_FAMILY(Query, pmix_query_t, PMIX_QUERY)
TROUPE_FAMILY(Regattr, pmix_regattr_t, PMIX_REGATTR)
TROUPE_FAMILY(Byte_object, pmix_byte_object_t, PMIX_BYTE_OBJECT)
TROUPE_FAMILY(Envar, pmix_envar_t, PMIX_ENVAR)
TROUPE_FAMILY(Topology, pmix_topology_t, PMIX_TOPO)
TROUPE_FAMILY(Cpuset, pmix_cpuset_t, PMIX_PROC_CPUSET)
TROUPE_FAMILY(Geometry, pmix_geometry_t, PMIX_GEOMETRY)
TROUPE_FAMILY(Device, pmix_device_t, PMIX_DEVICE)
TROUPE_FAMILY(Device_distance, pmix_device_distance_t, PMIX_DEVICE_DIST)
TROUPE_FAMILY(Endpoint, pmix_endpoint_t, PMIX_ENDPOINT)
TROUPE_FAMILY(Node_pid, pmix_node_pid_t, PMIX_NODE_PID)
TROUPE_FAMILY(Regex2, pmix_regex2_t, PMIX_REGEX2)
TROUPE_FAMILY(Proc_info, pmix_proc_info_t, PMIX_PROC_INFO)
TROUPE_FAMILY(Proc_stats, pmix_proc_stats_t, PMIX_PROC_STATS)
TROUPE_FAMILY(Disk_stats, pmix_disk_stats_t, PMIX_DISK_STATS)
TROUPE_FAMILY(Net_stats, pmix_net_stats_t, PMIX_NET_STATS)
TROUPE_FAMILY(Node_stats, pmix_node_stats_t, PMIX_NODE_STATS)
TROUPE_PLAIN_FAMILY(Proc, pmix_proc_t, PMIX_PROC)
TROUPE_PLAIN_FAMILY(Resource_unit, pmix_resource_unit_t, PMIX_RESOURCE_UNIT)

// -- those with something of their own ----------------------------------------

TROUPE_CONSTRUCT(Info, pmix_info_t, PMIX_INFO)
TROUPE_DESTRUCT(Info, pmix_info_t)
TROUPE_FREE(Info, pmix_info_t, PMIX_INFO)

pmix_info_t* PMIx_Info_create(size_t n) {
  return create_infos(n);
}

TROUPE_CONSTRUCT(Coord, pmix_coord_t, PMIX_COORD)
TROUPE_DESTRUCT(Coord, pmix_coord_t)
TROUPE_FREE(Coord, pmix_coord_t, PMIX_COORD)

pmix_coord_t* PMIx_Coord_create(size_t dims, size_t number) {
  auto* result = create<pmix_coord_t>(PMIX_COORD, number);
  if (result == nullptr)
    return nullptr;
  for (size_t i = 0; i < number && dims > 0; ++i) {
    result[i].coord = c_api::allocate<uint32_t>(dims);
    if (result[i].coord == nullptr) {
      PMIx_Coord_free(result, number);
      return nullptr;
    }
    result[i].dims = dims;
  }
  return result;
}

void PMIx_App_release(pmix_app_t* x) {
  release_object(x);
}

void PMIx_App_info_create(pmix_app_t* x, size_t n) {
  if (x == nullptr)
    return;
  x->info = create_infos(n);
  x->ninfo = x->info != nullptr ? n : 0;
}

void PMIx_Query_release(pmix_query_t* x) {
  release_object(x);
}

void PMIx_Query_qualifiers_create(pmix_query_t* x, size_t n) {
  if (x == nullptr)
    return;
  x->qualifiers = create_infos(n);
  x->nqual = x->qualifiers != nullptr ? n : 0;
}

void PMIx_Fabric_construct(pmix_fabric_t* x) {
  if (x != nullptr)
    *x = {};
}

void PMIx_Byte_object_load(pmix_byte_object_t* x, char* bytes, size_t size) {
  if (x != nullptr)
    *x = {bytes, size};
}

void PMIx_Envar_load(pmix_envar_t* x, char* name, char* value, char separator) {
  if (x == nullptr)
    return;
  x->envar = name != nullptr ? c_api::duplicate(name) : nullptr;
  x->value = value != nullptr ? c_api::duplicate(value) : nullptr;
  x->separator = separator;
}

void PMIx_Regattr_load(pmix_regattr_t* x, const char* name, const char* key,
                       pmix_data_type_t type, const char* description) try {
  if (x == nullptr)
    return;
  c_api::construct(PMIX_REGATTR, x);
  if (name != nullptr)
    x->name = c_api::duplicate(name);
  PMIx_Load_key(x->string, key);
  x->type = type;
  if (description != nullptr)
    PMIx_Argv_append_nosize(&x->description, description);
} catch (...) {
  static_cast<void>(c_api::status_of_exception());
}

void PMIx_Regattr_xfer(pmix_regattr_t* to, const pmix_regattr_t* from) {
  if (to != nullptr && from != nullptr)
    c_api::copy(PMIX_REGATTR, to, from);
}

// -- data arrays --------------------------------------------------------------

void PMIx_Data_array_init(pmix_data_array_t* x, pmix_data_type_t type) {
  if (x != nullptr)
    *x = {type, 0, nullptr};
}

void PMIx_Data_array_construct(pmix_data_array_t* x, size_t n,
                               pmix_data_type_t type) {
  if (x == nullptr)
    return;
  auto* array =
    type == PMIX_INFO ? create_infos(n) : c_api::create_array(type, n);
  *x = {type, array != nullptr ? n : 0, array};
}

TROUPE_DESTRUCT(Data_array, pmix_data_array_t)

pmix_data_array_t* PMIx_Data_array_create(size_t n, pmix_data_type_t type) {
  if (n == 0)
    return nullptr;
  auto* result = c_api::allocate<pmix_data_array_t>(1);
  PMIx_Data_array_construct(result, n, type);
  return result;
}

void PMIx_Data_array_free(pmix_data_array_t* x) {
  release_object(x);
}

// -- data buffers -------------------------------------------------------------

TROUPE_CONSTRUCT(Data_buffer, pmix_data_buffer_t, PMIX_DATA_BUFFER)
TROUPE_DESTRUCT(Data_buffer, pmix_data_buffer_t)

pmix_data_buffer_t* PMIx_Data_buffer_create(void) {
  return create<pmix_data_buffer_t>(PMIX_DATA_BUFFER, 1);
}

void PMIx_Data_buffer_release(pmix_data_buffer_t* x) {
  release_object(x);
}

void PMIx_Data_buffer_load(pmix_data_buffer_t* x, char* bytes, size_t size) {
  auto payload = pmix_byte_object_t{bytes, size};
  PMIx_Data_load(x, &payload);
}

void PMIx_Data_buffer_unload(pmix_data_buffer_t* x, char** bytes,
                             size_t* size) {
  auto payload = pmix_byte_object_t{};
  if (x == nullptr || bytes == nullptr || size == nullptr)
    return;
  PMIx_Data_unload(x, &payload);
  *bytes = payload.bytes;
  *size = payload.size;
}
