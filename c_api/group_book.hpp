#pragma once

#include "messages/proc_id.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::c_api {

/// The groups that this process is in. Safe on any thread.
class group_book {
public:
  void add(std::string id, std::vector<proc_id> members) {
    const auto guard = std::lock_guard{mutex_};
    groups_.insert_or_assign(std::move(id), std::move(members));
  }

  void remove(const std::string& id) {
    const auto guard = std::lock_guard{mutex_};
    groups_.erase(id);
  }

  /// @returns the members in the order of their ranks in the group.
  std::optional<std::vector<proc_id>> members(const std::string& id) const {
    const auto guard = std::lock_guard{mutex_};
    const auto i = groups_.find(id);
    return i != groups_.end() ? std::optional{i->second} : std::nullopt;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<proc_id>> groups_; // guarded by mutex_
};

} // namespace troupe::c_api
