#include "adapters/local/job_info_cache.hpp"

#include "adapters/wire/replies.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

caf::expected<std::shared_ptr<const std::string>>
job_info_cache::packed(const std::shared_ptr<const job_info>& info,
                       const wire::dialect& d) {
  // An entry whose job is gone must go too: another may get its address.
  const auto is_gone = [](const entry& x) { return x.info.expired(); };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_gone),
                 entries_.end());
  for (const auto& x : entries_)
    if (x.info.lock() == info && x.dialect == d)
      return x.payload;
  auto payload = std::make_shared<std::string>();
  if (auto err = wire::encode_reply(*info, d, *payload))
    return err;
  if (payload->size() > max_payload)
    return std::shared_ptr<const std::string>{std::move(payload)};
  if (entries_.size() == max_entries)
    entries_.pop_front();
  entries_.push_back({info, d, std::move(payload)});
  return entries_.back().payload;
}

} // namespace troupe
