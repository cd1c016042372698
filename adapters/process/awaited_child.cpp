#include "adapters/process/awaited_child.hpp"

#include <mutex>
#include <set>

namespace troupe {

namespace {

// Children belong to the process, so does the list of them.
std::mutex mutex;
std::set<pid_t> children; // guarded by mutex

} // namespace

awaited_child::awaited_child(const std::function<pid_t()>& spawn) {
  const auto guard = std::lock_guard{mutex};
  pid_ = spawn();
  if (pid_ > 0)
    children.insert(pid_);
}

awaited_child::~awaited_child() {
  const auto guard = std::lock_guard{mutex};
  children.erase(pid_);
}

bool awaited_child::exists(pid_t pid) {
  const auto guard = std::lock_guard{mutex};
  return children.count(pid) > 0;
}

} // namespace troupe
