#include "adapters/local/event_frames.hpp"

#include "adapters/wire/frame.hpp"
#include "adapters/wire/pushes.hpp"

#include <utility>

namespace troupe {

namespace {

event_frames::frames pack(const event_batch& x, const wire::dialect& d) {
  auto result = event_frames::frames{};
  auto& out = result.bytes;
  result.ends.reserve(x.events.size());
  for (const auto& what : x.events) {
    const auto start = wire::begin_frame(out, wire::tag_event);
    auto err = wire::encode_event(*what, d, out);
    if (!err)
      err = wire::end_frame(out, start);
    if (err) {
      out.resize(start);
      result.failures.push_back(std::move(err));
    }
    result.ends.push_back(out.size());
  }
  return result;
}

} // namespace

std::shared_ptr<const event_frames::frames>
event_frames::of(const event_batch& x, const wire::dialect& d) {
  for (const auto& y : entries_)
    if (y.events.events == x.events && y.dialect == d)
      return y.packed;
  auto packed = std::make_shared<const frames>(pack(x, d));
  if (packed->bytes.size() > max_bytes)
    return packed;
  if (entries_.size() == max_entries)
    entries_.pop_front();
  entries_.push_back({x, d, packed});
  return packed;
}

} // namespace troupe
