// CAF and libevent, each loaded when a client needs it: CAF for its first error, handler
// or other actor, libevent for its thread. Of what the loader takes for a client half was
// CAF's, and its pages that relocations write are each client's own; most processes
// start, connect, meet and end without either.
//
// All functions of CAF are late (base/late_function.hpp; CMake makes a list of them),
// but for those that an error without a cause goes through.

#include "base/late_function.hpp"
#include "c_api/halves/own_cxx.hpp"

#include <caf/config.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

static_assert(CAF_VERSION == 1706);

// -- objects -----------------------------------------------------------------

// What our classes name of CAF's: what RTTI knows of their bases, and tables of
// functions that constructors in headers set. Nobody reads them before CAF is there:
// then they are filled with the bytes of its own. Types are compared by name.

/// Defines an object, by the name that the linker knows.
#define TROUPE_LATE_OBJECT(name, bytes)                                        \
  extern "C" __attribute__((visibility("hidden"),                              \
                            aligned(32))) char late_##name[bytes] asm(#name);  \
  char late_##name[bytes];
#include "c_api/halves/late_caf_objects.inc"
#undef TROUPE_LATE_OBJECT

namespace {

using troupe::late_function;

struct late_object {
  char* here;
  size_t size;
  const char* name;
};

#define TROUPE_LATE_OBJECT(name, bytes) {late_##name, bytes, #name},
const late_object objects[] = {
#include "c_api/halves/late_caf_objects.inc"
};
#undef TROUPE_LATE_OBJECT

std::atomic<void*> loaded_caf{nullptr};
std::atomic<void*> loaded_libevent_core{nullptr};
std::atomic<void*> loaded_libevent_pthreads{nullptr};

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "libpmix.so.2: %s: %s; install what it was built with\n",
               what, why != nullptr ? why : "not found");
  ::_exit(127); // As the loader does.
}

/// A descriptor that is there to be given back when none is left to load them with:
/// what it is open on, since others may close it and have its number then.
struct spare_descriptor {
  std::atomic<int> fd{-1};
  dev_t device = 0;
  ino_t file = 0;
};

spare_descriptor spare;

void keep_spare() {
  auto fd = ::memfd_create("troupe-spare", MFD_CLOEXEC);
  if (fd < 0)
    return;
  // Not in the place of standard streams that a program runs without.
  if (fd <= STDERR_FILENO) {
    const auto first = fd;
    fd = ::fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(first);
  }
  struct stat found;
  if (fd < 0 || ::fstat(fd, &found) != 0)
    return;
  spare.device = found.st_dev;
  spare.file = found.st_ino;
  spare.fd = fd;
}

void give_spare_back() {
  const auto fd = spare.fd.exchange(-1);
  struct stat found;
  if (fd >= 0 && ::fstat(fd, &found) == 0 && found.st_dev == spare.device
      && found.st_ino == spare.file)
    ::close(fd);
}

/// How often, and how long apart in microseconds, a library is asked for: there may be
/// no memory or descriptor for it just now.
constexpr int attempts = 100;
constexpr unsigned pause = 10'000;

/// Has whoever keeps memory for bad times give it back.
void free_memory() noexcept try {
  if (const auto handler = std::get_new_handler())
    handler();
} catch (const std::bad_alloc&) {
  // There is none any more.
}

/// Does not return without.
void* open_library(const char* name) {
  give_spare_back();
  for (auto i = 1;; ++i) {
    if (auto* x = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL))
      return x;
    if (i == attempts)
      give_up(name, ::dlerror());
    free_memory();
    ::usleep(pause);
  }
}

/// Does not return without. To look for a name takes memory, too.
void* find(void* library, const char* name) {
  for (auto i = 1;; ++i) {
    if (auto* x = ::dlsym(library, name))
      return x;
    if (i == attempts)
      give_up(name, ::dlerror());
    free_memory();
    ::usleep(pause);
  }
}

/// No lock: a forked child would find it taken. Two threads copy the same bytes.
void* load_caf() {
  if (auto* x = loaded_caf.load(std::memory_order_acquire))
    return x;
  auto* x = open_library(TROUPE_CAF_NAME);
  troupe::c_api::share_new_handler(x);
  for (const auto& y : objects) {
    std::memcpy(y.here, find(x, y.name), y.size);
  }
  loaded_caf.store(x, std::memory_order_release);
  return x;
}

/// @param which The one of libevent's libraries, of which each has names of its own: a
///              library that was loaded while memory was short may not know its others.
void* load_libevent(std::atomic<void*>& which, const char* name) {
  if (auto* x = which.load(std::memory_order_acquire))
    return x;
  auto* x = open_library(name);
  // Others may have to be loaded yet, with no descriptor left.
  auto* none = static_cast<void*>(nullptr);
  if (which.compare_exchange_strong(none, x)
      && (loaded_caf == nullptr || loaded_libevent_core == nullptr
          || loaded_libevent_pthreads == nullptr))
    keep_spare();
  return x;
}

void* load_libevent_core() {
  return load_libevent(loaded_libevent_core, TROUPE_LIBEVENT_CORE);
}

void* load_libevent_pthreads() {
  return load_libevent(loaded_libevent_pthreads, TROUPE_LIBEVENT_PTHREADS);
}

void* load_library_of(const char* function) {
  const auto begins = [function](std::string_view x) {
    return std::strncmp(function, x.data(), x.size()) == 0;
  };
  return begins("_Z")         ? load_caf()
         : begins("evthread") ? load_libevent_pthreads()
                              : load_libevent_core();
}

constexpr auto few_descriptors = rlim_t{256};

/// Where there may be nothing left to load them with when they are needed, since there
/// is a limit of memory or a low one of descriptors, they are loaded with the library.
__attribute__((constructor)) void load_early() {
  const auto at_most = [](auto which, rlim_t x) {
    auto limit = rlimit{};
    return ::getrlimit(which, &limit) == 0 && limit.rlim_cur <= x;
  };
  if (at_most(RLIMIT_AS, RLIM_INFINITY - 1)
      || at_most(RLIMIT_DATA, RLIM_INFINITY - 1)
      || at_most(RLIMIT_NOFILE, few_descriptors)) {
    load_caf();
    load_libevent_core();
    load_libevent_pthreads();
  } else {
    keep_spare();
  }
}

} // namespace

void* troupe_find_late(late_function* x) noexcept {
  auto* found = find(load_library_of(x->name), x->name);
  __atomic_store_n(&x->address, found, __ATOMIC_RELEASE);
  return found;
}

// -- functions ---------------------------------------------------------------

TROUPE_LATE_LOADER
#include "c_api/halves/late_caf_functions.inc"

// What our loop calls of libevent; the linker says if one is missing.
TROUPE_LATE_FUNCTION(event_active)
TROUPE_LATE_FUNCTION(event_add)
TROUPE_LATE_FUNCTION(event_base_free)
TROUPE_LATE_FUNCTION(event_base_loop)
TROUPE_LATE_FUNCTION(event_base_loopbreak)
TROUPE_LATE_FUNCTION(event_base_new_with_config)
TROUPE_LATE_FUNCTION(event_config_free)
TROUPE_LATE_FUNCTION(event_config_new)
TROUPE_LATE_FUNCTION(event_config_set_flag)
TROUPE_LATE_FUNCTION(event_del_noblock)
TROUPE_LATE_FUNCTION(event_free)
TROUPE_LATE_FUNCTION(event_get_fd)
TROUPE_LATE_FUNCTION(event_new)
TROUPE_LATE_FUNCTION(event_pending)
TROUPE_LATE_FUNCTION(evthread_use_pthreads)

// An error is a pointer to its cause, null if there is none: then it needs nobody.
// client_half.cpp knows whether it is as large.

namespace {

late_function copy_error = {nullptr, "_ZN3caf5errorC1ERKS0_"};
late_function assign_error = {nullptr, "_ZN3caf5erroraSERKS0_"};
late_function destroy_error = {nullptr, "_ZN3caf5errorD1Ev"};

template <class Result, class... Ts>
Result call(late_function& x, Ts... xs) {
  auto* address = __atomic_load_n(&x.address, __ATOMIC_ACQUIRE);
  if (address == nullptr)
    address = troupe_find_late(&x);
  return reinterpret_cast<Result (*)(Ts...)>(address)(xs...);
}

} // namespace

/// Declares a function by the name that the linker knows.
#define TROUPE_NAMED(symbol)                                                   \
  asm(symbol) __attribute__((visibility("hidden"), used))

extern "C" {

void error_default(void** x) TROUPE_NAMED("_ZN3caf5errorC1Ev");
void error_none(void** x) TROUPE_NAMED("_ZN3caf5errorC1ENS_6none_tE");
void error_move(void** x, void** from) TROUPE_NAMED("_ZN3caf5errorC1EOS0_");
void* error_take(void** x, void** from) TROUPE_NAMED("_ZN3caf5erroraSEOS0_");
void error_copy(void** x, void** from) TROUPE_NAMED("_ZN3caf5errorC1ERKS0_");
void* error_assign(void** x, void** from) TROUPE_NAMED("_ZN3caf5erroraSERKS0_");
void error_end(void** x) TROUPE_NAMED("_ZN3caf5errorD1Ev");

/// caf::error::error()
void error_default(void** x) {
  *x = nullptr;
}

/// caf::error::error(caf::none_t)
void error_none(void** x) {
  *x = nullptr;
}

/// caf::error::error(caf::error&&)
void error_move(void** x, void** from) {
  *x = std::exchange(*from, nullptr);
}

/// caf::error::operator=(caf::error&&)
void* error_take(void** x, void** from) {
  std::swap(*x, *from);
  return x;
}

/// caf::error::error(const caf::error&)
void error_copy(void** x, void** from) {
  *x = nullptr;
  if (*from != nullptr)
    call<void>(copy_error, x, from);
}

/// caf::error::operator=(const caf::error&)
void* error_assign(void** x, void** from) {
  return *x == nullptr && *from == nullptr ? x
                                           : call<void*>(assign_error, x, from);
}

/// caf::error::~error()
void error_end(void** x) {
  if (*x != nullptr)
    call<void>(destroy_error, x);
}

} // extern "C"
