#include "actors/mesh/remoting/known_interface.hpp"

#include <caf/sec.hpp>

#include <algorithm>

namespace troupe {

void known_interface::add(const std::vector<uint64_t>& digests) {
  for (const auto x : digests) {
    if (has_too_many_)
      return;
    const auto i = std::lower_bound(digests_.begin(), digests_.end(), x);
    if (i != digests_.end() && *i == x)
      continue;
    digests_.insert(i, x);
    has_too_many_ = digests_.size() > most;
  }
}

const std::string*
known_interface::find_missing(const handle_interface& needed) const {
  if (!is_known())
    return nullptr;
  for (size_t i = 0; i < needed.digests.size(); ++i)
    if (!std::binary_search(digests_.begin(), digests_.end(),
                            needed.digests[i]))
      return &needed.signatures[i];
  return nullptr;
}

caf::error known_interface::check(const handle_interface& needed) const {
  const auto* missing = find_missing(needed);
  if (missing == nullptr)
    return caf::none;
  return make_error(caf::sec::unexpected_actor_messaging_interface,
                    "the actor does not understand " + *missing
                      + "; take one that does");
}

} // namespace troupe
