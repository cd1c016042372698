#include "adapters/process/process_family.hpp"
#include "adapters/process/process_table.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

// What is done to processes on behalf of others while they run.

namespace troupe {

namespace {

/// A process may start others while we look for those to stop: we look again
/// until there is none, or so often.
constexpr auto looks = 8;

bool stands_still(const process_entry& x) {
  return x.state == 'T' || x.state == 't';
}

} // namespace

procs_controlled process_table::control(const control_procs& what) {
  // Whoever asks who runs has heard before of those that do not.
  if (what.action == control_action::signal && what.signal == 0)
    reap_children();
  auto result = procs_controlled{};
  auto found = std::vector<record*>{};
  for (const auto rank : what.ranks)
    if (auto* x = running({what.nspace, rank})) {
      found.push_back(x);
      result.ranks.push_back(rank);
    }
  switch (what.action) {
    case control_action::signal:
      for (auto* x : found)
        signal_on_request(*x, what.signal);
      break;
    case control_action::pause:
      pause(found);
      break;
    case control_action::resume:
      resume(found);
      break;
    case control_action::terminate:
      for (auto* x : found)
        signal_group(*x, SIGTERM);
      // A stopped process takes no signal until it goes on.
      resume(found);
      break;
    case control_action::kill:
      kill_families(found);
      break;
  }
  return result;
}

/// Whoever stops processes by a signal wants them to be taken for paused.
void process_table::signal_on_request(record& x, int number) {
  if (number == 0)
    return;
  if (number == SIGWINCH && x.terminal)
    if (const auto size = settings_.window()) {
      // The terminal tells those in its foreground.
      ioctl(x.terminal.get(), TIOCSWINSZ, &*size);
      return;
    }
  signal_group(x, number);
  if (number == SIGSTOP)
    x.is_paused = true;
  else if (number == SIGCONT)
    resume({&x});
}

std::map<pid_t, std::vector<process_entry>>
process_table::families_of(const std::vector<record*>& xs) const {
  auto heads = std::vector<family_head>{};
  for (const auto* x : xs)
    heads.push_back({x->pid, "PMIX_NAMESPACE=" + x->proc.nspace,
                     "PMIX_RANK=" + std::to_string(x->proc.rank)});
  return find_families(heads);
}

void process_table::pause(const std::vector<record*>& xs) {
  auto others = std::vector<record*>{};
  for (auto* x : xs)
    if (!x->is_paused) {
      x->is_paused = true;
      others.push_back(x);
    }
  if (freezer_)
    others = freeze(others);
  if (!others.empty())
    stop(others);
}

/// @returns those that could not be frozen.
std::vector<process_table::record*>
process_table::freeze(const std::vector<record*>& xs) {
  auto failed = std::vector<record*>{};
  auto moved = std::map<record*, std::vector<pid_t>>{};
  for (auto* x : xs) {
    x->frozen_group =
      "troupe." + std::to_string(getpid()) + "." + std::to_string(x->pid);
    if (freezer_.add(x->frozen_group, {x->pid}))
      moved[x] = {x->pid};
    else
      failed.push_back(x);
  }
  for (int i = 0; i < looks && !moved.empty(); ++i) {
    auto is_complete = true;
    const auto families = families_of(xs);
    for (auto& [x, there] : moved) {
      const auto family = families.find(x->pid);
      if (family == families.end())
        continue;
      auto more = std::vector<pid_t>{};
      for (const auto& y : family->second)
        if (std::find(there.begin(), there.end(), y.pid) == there.end())
          more.push_back(y.pid);
      if (more.empty())
        continue;
      is_complete = false;
      freezer_.add(x->frozen_group, more);
      there.insert(there.end(), more.begin(), more.end());
    }
    if (is_complete)
      break;
  }
  for (auto& [x, unused] : moved)
    if (!freezer_.freeze(x->frozen_group))
      failed.push_back(x);
  for (auto* x : failed) {
    freezer_.remove(x->frozen_group);
    x->frozen_group.clear();
  }
  return failed;
}

void process_table::stop(const std::vector<record*>& xs) {
  for (int i = 0; i < looks; ++i) {
    for (const auto* x : xs)
      signal_group(*x, SIGSTOP);
    auto is_complete = true;
    for (const auto& [head, family] : families_of(xs))
      for (const auto& x : family)
        if (x.group != head && !stands_still(x))
          is_complete &= !signal_entry(x, SIGSTOP);
    if (is_complete)
      return;
  }
}

void process_table::resume(const std::vector<record*>& xs) {
  auto stopped = std::vector<record*>{};
  for (auto* x : xs) {
    if (!x->is_paused)
      continue;
    x->is_paused = false;
    if (!x->frozen_group.empty())
      freezer_.thaw(x->frozen_group);
    else
      stopped.push_back(x);
  }
  if (stopped.empty())
    return;
  // Those that others wait for go on first.
  for (const auto& [head, family] : families_of(stopped))
    for (const auto& x : family)
      if (x.group != head && stands_still(x))
        signal_entry(x, SIGCONT);
  for (const auto* x : stopped)
    signal_group(*x, SIGCONT);
}

/// Those that left their process groups go, too.
void process_table::kill_families(const std::vector<record*>& xs) {
  const auto families = families_of(xs);
  for (auto* x : xs) {
    x->is_paused = false;
    signal_group(*x, SIGKILL);
  }
  for (const auto& [head, family] : families)
    for (const auto& x : family)
      signal_entry(x, SIGKILL);
}

} // namespace troupe
