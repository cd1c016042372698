#include "c_api/meeting_gate.hpp"

#include <utility>

namespace troupe::c_api {

meeting_gate::meeting_gate(
  std::function<void(store_access&, uint32_t)> break_up)
  : break_up_(std::move(break_up)) {
  // nop
}

bool meeting_gate::enter(const std::shared_ptr<store_access>& where,
                         uint32_t cell) {
  const auto guard = std::lock_guard{mutex_};
  if (is_stopped_ || meeting_ || unanswered_ > 0)
    return false;
  meeting_ = where;
  cell_ = cell;
  return true;
}

void meeting_gate::leave(bool asks) {
  auto delayed = std::vector<std::function<void()>>{};
  {
    const auto guard = std::lock_guard{mutex_};
    meeting_ = nullptr;
    // No other thread may enter the round that this one asks about.
    if (asks)
      ++unanswered_;
    delayed.swap(delayed_);
  }
  changed_.notify_all();
  for (const auto& ask : delayed)
    ask();
}

void meeting_gate::break_up() {
  if (meeting_)
    break_up_(*meeting_, cell_);
}

void meeting_gate::begin(std::optional<uint32_t> cell) {
  auto lock = std::unique_lock{mutex_};
  // None enters from now on.
  ++unanswered_;
  if (!meeting_ || cell != cell_)
    return;
  break_up();
  changed_.wait(lock, [this] { return !meeting_; });
}

bool meeting_gate::delay(std::optional<uint32_t> cell,
                         std::function<void()> ask) {
  const auto guard = std::lock_guard{mutex_};
  const auto is_delayed = meeting_ != nullptr && cell == cell_;
  if (is_delayed) {
    delayed_.push_back(std::move(ask));
    break_up();
  }
  ++unanswered_;
  return is_delayed;
}

void meeting_gate::end() {
  const auto guard = std::lock_guard{mutex_};
  --unanswered_;
}

void meeting_gate::stop() {
  const auto guard = std::lock_guard{mutex_};
  is_stopped_ = true;
  break_up();
}

void meeting_gate::start() {
  const auto guard = std::lock_guard{mutex_};
  is_stopped_ = false;
}

} // namespace troupe::c_api
