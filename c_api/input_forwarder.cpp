#include "c_api/input_forwarder.hpp"

#include "c_api/library.hpp"

#include <unistd.h>

#include <utility>

namespace troupe::c_api {

namespace {

/// The longest piece.
constexpr size_t piece_size = size_t{32} << 10;

} // namespace

input_forwarder::input_forwarder(event_loop& loop, thread_pool& pool,
                                 io_push_request pattern)
  : pattern_(std::move(pattern)),
    reader_(loop, pool, STDIN_FILENO, piece_size,
            [this](std::string bytes) { forward(std::move(bytes)); }) {
  // nop
}

void input_forwarder::start() {
  reader_.next();
}

void input_forwarder::forward(std::string bytes) {
  const auto is_end = bytes.empty();
  auto x = pattern_;
  if (!is_end)
    x.bytes = std::move(bytes);
  library::instance().ask<ack>(std::move(x), [is_end, weak = weak_from_this()](
                                               const caf::expected<ack>& y) {
    if (const auto self = weak.lock(); self && y && !is_end)
      self->reader_.next();
  });
}

} // namespace troupe::c_api
