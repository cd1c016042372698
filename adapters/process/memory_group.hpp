#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

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
