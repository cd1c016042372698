// What libtroupe_server.so has in the place of a client: the way to it.

#include "adapters/loop/memory_reserve.hpp"
#include "c_api/halves/halves.hpp"

#include <string_view>

namespace troupe {

namespace {

c_api::client_half client;

} // namespace

// The process has one reserve.

void keep_memory_reserve(size_t bytes) noexcept {
  client.keep_memory_reserve(bytes);
}

bool is_memory_short() noexcept {
  return client.is_memory_short();
}

void refill_memory_reserve() noexcept {
  client.refill_memory_reserve();
}

namespace c_api {

library& library::instance() noexcept {
  return *client.lib;
}

} // namespace c_api

} // namespace troupe

using namespace troupe;
using namespace troupe::c_api;

extern "C" __attribute__((visibility("default"))) const server_half*
troupe_open_server_half(const client_half& x) noexcept {
  if (x.version != std::string_view{TROUPE_VERSION}
      || x.layout != shared_layout)
    return nullptr;
  // It serves one library: another libpmix.so.2 of this process may find it
  // loaded, by its name.
  static const auto* const owner = (client = x, x.lib);
  if (owner != x.lib)
    return nullptr;
#define TROUPE_ENTRY(result, name, parameters, arguments) ::name,
  static const server_half result = {
    TROUPE_FOR_EACH_SERVER_FUNCTION(TROUPE_ENTRY) c_api::become_server,
    c_api::cease_server, c_api::raise_from_host, c_api::ask_session};
  return &result;
}
