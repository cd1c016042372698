#pragma once

#include "messages/data_type.hpp"

#include <pmix_common.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

// How the types of the C API lie in memory, and who owns what: one row a type,
// from which everything that makes, frees or copies structures works.

namespace troupe::c_api {

// -- memory that crosses the C API: malloc and free, never new and delete ----

/// Zeroed memory for `n` objects; null for none, without memory, or if the size
/// overflows.
template <class T>
T* allocate(size_t n) {
  return n == 0 ? nullptr : static_cast<T*>(std::calloc(n, sizeof(T)));
}

/// A text with its final zero; null without memory.
inline char* duplicate(std::string_view x) {
  auto* result = static_cast<char*>(std::malloc(x.size() + 1));
  if (result == nullptr)
    return nullptr;
  if (!x.empty())
    std::memcpy(result, x.data(), x.size());
  result[x.size()] = '\0';
  return result;
}

// -- types -------------------------------------------------------------------

/// One type in C.
struct c_type {
  /// Bytes of one element; 0 for a type that has no form in C.
  size_t size = 0;

  /// How the value is kept in C++.
  storage_class storage = storage_class::unknown;

  /// Whether a `pmix_value_t` has a pointer to it, not the element itself.
  bool by_pointer = false;

  /// Gives a zeroed element its initial values; null: zeros are right.
  void (*construct)(void*) = nullptr;

  /// Frees what an element owns, not the element; null: it owns nothing.
  void (*release)(void*) = nullptr;

  /// Given a bitwise copy, replaces what it owns by copies. On an error it owns
  /// nothing; null: elements own nothing.
  pmix_status_t (*own)(void*) = nullptr;
};

/// The row of a type; one of size 0 for a number that is no type in C.
const c_type& c_type_of(pmix_data_type_t x);

inline const c_type& c_type_of(data_type x) {
  return c_type_of(static_cast<pmix_data_type_t>(x));
}

// -- single objects ----------------------------------------------------------

// Null is accepted everywhere and does nothing.

/// Frees what `x` owns; `x` is then as newly constructed.
void release(pmix_value_t* x);
void release(pmix_info_t* x);
void release(pmix_data_array_t* x);
void release(pmix_app_t* x);
void release(pmix_query_t* x);
void release(pmix_pdata_t* x);
void release(pmix_regattr_t* x);
void release(pmix_proc_info_t* x);
void release(pmix_byte_object_t* x);
void release(pmix_envar_t* x);
void release(pmix_coord_t* x);
void release(pmix_geometry_t* x);
void release(pmix_device_t* x);
void release(pmix_device_distance_t* x);
void release(pmix_endpoint_t* x);
void release(pmix_node_pid_t* x);
void release(pmix_regex2_t* x);
void release(pmix_data_buffer_t* x);
void release(pmix_cpuset_t* x);
void release(pmix_topology_t* x);
void release(pmix_proc_stats_t* x);
void release(pmix_disk_stats_t* x);
void release(pmix_net_stats_t* x);
void release(pmix_node_stats_t* x);

/// Gives an element its initial values, whatever it was before.
void construct(pmix_data_type_t type, void* element);

/// Makes `to` a copy of `from`.
/// @returns PMIX_ERR_UNKNOWN_DATA_TYPE if `type` has no form in C,
///          PMIX_ERR_NOMEM without memory; `to` then owns nothing.
pmix_status_t copy(pmix_data_type_t type, void* to, const void* from);

// -- arrays ------------------------------------------------------------------

/// `n` initialized elements; null if there are none, if `type` has no form in
/// C, or without memory.
void* create_array(pmix_data_type_t type, size_t n);

/// Frees `n` elements and the array.
void free_array(pmix_data_type_t type, void* array, size_t n);

} // namespace troupe::c_api
