#include "adapters/loop/read_turns.hpp"

#include "adapters/loop/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

read_turns::reader::reader(read_turns& turns, callback read)
  : turns_(turns), read_(std::move(read)) {
  // nop
}

read_turns::reader::~reader() {
  leave();
}

void read_turns::reader::join() {
  if (std::exchange(is_waiting_, true))
    return;
  turns_.waiting_.push_back(this);
  if (!std::exchange(turns_.is_due_, true))
    turns_.next_.fire_now();
}

void read_turns::reader::leave() noexcept {
  if (std::exchange(is_waiting_, false))
    turns_.waiting_.remove(this);
}

read_turns::read_turns(event_loop& loop)
  : next_(loop.base(), -1, 0, [this] { run(); }) {
  // nop
}

void read_turns::run() {
  auto left = bytes_per_pass;
  while (!waiting_.empty() && left > 0) {
    auto* x = waiting_.front();
    waiting_.pop_front();
    x->is_waiting_ = false;
    left -= std::min(left, std::max(x->read_(), least_bytes));
  }
  is_due_ = !waiting_.empty();
  if (is_due_)
    next_.fire_after(std::chrono::nanoseconds::zero());
}

} // namespace troupe
