#include "adapters/process/process_family.hpp"

#include <unistd.h>

namespace troupe {

namespace {

/// Finds out to whose family a process belongs.
class family_finder {
public:
  family_finder(const std::vector<family_head>& heads,
                const process_map& processes)
    : heads_(heads), processes_(processes) {
    for (const auto& x : heads)
      known_[x.pid] = x.pid;
  }

  /// @returns the number of the head; 0 if it belongs to none.
  pid_t head_of(const process_entry& x) {
    if (const auto known = known_.find(x.pid); known != known_.end())
      return known->second;
    // Also ends the recursion if numbers were reused while we read.
    known_[x.pid] = 0;
    auto result = pid_t{0};
    if (x.parent == self_) {
      result = head_of_orphan(x);
    } else if (const auto parent = processes_.find(x.parent);
               parent != processes_.end()) {
      result = head_of(parent->second);
    }
    known_[x.pid] = result;
    return result;
  }

private:
  pid_t head_of_orphan(const process_entry& x) const {
    for (const auto& head : heads_)
      if (x.group == head.pid)
        return head.pid;
    for (const auto& head : heads_)
      if (has_in_environment(x.pid, head.rank)
          && has_in_environment(x.pid, head.nspace))
        return head.pid;
    return 0;
  }

  const std::vector<family_head>& heads_;
  const process_map& processes_;
  const pid_t self_ = getpid();
  std::map<pid_t, pid_t> known_;
};

} // namespace

std::map<pid_t, std::vector<process_entry>>
find_families(const std::vector<family_head>& heads,
              const process_map& processes) {
  auto result = std::map<pid_t, std::vector<process_entry>>{};
  auto finder = family_finder{heads, processes};
  for (const auto& [pid, entry] : processes)
    if (entry.is_alive())
      if (const auto head = finder.head_of(entry); head != 0 && head != pid)
        result[head].push_back(entry);
  return result;
}

} // namespace troupe
