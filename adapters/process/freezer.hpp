#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The cgroup (version 2) of this process, if it may make others in it: it
/// belongs to our user, or was delegated to us by name, or is the top of what
/// we see, as in a container. A cgroup of somebody else's, such as systemd's or
/// a resource manager's, is left alone.
/// Source: cgroups(7), "Cgroups delegation"; systemd's CGROUP_DELEGATION.
std::optional<std::string> delegated_cgroup();

/// Has processes stand still without their noticing: the freezer of cgroups.
/// Makes a group for whoever is paused, and removes it when it is empty.
class freezer {
public:
  /// @param folder A cgroup in which groups may be made; none: nothing can be
  ///               frozen.
  explicit freezer(std::optional<std::string> folder);

  freezer(const freezer&) = delete;
  freezer& operator=(const freezer&) = delete;

  /// Thaws, and removes, all groups.
  ~freezer();

  explicit operator bool() const {
    return folder_.has_value();
  }

  /// Moves processes into a group, which is made if need be. Whatever they
  /// start is in it, too.
  /// @returns whether all that live are in it.
  bool add(const std::string& group, const std::vector<pid_t>& processes);

  /// Has all of a group stand still. They may still be killed.
  /// @returns whether that works here.
  bool freeze(const std::string& group);

  /// Has them go on.
  void thaw(const std::string& group);

  /// The group is not needed any more; it goes when its processes have.
  void remove(const std::string& group);

private:
  std::string path_of(const std::string& group) const;
  void remove_stale();

  std::optional<std::string> folder_;
  std::set<std::string> groups_;

  /// Not needed, and not empty when last looked at.
  std::set<std::string> stale_;
};

} // namespace troupe
