#include "base/watches.hpp"

#include <caf/local_actor.hpp>

namespace troupe {

watches::~watches() {
  for (const auto& [whom, count] : counts_)
    self_->demonitor(whom);
}

void watches::add(caf::local_actor* self, const caf::strong_actor_ptr& whom) {
  if (!whom)
    return;
  self_ = self;
  if (counts_[caf::actor_cast<caf::actor_addr>(whom)]++ == 0)
    self_->monitor(whom);
}

void watches::remove(const caf::actor_addr& whom) {
  const auto i = counts_.find(whom);
  if (i == counts_.end() || --i->second > 0)
    return;
  self_->demonitor(whom);
  counts_.erase(i);
}

} // namespace troupe
