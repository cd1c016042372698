// What few clients call, by the names that the libraries give: a library is
// loaded by the first call of one of its functions. Most processes start, connect
// and never ask for processors, munge or compressed text, and the loader takes
// its time for each library.
//
// By name and not by a table of our own: inline functions in hwloc.h call these,
// and the adapters are the same in libraries and programs that link them.

#include <dlfcn.h>
#include <hwloc.h>
#include <hwloc/export.h>
#include <munge.h>
#include <zlib.h>

#include <atomic>
#include <cstdio>

static_assert(HWLOC_API_VERSION >> 16 == 2, "libhwloc.so.15 is hwloc 2");

namespace {

/// A library that stays once it is loaded. No lock: a forked child would find it
/// taken.
struct late_library {
  const char* name;
  int flags;
  std::atomic<void*> handle{nullptr};
  std::atomic<bool> failed{false};

  /// Null after a line on standard error.
  void* load() noexcept {
    if (auto* x = handle.load(std::memory_order_acquire))
      return x;
    auto* x = ::dlopen(name, flags);
    if (x != nullptr)
      handle = x;
    else if (!failed.exchange(true))
      std::fprintf(stderr, "libpmix.so.2: %s; install that library\n",
                   ::dlerror());
    return x;
  }
};

// Plugins of hwloc look for its functions among those of the process.
late_library hwloc_library = {"libhwloc.so.15", RTLD_LAZY | RTLD_GLOBAL};
late_library munge_library = {"libmunge.so.2", RTLD_LAZY | RTLD_LOCAL};
late_library zlib_library = {"libz.so.1", RTLD_LAZY | RTLD_LOCAL};

template <class Function>
Function* find(std::atomic<Function*>& known, late_library& library,
               const char* name) noexcept {
  if (auto* x = known.load(std::memory_order_acquire))
    return x;
  auto* from = library.load();
  auto* x = from != nullptr ? reinterpret_cast<Function*>(::dlsym(from, name))
                            : nullptr;
  if (from != nullptr && x == nullptr && !library.failed.exchange(true))
    std::fprintf(stderr,
                 "libpmix.so.2: %s has no %s; install the release of that "
                 "library that it was built with\n",
                 library.name, name);
  known = x;
  return x;
}

} // namespace

/// Defines a function of a library, and what it gives without that.
#define TROUPE_LATE(library, result, name, parameters, arguments, otherwise)   \
  result name parameters {                                                     \
    static std::atomic<decltype(&::name)> known{nullptr};                      \
    const auto f = find(known, library, #name);                                \
    return f != nullptr ? f arguments : otherwise;                             \
  }

#define TROUPE_HWLOC(result, name, parameters, arguments, otherwise)           \
  TROUPE_LATE(hwloc_library, result, name, parameters, arguments, otherwise)

extern "C" {

TROUPE_HWLOC(hwloc_bitmap_t, hwloc_bitmap_alloc, (void), (), nullptr)
TROUPE_HWLOC(hwloc_bitmap_t, hwloc_bitmap_dup, (hwloc_const_bitmap_t x), (x),
             nullptr)
TROUPE_HWLOC(int, hwloc_bitmap_intersects,
             (hwloc_const_bitmap_t x, hwloc_const_bitmap_t y), (x, y), 0)
TROUPE_HWLOC(int, hwloc_bitmap_isfull, (hwloc_const_bitmap_t x), (x), 0)
TROUPE_HWLOC(int, hwloc_bitmap_isincluded,
             (hwloc_const_bitmap_t x, hwloc_const_bitmap_t y), (x, y), 0)
TROUPE_HWLOC(int, hwloc_bitmap_iszero, (hwloc_const_bitmap_t x), (x), 1)
TROUPE_HWLOC(int, hwloc_bitmap_list_asprintf,
             (char** to, hwloc_const_bitmap_t x), (to, x), -1)
TROUPE_HWLOC(int, hwloc_bitmap_list_sscanf,
             (hwloc_bitmap_t x, const char* text), (x, text), -1)
TROUPE_HWLOC(int, hwloc_bitmap_set, (hwloc_bitmap_t x, unsigned id), (x, id),
             -1)
TROUPE_HWLOC(hwloc_obj_type_t, hwloc_get_depth_type,
             (hwloc_topology_t x, int depth), (x, depth),
             static_cast<hwloc_obj_type_t>(-1))
TROUPE_HWLOC(hwloc_obj_t, hwloc_get_obj_by_depth,
             (hwloc_topology_t x, int depth, unsigned i), (x, depth, i),
             nullptr)
TROUPE_HWLOC(int, hwloc_get_type_depth,
             (hwloc_topology_t x, hwloc_obj_type_t type), (x, type),
             HWLOC_TYPE_DEPTH_UNKNOWN)
TROUPE_HWLOC(int, hwloc_topology_dup,
             (hwloc_topology_t * to, hwloc_topology_t x), (to, x), -1)
TROUPE_HWLOC(int, hwloc_topology_export_xmlbuffer,
             (hwloc_topology_t x, char** to, int* size, unsigned long flags),
             (x, to, size, flags), -1)
TROUPE_HWLOC(int, hwloc_topology_get_depth, (hwloc_topology_t x), (x), 0)
TROUPE_HWLOC(int, hwloc_topology_init, (hwloc_topology_t * to), (to), -1)
TROUPE_HWLOC(int, hwloc_topology_load, (hwloc_topology_t x), (x), -1)
TROUPE_HWLOC(int, hwloc_topology_set_flags,
             (hwloc_topology_t x, unsigned long flags), (x, flags), -1)
TROUPE_HWLOC(int, hwloc_topology_set_io_types_filter,
             (hwloc_topology_t x, hwloc_type_filter_e filter), (x, filter), -1)
TROUPE_HWLOC(int, hwloc_topology_set_xmlbuffer,
             (hwloc_topology_t x, const char* text, int size), (x, text, size),
             -1)
TROUPE_HWLOC(void, hwloc_topology_destroy, (hwloc_topology_t x), (x), void())
TROUPE_HWLOC(void, hwloc_free_xmlbuffer, (hwloc_topology_t x, char* text),
             (x, text), void())

// Null is freed often, by processes that have no set.
void hwloc_bitmap_free(hwloc_bitmap_t x) {
  static std::atomic<decltype(&::hwloc_bitmap_free)> known{nullptr};
  if (x == nullptr)
    return;
  if (const auto f = find(known, hwloc_library, "hwloc_bitmap_free"))
    f(x);
}

TROUPE_LATE(munge_library, munge_err_t, munge_encode,
            (char** to, munge_ctx_t context, const void* data, int size),
            (to, context, data, size), EMUNGE_SNAFU)
TROUPE_LATE(munge_library, const char*, munge_strerror, (munge_err_t code),
            (code), "libmunge.so.2 cannot be loaded")

TROUPE_LATE(zlib_library, int, inflateInit_,
            (z_streamp x, const char* version, int size), (x, version, size),
            Z_VERSION_ERROR)
TROUPE_LATE(zlib_library, int, inflate, (z_streamp x, int flush), (x, flush),
            Z_STREAM_ERROR)
TROUPE_LATE(zlib_library, int, inflateEnd, (z_streamp x), (x), Z_STREAM_ERROR)
TROUPE_LATE(zlib_library, uLong, compressBound, (uLong size), (size), size)
TROUPE_LATE(zlib_library, int, compress2,
            (Bytef * to, uLongf* size, const Bytef* from, uLong n, int level),
            (to, size, from, n, level), Z_VERSION_ERROR)

} // extern "C"
