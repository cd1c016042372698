#include "actors/io/process_input.hpp"

#include "messages/status.hpp"

#include <algorithm>
#include <string>

namespace troupe {

caf::expected<process_input::step>
process_input::take(std::optional<uint64_t> offset, size_t size, bool is_end) {
  const auto begin = offset.value_or(given_);
  auto result = step{};
  if (begin > given_ && !is_closed())
    return make_error(status::bad_param,
                      "input at byte " + std::to_string(begin)
                        + " comes after a gap: continue at byte "
                        + std::to_string(given_));
  if (size > UINT64_MAX - begin)
    return make_error(status::bad_param, "input ends beyond all offsets");
  result.skip =
    is_closed() ? size
                : static_cast<size_t>(std::min<uint64_t>(size, given_ - begin));
  const auto rest = size - result.skip;
  const auto waiting = given_ - written_;
  if (rest > 0 && waiting > 0 && waiting + rest > window_)
    return make_error(status::out_of_resource,
                      std::to_string(waiting)
                        + " bytes of input wait for the process: wait for the "
                          "answers before sending more than "
                        + std::to_string(window_));
  given_ += rest;
  // Of two sources that know nothing of each other, the one that is behind
  // does not end the input of the other.
  result.ends = is_end && !is_closed() && begin + size >= given_;
  ended_ = ended_ || result.ends;
  result.target = std::min(begin + size, given_);
  return result;
}

void process_input::note_written(size_t size) {
  written_ = std::min<uint64_t>(given_, written_ + size);
}

void process_input::close() {
  closed_ = true;
  given_ = written_;
}

} // namespace troupe
