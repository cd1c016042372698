#pragma once

#include "actors/data/job_memory.hpp"
#include "messages/proc_id.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Heartbeats that processes leave in the memory that they share with their
/// server: who monitors them looks there when a beat is due, and nobody reads
/// any message. The SERVER keeps it up to date, the MONITOR DESK looks.
/// For the thread of both.
class job_beats {
public:
  void add(const std::string& nspace, std::weak_ptr<job_memory> memory) {
    memories_[nspace] = std::move(memory);
  }

  void remove(const std::string& nspace) {
    memories_.erase(nspace);
  }

  /// See `job_memory::last_beat`; 0 for one that shares no memory.
  uint64_t last(const proc_id& proc) const {
    const auto memory = find(proc);
    return memory ? memory->last_beat(proc.rank) : 0;
  }

  /// See `job_memory::want_beat`.
  void want(const proc_id& proc, bool is_wanted) const {
    if (const auto memory = find(proc))
      memory->want_beat(proc.rank, is_wanted);
  }

private:
  std::shared_ptr<job_memory> find(const proc_id& proc) const {
    const auto i = memories_.find(proc.nspace);
    return i != memories_.end() ? i->second.lock() : nullptr;
  }

  std::map<std::string, std::weak_ptr<job_memory>> memories_;
};

} // namespace troupe
