#include "adapters/local/admission.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace troupe {

namespace {

/// What processes that nobody registered may use: children that share a rank,
/// and tools. Source: guarantees, limit L13.
constexpr size_t min_surplus = 64;

} // namespace

struct admission::place::counts {
  std::map<uint32_t, size_t> half_open; // by user
  size_t all = 0;
};

// -- place -------------------------------------------------------------------

admission::place::place(std::shared_ptr<counts> owner, uint32_t uid)
  : counts_(std::move(owner)), uid_(uid) {
  ++counts_->all;
  ++counts_->half_open[uid_];
}

admission::place& admission::place::operator=(place&& other) noexcept {
  if (this != &other) {
    leave();
    counts_ = std::move(other.counts_);
    uid_ = other.uid_;
    is_half_open_ = other.is_half_open_;
  }
  return *this;
}

admission::place::~place() {
  leave();
}

void admission::place::settle() noexcept {
  if (!counts_ || !std::exchange(is_half_open_, false))
    return;
  const auto i = counts_->half_open.find(uid_);
  if (--i->second == 0)
    counts_->half_open.erase(i);
}

void admission::place::leave() noexcept {
  settle();
  if (const auto counts = std::move(counts_))
    --counts->all;
}

// -- admission ---------------------------------------------------------------

admission::admission(const local_limits& limits,
                     std::function<size_t(uint32_t uid)> awaited,
                     std::function<size_t()> registered)
  : limits_(limits), awaited_(std::move(awaited)),
    registered_(std::move(registered)),
    counts_(std::make_shared<place::counts>()) {
  // nop
}

caf::expected<admission::place> admission::admit(uint32_t uid) {
  if (registered_) {
    const auto expected = registered_();
    const auto limit = expected + std::max(expected / 4, min_surplus);
    if (counts_->all >= limit)
      return make_error(status::out_of_resource,
                        "limit of " + std::to_string(limit)
                          + " connections (L13); close some");
  }
  const auto limit = half_open_limit(uid);
  const auto i = counts_->half_open.find(uid);
  if (i != counts_->half_open.end() && i->second >= limit)
    return make_error(status::out_of_resource,
                      "limit of " + std::to_string(limit)
                        + " connections without a handshake (L1)");
  return place{counts_, uid};
}

size_t admission::half_open_limit(uint32_t uid) const {
  const auto awaited = awaited_ ? awaited_(uid) : limits_.awaited;
  return limits_.half_open + limits_.half_open_per_awaited * awaited;
}

} // namespace troupe
