#pragma once

#include "actors/groups/group_names.hpp"
#include "config/defaults.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
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
    learn(std::move(id),
          std::make_shared<const std::vector<proc_id>>(std::move(members)));
  }

  void remove(std::string id) {
    const auto guard = std::lock_guard{mutex_};
    learn(std::move(id), nullptr);
  }

  /// One member is none any more; the ranks of those after it follow.
  void remove_member(const std::string& id, const proc_id& member) {
    const auto guard = std::lock_guard{mutex_};
    const auto* found = names_.find(id);
    if (found == nullptr)
      return;
    auto all = *found;
    all.erase(std::remove(all.begin(), all.end(), member), all.end());
    learn(id, std::make_shared<const std::vector<proc_id>>(std::move(all)));
  }

  /// These groups are invited to and not complete: they may not be named yet.
  /// Source: RFC0033, Group_invite.
  void keep_out(const std::vector<std::string>& ids) {
    const auto guard = std::lock_guard{mutex_};
    for (const auto& id : ids)
      if (names_.find(id) == nullptr)
        learn(id, nullptr);
  }

  /// @returns the members in the order of their ranks in the group.
  std::optional<std::vector<proc_id>> members(const std::string& id) const {
    const auto guard = std::lock_guard{mutex_};
    const auto* found = names_.find(id);
    return found != nullptr ? std::optional{*found} : std::nullopt;
  }

  /// Puts members in the place of groups: in a process, in processes, or in
  /// infos. Costs nothing in a process that is in no group.
  template <class T>
  caf::error spell_out(T& x) const {
    if (!is_used_)
      return {};
    const auto guard = std::lock_guard{mutex_};
    auto room = defaults::group_participants;
    return names_.spell_out(x, room);
  }

private:
  void learn(std::string id,
             std::shared_ptr<const std::vector<proc_id>> members) {
    names_.learn({std::move(id), std::move(members)});
    is_used_ = true;
  }

  std::atomic<bool> is_used_{false};
  mutable std::mutex mutex_;
  group_names names_; // guarded by mutex_
};

} // namespace troupe::c_api
