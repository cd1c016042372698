// What libpmix.so.2 has in the place of its server: the way to it.

#include "adapters/loop/memory_reserve.hpp"
#include "c_api/halves/halves.hpp"
#include "c_api/halves/own_cxx.hpp"
#include "c_api/helpers/failure.hpp"

#include <caf/error.hpp>

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace troupe::c_api {

namespace {

// As late_caf.cpp has it.
static_assert(sizeof(caf::error) == sizeof(void*));

std::atomic<const server_half*> loaded{nullptr};

const client_half own_half = {TROUPE_VERSION,  shared_layout,
                              nullptr,         keep_memory_reserve,
                              is_memory_short, refill_memory_reserve};

/// The directory of this library, symbolic links followed, with a slash.
std::string own_directory() {
  auto own = Dl_info{};
  if (::dladdr(&own_half, &own) == 0 || own.dli_fname == nullptr)
    return {};
  const auto path = std::unique_ptr<char, void (*)(void*)>{
    ::realpath(own.dli_fname, nullptr), std::free};
  const auto name = std::string{path ? path.get() : own.dli_fname};
  const auto slash = name.rfind('/');
  return slash != std::string::npos ? name.substr(0, slash + 1) : "";
}

const server_half* say(const std::string& why) {
  std::fprintf(stderr, "libpmix.so.2: cannot load its server: %s\n",
               why.c_str());
  return nullptr;
}

const server_half* load() {
  // Next to us; or where we were built or installed to, if this file has been
  // put into the place of another.
  const auto path = own_directory() + server_half_name;
  auto* found = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* text = found == nullptr ? ::dlerror() : nullptr;
  const auto why = std::string{text != nullptr ? text : ""};
  if (found == nullptr)
    found = ::dlopen(server_half_name, RTLD_NOW | RTLD_LOCAL);
  if (found == nullptr)
    return say(why);
#ifdef TROUPE_OWN_CXX
  share_new_handler(found);
#endif
  auto* open =
    reinterpret_cast<open_server_half*>(::dlsym(found, open_server_half_name));
  auto own = own_half;
  own.lib = &library::instance();
  const auto* result = open != nullptr ? open(own) : nullptr;
  return result != nullptr ? result
                           : say("it is of another release, or of another "
                                 "libpmix.so.2; install both of one release");
}

/// The server's half; null if it cannot be loaded.
const server_half* other_half() noexcept try {
  if (const auto* x = loaded.load(std::memory_order_acquire))
    return x;
  // No lock of ours: a forked child would find it taken.
  const auto* x = load();
  if (x != nullptr)
    loaded = x;
  return x;
} catch (...) {
  status_of_exception();
  return nullptr;
}

} // namespace

pmix_status_t become_server(library& lib, const pmix_server_module_t* module) {
  const auto* x = other_half();
  return x != nullptr ? x->become_server(lib, module)
                      : PMIX_ERR_OUT_OF_RESOURCE;
}

void cease_server(library& lib) {
  if (const auto* x = loaded.load())
    x->cease_server(lib);
}

bool raise_from_host(event what) {
  const auto* x = loaded.load();
  return x != nullptr && x->raise_from_host(std::move(what));
}

pmix_status_t ask_session(wire::request what, link::on_outcome done) {
  const auto* x = loaded.load();
  return x != nullptr ? x->ask_session(std::move(what), std::move(done))
                      : PMIX_ERR_UNREACH;
}

} // namespace troupe::c_api

using namespace troupe::c_api;

namespace {

/// Whether a function may load the other half: not in a forked child, where a
/// lock may be held for ever.
constexpr bool may_load(std::string_view function) {
  return function != "PMIx_server_setup_fork";
}

template <class Result, class... Ts>
Result no_server(pmix_status_t code,
                 [[maybe_unused]] const std::tuple<Ts...>& arguments) {
  // Those without a result end with a callback and its data.
  if constexpr (!std::is_void_v<Result>)
    return code;
  else if (const auto f = std::get<sizeof...(Ts) - 2>(arguments))
    f(code, std::get<sizeof...(Ts) - 1>(arguments));
}

} // namespace

#define TROUPE_FORWARD(result, name, parameters, arguments)                    \
  result name parameters {                                                     \
    constexpr auto loads = may_load(#name);                                    \
    const auto* half = loads ? other_half() : loaded.load();                   \
    return half != nullptr ? half->name arguments                              \
                           : no_server<result>(                                \
                             loads ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_INIT, \
                             std::make_tuple arguments);                       \
  }
TROUPE_FOR_EACH_SERVER_FUNCTION(TROUPE_FORWARD)
