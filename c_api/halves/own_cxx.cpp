// What stands between the C++ library inside the client's half and others of the
// process. The half has one of its own since most programs are in C, and a third of what
// the loader took for us was libstdc++'s (docs/decisions/0017); CAF and the server's half
// bring that when they are loaded. Objects go to and fro, so there is one allocator: the
// operators that the process has when we are loaded, those of C++ or, in a program in C, of
// a sanitizer; else malloc, which is what a libstdc++ that comes later calls.

#include "c_api/halves/own_cxx.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

/// As the linker knows them.
constexpr auto allocate_name = "_Znwm";
constexpr auto release_name = "_ZdlPv";
constexpr auto set_handler_name = "_ZSt15set_new_handlerPFvvE";
constexpr auto get_handler_name = "_ZSt15get_new_handlerv";

/// What CAF and the server's half bring, if the process has it not.
constexpr auto standard_library = "libstdc++.so.6";

struct cxx_library {
  void* (*allocate)(size_t) = nullptr;
  void (*release)(void*) = nullptr;
  std::new_handler (*set_handler)(std::new_handler) = nullptr;
  std::new_handler (*get_handler)() = nullptr;
};

template <class Function>
void find(Function*& x, void* where, const char* name) noexcept {
  x = reinterpret_cast<Function*>(::dlsym(where, name));
}

cxx_library find_program() noexcept {
  auto result = cxx_library{};
  find(result.allocate, RTLD_DEFAULT, allocate_name);
  // Most are in C, and each name that is not there costs an error's text.
  if (result.allocate == nullptr) {
    ::dlerror();
    return result;
  }
  find(result.release, RTLD_DEFAULT, release_name);
  if (result.release == nullptr)
    result.allocate = nullptr;
  find(result.set_handler, RTLD_DEFAULT, set_handler_name);
  find(result.get_handler, RTLD_DEFAULT, get_handler_name);
  if (result.set_handler == nullptr || result.get_handler == nullptr)
    result.set_handler = nullptr;
  // What is missing is no error of the program's.
  ::dlerror();
  return result;
}

/// That of the program; without functions that it has none of: operators may be there
/// without a handler. Looked for before the first allocation, and never again.
const cxx_library& of_program() noexcept {
  static const auto result = find_program();
  return result;
}

/// Where the process finds its operator new in a library, or in its global scope.
/// @param name Of a library that is loaded; null: the global scope.
decltype(cxx_library::allocate) allocate_of(const char* name) noexcept {
  auto result = decltype(cxx_library::allocate){};
  if (auto* where = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
    find(result, where, allocate_name);
    ::dlclose(where);
  }
  return result;
}

/// Whether two functions are of one library.
bool are_together(const void* x, const void* y) noexcept {
  auto of_x = Dl_info{};
  auto of_y = Dl_info{};
  return x != nullptr && y != nullptr && ::dladdr(x, &of_x) != 0
         && ::dladdr(y, &of_y) != 0 && of_x.dli_fbase == of_y.dli_fbase;
}

/// A plugin that was opened for itself alone, and has operators of its own, lends them
/// to us and to the libstdc++ that it uses, but not to what is loaded later: CAF would
/// give back to one allocator what it has of the other. So all find them from now on,
/// as if the plugin had been opened with RTLD_GLOBAL. It stays loaded.
void share_operators(const cxx_library& x) noexcept {
  auto where = Dl_info{};
  if (
    x.allocate == nullptr || x.allocate == allocate_of(nullptr)
    || x.allocate == allocate_of(standard_library)
    // A whole C++ library inside of the plugin takes memory where the others do.
    || are_together(reinterpret_cast<const void*>(x.allocate),
                    reinterpret_cast<const void*>(x.set_handler))
    || ::dladdr(reinterpret_cast<const void*>(x.allocate), &where) == 0
    || where.dli_fname == nullptr)
    return;
  ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

__attribute__((constructor(101))) void look_early() {
  share_operators(of_program());
  // What is not found is no error of the program's.
  ::dlerror();
}

std::atomic<std::new_handler> own_handler{nullptr};
std::atomic<decltype(cxx_library::set_handler)> set_later{nullptr};

} // namespace

namespace troupe::c_api {

void share_new_handler(void* library) noexcept {
  if (of_program().set_handler != nullptr)
    return;
  auto set = decltype(cxx_library::set_handler){};
  find(set, library, set_handler_name);
  if (set == nullptr)
    return;
  set_later = set;
  if (const auto x = own_handler.load())
    set(x);
}

} // namespace troupe::c_api

// -- what our objects call instead of the library's own --------------------------------

namespace std {

// It is with them in the library.
const nothrow_t nothrow = nothrow_t{};

new_handler set_new_handler(new_handler x) noexcept {
  if (const auto& program = of_program(); program.set_handler != nullptr)
    return program.set_handler(x);
  const auto before = own_handler.exchange(x);
  if (const auto set = set_later.load())
    set(x);
  return before;
}

new_handler get_new_handler() noexcept {
  if (const auto& program = of_program(); program.set_handler != nullptr)
    return program.get_handler();
  return own_handler.load();
}

} // namespace std

void* operator new(size_t size) {
  if (const auto& program = of_program(); program.allocate != nullptr)
    return program.allocate(size);
  for (;;) {
    if (auto* x = std::malloc(size == 0 ? 1 : size))
      return x;
    const auto handler = std::get_new_handler();
    if (handler == nullptr)
      throw std::bad_alloc{};
    handler();
  }
}

void operator delete(void* x) noexcept {
  if (const auto& program = of_program(); program.allocate != nullptr)
    program.release(x);
  else
    std::free(x);
}

void operator delete(void* x, size_t) noexcept {
  operator delete(x);
}
