#pragma once

#include "messages/proc_id.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
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

  /// One member is none any more; the ranks of those after it follow.
  void remove_member(const std::string& id, const proc_id& member) {
    const auto guard = std::lock_guard{mutex_};
    const auto i = groups_.find(id);
    if (i == groups_.end())
      return;
    auto& all = i->second;
    all.erase(std::remove(all.begin(), all.end(), member), all.end());
  }

  /// The groups that we are invited to, or invite to, and that are not
  /// complete.
  void set_open(const std::vector<std::string>& ids) {
    const auto guard = std::lock_guard{mutex_};
    open_ = {ids.begin(), ids.end()};
  }

  /// Whether the group may not be named yet.
  /// Source: RFC0033, Group_invite: not before PMIX_GROUP_CONSTRUCT_COMPLETE.
  bool is_open(const std::string& id) const {
    const auto guard = std::lock_guard{mutex_};
    return open_.count(id) > 0 && groups_.count(id) == 0;
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
  std::set<std::string> open_;                         // guarded by mutex_
};

} // namespace troupe::c_api
