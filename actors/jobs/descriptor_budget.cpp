#include "actors/jobs/descriptor_budget.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

uint64_t descriptors_for(const start_process& what) {
  constexpr auto end_and_connection = uint64_t{2};
  // A terminal is one for output and errors, and another one for input.
  return end_and_connection + 1 + (what.with_stdin ? 1 : 0)
         + (what.merges_stderr || what.with_pty ? 0 : 1)
         + (what.with_stddiag ? 1 : 0) + (what.with_pmi1 ? 1 : 0);
}

descriptor_budget::descriptor_budget(std::function<descriptor_use()> look)
  : look_(std::move(look)) {
  // nop
}

caf::error descriptor_budget::take(const std::string& nspace,
                                   const std::vector<start_process>& processes,
                                   uint64_t files,
                                   const std::string& hostname) {
  const auto now = look_();
  if (taken_.empty())
    base_ = now.in_use;
  // Processes that were promised descriptors may not have them all yet.
  const auto used = std::max(now.in_use, base_ + total_);
  auto need = files;
  for (const auto& x : processes)
    need += descriptors_for(x);
  if (used + now.reserve + need > now.limit) {
    const auto count = processes.size();
    return make_error(
      status::sys_limits_files,
      "the limit of open files (ulimit -n) is " + std::to_string(now.limit)
        + " on " + hostname + ", and " + std::to_string(count) + " process"
        + (count == 1 ? " there needs " : "es there need ")
        + std::to_string(used + now.reserve + need) + " ("
        + std::to_string(need) + ", " + std::to_string(used) + " in use, "
        + std::to_string(now.reserve)
        + " in reserve); raise its hard value (ulimit -Hn), or start fewer");
  }
  taken_[nspace] += need;
  total_ += need;
  return {};
}

void descriptor_budget::give_back(const std::string& nspace) {
  const auto pos = taken_.find(nspace);
  if (pos == taken_.end())
    return;
  total_ -= pos->second;
  taken_.erase(pos);
}

} // namespace troupe
