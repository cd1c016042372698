#include "adapters/process/descendants.hpp"

#include "adapters/process/process_entries.hpp"

#include <signal.h>
#include <unistd.h>

#include <map>
#include <vector>

namespace troupe {

namespace {

/// Decides who belongs to a job.
class membership {
public:
  membership(const process_map& processes, const std::string& nspace,
             const std::set<pid_t>& groups, const std::set<pid_t>& others)
    : processes_(processes), assignment_("PMIX_NAMESPACE=" + nspace),
      groups_(groups), others_(others) {
    // nop
  }

  bool contains(const process_entry& x) {
    return verdict_on(x) == verdict::member;
  }

private:
  enum class verdict { foreign, descendant, member };

  verdict verdict_on(const process_entry& x) {
    if (const auto known = known_.find(x.pid); known != known_.end())
      return known->second;
    // Also ends the recursion if numbers were reused while we read.
    known_[x.pid] = verdict::foreign;
    const auto result = decide(x);
    known_[x.pid] = result;
    return result;
  }

  verdict decide(const process_entry& x) {
    const auto is_child = x.parent == self_;
    if (is_child && others_.count(x.pid) > 0)
      return verdict::descendant;
    if (is_child && groups_.count(x.group) == 0
        && has_in_environment(x.pid, daemon_variable))
      return verdict::foreign;
    auto inherited = verdict::descendant;
    if (!is_child) {
      const auto parent = processes_.find(x.parent);
      if (parent == processes_.end())
        return verdict::foreign;
      inherited = verdict_on(parent->second);
    }
    if (inherited != verdict::descendant)
      return inherited;
    return groups_.count(x.group) > 0 || has_in_environment(x.pid, assignment_)
             ? verdict::member
             : verdict::descendant;
  }

  const process_map& processes_;
  const std::string assignment_;
  const std::set<pid_t>& groups_;
  const std::set<pid_t>& others_;
  const pid_t self_ = getpid();
  std::map<pid_t, verdict> known_;
};

} // namespace

size_t kill_descendants(const std::string& nspace,
                        const std::set<pid_t>& groups,
                        const std::set<pid_t>& others, bool lists) {
  const auto processes = list_descendants(lists);
  membership job{processes, nspace, groups, others};
  std::vector<process_entry> found;
  for (const auto& [pid, entry] : processes)
    if (pid != getpid() && entry.is_alive() && job.contains(entry))
      found.push_back(entry);
  for (const auto& x : found)
    signal_entry(x, SIGKILL);
  return found.size();
}

} // namespace troupe
