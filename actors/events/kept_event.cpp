#include "actors/events/kept_event.hpp"

#include "messages/bounded_codec.hpp"

#include <utility>

namespace troupe {

std::shared_ptr<const event> kept_event::get() const {
  if (whole_)
    return whole_;
  auto what = decode<event>(bytes_);
  return what ? std::make_shared<const event>(std::move(*what)) : nullptr;
}

bool kept_event::unpack() {
  whole_ = get();
  return whole_ != nullptr;
}

void kept_event::pack() {
  if (bytes_.empty()) {
    bytes_ = encode(*whole_);
    bytes_.shrink_to_fit();
  }
  whole_ = nullptr;
}

} // namespace troupe
