#include "adapters/c_host/host_module.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace troupe {

static_assert(offsetof(pmix_server_module_t, client_connected2)
                == module_size_4 - sizeof(void*),
              "the first 28 entries are those of release 4");

pmix_server_module_t copy_module(const void* module, size_t size) {
  auto result = pmix_server_module_t{};
  if (module == nullptr)
    return result;
  if (size != module_size_5) {
    std::memcpy(&result, module, std::min(size, sizeof(result)));
    return result;
  }
  std::memcpy(&result, module, module_size_4);
  std::memcpy(&result.session_control,
              static_cast<const char*>(module) + module_size_4,
              sizeof(result.session_control));
  return result;
}

void server_objects::set(const proc_id& proc, void* object) {
  const auto guard = std::lock_guard{mutex_};
  objects_[proc] = object;
}

void server_objects::forget(const proc_id& proc) {
  const auto guard = std::lock_guard{mutex_};
  objects_.erase(proc);
}

void server_objects::forget(const std::string& nspace) {
  const auto guard = std::lock_guard{mutex_};
  auto i = objects_.lower_bound({nspace, 0});
  while (i != objects_.end() && i->first.nspace == nspace)
    i = objects_.erase(i);
}

void* server_objects::get(const proc_id& proc) const {
  const auto guard = std::lock_guard{mutex_};
  const auto i = objects_.find(proc);
  return i != objects_.end() ? i->second : nullptr;
}

} // namespace troupe
