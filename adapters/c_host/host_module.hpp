#pragma once

#include "messages/proc_id.hpp"
#include "messages/value.hpp"

#include <pmix_server.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Objects that hosts register with clients and get back in each up-call about
/// them. Safe on any thread.
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

/// Sources of input that the host has told to stop: their last push is answered
/// when they may go on, and until then they push no more. Plain data, on one
/// thread.
/// Source: OpenPMIx, `PMIx_server_IOF_flow_control`, PMIX_ERR_IOF_XOFF.
class input_gate {
public:
  /// Stops those that push, or lets them go on; what was said last counts.
  /// @param source `rank_wildcard`: all of the namespace; no namespace: all.
  void set(const proc_id& source, bool is_stopped);

  /// Calls back when `who` may go on: now, if nobody has stopped it.
  void when_open(const proc_id& who, std::function<void()> done);

  bool is_stopped(const proc_id& who) const;

private:
  /// Orders of the host, oldest first.
  std::vector<std::pair<proc_id, bool>> said_;

  std::vector<std::pair<proc_id, std::function<void()>>> waiting_;
};

/// The name of a server (char*): no two have the same.
inline constexpr std::string_view origin_key = "troupe.event.origin";

/// Marks an event that goes up to the host: its server's processes have it.
/// Some hosts, Open MPI's mpirun among them, give it back to where it comes
/// from. Other marks are taken out.
void mark_origin(std::vector<info>& infos, const std::string& server);

/// Takes all marks out of an event that the host raises.
/// @returns whether it went up from `server`.
bool take_origin(std::vector<info>& infos, const std::string& server);

} // namespace troupe
