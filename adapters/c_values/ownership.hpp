#pragma once

#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/memory.hpp"
#include "adapters/c_values/owned.hpp"
#include "adapters/hwloc/handles.hpp"

// What is done with all that a structure owns (see owned.hpp).

namespace troupe::c_api {

inline bool is_hwloc(const char* source) {
  return source != nullptr && std::strncmp(source, "hwloc", 5) == 0;
}

inline size_t count_of(char* const* xs) {
  auto n = size_t{0};
  while (xs[n] != nullptr)
    ++n;
  return n;
}

/// Whether `pmix_value_t` has a pointer to an owned element that is there.
inline bool has_target(const pmix_value_t& x, const c_type& type) {
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

} // namespace troupe::c_api
