#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace troupe {

/// What an actor wants to do when a wait has lasted long enough. The actor
/// sends itself a `deadline` with the number it gets here; a reminder that has
/// been forgotten meanwhile does nothing.
class reminders {
public:
  uint64_t add(std::function<void()> action) {
    actions_.emplace(next_, std::move(action));
    return next_++;
  }

  void forget(uint64_t id) {
    actions_.erase(id);
  }

  void fire(uint64_t id) {
    const auto node = actions_.extract(id);
    if (!node.empty())
      node.mapped()();
  }

private:
  std::map<uint64_t, std::function<void()>> actions_;
  uint64_t next_ = 1;
};

} // namespace troupe
