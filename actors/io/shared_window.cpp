#include "actors/io/shared_window.hpp"

#include "config/defaults.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

static_assert(window_share::small <= defaults::io_window_least);

size_t kept_cost(size_t bytes) {
  return bytes > 0 ? std::max(bytes, window_share::small) : 0;
}

} // namespace

window_share::window_share(std::shared_ptr<shared_window> of)
  : of_(std::move(of)) {
  // nop
}

window_share::window_share(window_share&& other) noexcept
  : of_(std::move(other.of_)), out_(std::exchange(other.out_, 0)) {
  // nop
}

window_share& window_share::operator=(window_share&& other) noexcept {
  if (this != &other) {
    reset();
    of_ = std::move(other.of_);
    out_ = std::exchange(other.out_, 0);
  }
  return *this;
}

window_share::~window_share() {
  reset();
}

void window_share::reset() noexcept {
  if (of_)
    of_->used_ -= out_;
  out_ = 0;
}

size_t window_share::room(size_t window) const noexcept {
  auto most = window;
  if (of_) {
    // Half of the difference: what it takes is not left any more.
    const auto left = of_->left();
    const auto fair = left > out_ ? out_ + (left - out_) / 2 : out_;
    most = std::min(window, std::max(fair, defaults::io_window_least));
  }
  if (most <= out_)
    return 0;
  const auto result = most - out_;
  return out_ > 0 && result < small ? 0 : result;
}

void window_share::take(size_t bytes) noexcept {
  const auto cost = kept_cost(bytes);
  out_ += cost;
  if (of_)
    of_->used_ += cost;
}

void window_share::give_back(size_t bytes) noexcept {
  const auto cost = std::min(kept_cost(bytes), out_);
  out_ -= cost;
  if (of_)
    of_->used_ -= cost;
}

} // namespace troupe
