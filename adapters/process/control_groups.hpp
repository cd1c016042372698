#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// Where the control group of a process is seen.
struct control_group {
  /// The directory of the topmost group that is shown.
  std::string top;

  /// The directory of the group itself: `top`, or below it.
  std::string folder;
};

/// The control group of a process.
/// @param controller Of version 1, such as `memory`; empty: version 2.
/// @param process A directory like /proc/PID.
/// @returns nothing if there is no such hierarchy, or it is not mounted.
/// Source: cgroups(7), /proc/pid/cgroup; proc(5), /proc/pid/mountinfo.
std::optional<control_group>
find_control_group(const std::string& controller,
                   const std::string& process = "/proc/self");

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

/// What the kernel says of the memory of the control group of a process, of
/// either version. Reads files of the kernel, which does not wait.
/// Source: Linux, Documentation/admin-guide/cgroup-v1/memory and cgroup-v2.
class memory_group {
public:
  /// @param process A directory like /proc/PID.
  explicit memory_group(const std::string& process = "/proc/self");

  /// The least bytes that the group and those around it may have; nothing if
  /// none of them has a limit.
  std::optional<uint64_t> limit() const;

  /// How many processes of the group the kernel has killed for lack of memory;
  /// of the node, if the kernel does not tell of the group.
  uint64_t kills() const;

  /// In words: `the control group /sys/fs/cgroup/job, which may have 200 MiB`.
  std::string name() const;

private:
  /// Files with a number of bytes, or `max`.
  std::vector<std::string> limits_;

  /// With the number of kills, and of what: empty if of the node.
  std::string kills_;
  std::string folder_;
};

/// Has the kernel rather kill `pid`, and what it starts, than us when a control
/// group has no memory left: as if it had so many thousandths of the limit
/// more. One that is preferred more already stays so.
/// Source: proc(5), /proc/pid/oom_score_adj.
void prefer_to_kill(uint32_t pid, int thousandths);

/// The bytes of memory that there are for this process and what it starts: the
/// node's, or what its control group may have if that is less. 0: unknown.
uint64_t memory_limit();

} // namespace troupe
