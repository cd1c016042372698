#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// waitid(2) that neither waits nor is interrupted.
/// @returns whether there is such a child; `info.si_pid` is 0 if it has not
///          ended.
bool look_for_child(idtype_t type, id_t id, siginfo_t& info, int options = 0);

/// @returns whether there is any, dead or alive.
bool has_children();

/// @returns whether one of our children, dead or alive, is in the group.
bool has_children_in(pid_t group);

/// A child process that somebody waits for himself. The process launcher adopts
/// orphans and reaps every child it does not know; this keeps it away from a
/// child that is not its own. Safe on any thread.
class awaited_child {
public:
  /// Calls `spawn`, which starts the child and returns its number, or -1 if it
  /// could not. The launcher does not look meanwhile.
  explicit awaited_child(const std::function<pid_t()>& spawn);

  awaited_child(const awaited_child&) = delete;

  awaited_child& operator=(const awaited_child&) = delete;

  /// The child has been reaped by then.
  ~awaited_child();

  pid_t pid() const noexcept {
    return pid_;
  }

  /// @returns whether somebody waits for `pid`.
  static bool exists(pid_t pid);

private:
  pid_t pid_;
};

/// @returns whether /proc tells the children of a process. Not every kernel is
///          built for it.
bool kernel_lists_children();

/// One line of /proc/<pid>/stat.
struct process_entry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';

  /// Ticks since boot: two processes with the same number differ here.
  uint64_t start_time = 0;

  bool is_alive() const {
    return state != 'Z' && state != 'X' && state != 'x';
  }
};

using process_map = std::map<pid_t, process_entry>;

/// The descendants of this process, whoever they belong to.
/// @param lists Whether the kernel's lists of children may be used; otherwise
///              all processes of the node are returned.
process_map list_descendants(bool lists = kernel_lists_children());

/// @returns whether the environment that `pid` started with has `assignment`,
///          as in `NAME=value`.
bool has_in_environment(pid_t pid, const std::string& assignment);

/// Signals `x`, and nobody who got its number meanwhile.
/// @returns whether it was there. Source: requirement X29.
bool signal_entry(const process_entry& x, int number);

/// In the environment of whatever starts daemons.
inline constexpr auto daemon_variable = "TROUPE_STARTS_DAEMON=1";

/// Sends SIGKILL to the living descendants of this process that belong to a
/// job: members of its process groups, those whose environment names its
/// namespace, and what descends from either. Descendants whose parent ended
/// count, because this process adopts them.
/// A child that was started as the way to a daemon on another node, with
/// `daemon_variable` in its environment, is nobody's, nor is what it starts:
/// where several nodes are one machine, the daemons and their jobs are
/// descendants.
/// @param groups Process groups of the job.
/// @param others Children that belong to other jobs.
/// @param lists  Whether the kernel's lists of children may be used; otherwise
///               all processes are looked at.
/// @returns how many there were; call again until there is none.
size_t kill_descendants(const std::string& nspace,
                        const std::set<pid_t>& groups,
                        const std::set<pid_t>& others,
                        bool lists = kernel_lists_children());

/// A process of a job, whose number is not that of anybody else now.
struct family_head {
  pid_t pid = -1;

  /// In the environment of what it started, even of those whose parents have
  /// ended: `NAME=value` of its namespace and its rank.
  std::string nspace;
  std::string rank;
};

/// Finds the living descendants of processes of jobs, wherever they are now:
/// in another process group or session, or orphaned; in the latter case they
/// are known by their environment, or by their group. Without the heads.
/// @returns them by head.
std::map<pid_t, std::vector<process_entry>>
find_families(const std::vector<family_head>& heads,
              const process_map& processes = list_descendants());

/// Whether a process has a socket open.
enum class holding : uint8_t {
  yes,
  no,

  /// The kernel does not let us look: the process has more rights than we.
  unknown,
};

/// Whether process `pid` has the socket with number `inode` open.
/// @param most Of how many of its descriptors, the lowest ones, to look at:
///             nobody but the process says how many it has.
/// Source: proc(5), `/proc/pid/fd`.
holding holds_socket(uint32_t pid, uint64_t inode, size_t most = SIZE_MAX);

/// Whether `pid` or what it has started has it: its descendants, and those of ours
/// whose parents have ended, which are its own as their environment says. Ours
/// are all that we or they have started, so that others do not get in. Reads
/// much of `/proc`: not for the loop.
/// @param variables What the environment of `pid` has and no other's, as in
///                  `NAME=value`.
holding family_holds_socket(uint32_t pid, uint64_t inode,
                            const std::vector<std::string>& variables);

/// The processes of this machine that have the socket with number `inode` open, as
/// far as the kernel lets us look. Reads much of `/proc`: not for the loop.
/// Source: proc(5), `/proc/pid/fd`.
std::vector<uint32_t> holders_of(uint64_t inode);

} // namespace troupe
