#include "actors/events/event_throttle.hpp"

#include <utility>

namespace troupe {

std::optional<environment_event> event_throttle::take(environment_event x,
                                                      time now) {
  if (told_ == 0 || (now >= begin_ + window_ && !newest_)) {
    begin_ = now;
    told_ = 0;
  }
  if (told_ < events_ && !newest_) {
    ++told_;
    return x;
  }
  if (newest_)
    ++skipped_;
  newest_ = std::move(x);
  return std::nullopt;
}

std::optional<event_throttle::time> event_throttle::due() const {
  if (!newest_)
    return std::nullopt;
  return begin_ + window_;
}

std::optional<environment_event> event_throttle::flush(time now) {
  if (!newest_ || now < begin_ + window_)
    return std::nullopt;
  auto result = std::exchange(newest_, std::nullopt);
  if (const auto skipped = std::exchange(skipped_, 0))
    result->infos.push_back(
      {std::string{event_skipped_key}, 0, value::uint64(skipped)});
  begin_ = now;
  told_ = 1;
  return result;
}

} // namespace troupe
