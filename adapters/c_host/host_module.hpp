#pragma once

#include "messages/proc_id.hpp"

#include <pmix_server.h>

#include <map>
#include <memory>
#include <mutex>

namespace troupe {

/// Bytes of a `pmix_server_module_t` of the releases 4 and 5. All releases
/// agree on its first 28 entries; 5.0 has `session_control` as the 29th, where
/// 6.0 has `tool_connected2`.
inline constexpr size_t module_size_4 = 224;
inline constexpr size_t module_size_5 = 232;

/// A copy of a host's function table.
/// @param module May be null: a host that offers nothing.
/// @param size   What the host's header says; nothing beyond is read, nor
///               anything beyond what we know.
pmix_server_module_t copy_module(const void* module, size_t size);

/// What hosts register with a client and get back in each up-call about it.
/// Safe on any thread.
class server_objects {
public:
  void set(const proc_id& proc, void* object);

  void forget(const proc_id& proc);

  void forget(const std::string& nspace);

  /// Null for a process that is not known.
  void* get(const proc_id& proc) const;

private:
  mutable std::mutex mutex_;
  std::map<proc_id, void*> objects_; // guarded by mutex_
};

} // namespace troupe
