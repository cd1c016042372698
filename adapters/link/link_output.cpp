// Output that a server sends, and how much of it may be on its way.

#include "adapters/link/link.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <utility>

namespace troupe {

bool link::counts_output() const {
  const auto guard = std::lock_guard{mutex_};
  return output_window_ > 0;
}

/// Whether nothing more should be read, since the server sends whatever it has.
/// @pre locked
bool link::is_full() const {
  return output_window_ == 0 && output_held_ > defaults::io_held_output;
}

output_receipt link::make_receipt(size_t size) {
  {
    const auto guard = std::lock_guard{mutex_};
    output_held_ += size;
  }
  return {static_cast<void*>(this), [size, weak = weak_from_this()](void*) {
            if (const auto self = weak.lock())
              self->take_output(size);
          }};
}

/// Our program has taken some: the server may send as much.
void link::take_output(size_t size) {
  auto failure = caf::error{};
  auto was_full = false;
  {
    const auto guard = std::lock_guard{mutex_};
    was_full = is_full();
    output_held_ -= size;
    output_taken_ += size;
    if (was_full && !is_full())
      changed_.notify_all();
    else
      was_full = false;
    const auto news = output_taken_ - output_told_;
    if (is_open_ && output_window_ > 0 && news >= output_window_ / 4) {
      output_told_ = output_taken_;
      auto bytes = std::string{};
      const auto start =
        wire::begin_frame(bytes, wire::tag_output_credit, peer_.index);
      wire::encode_output_credit(output_taken_, bytes);
      failure = wire::end_frame(bytes, start);
      if (!failure)
        failure = send(std::move(bytes));
    }
  }
  if (was_full)
    in_loop([self = shared_from_this()] { self->update_reading(); });
  if (failure)
    lose(std::move(failure), true);
}

void link::on_output(const wire::frame& x) {
  auto receipt = make_receipt(x.payload.size());
  auto what = wire::decode_output(x.payload, peer_.rules);
  if (!what) {
    tell_garbled(what.error());
    return;
  }
  in_order([self = shared_from_this(), receipt = std::move(receipt),
            what = std::move(*what)]() mutable {
    if (self->handlers_.on_output)
      self->handlers_.on_output(std::move(what), std::move(receipt));
  });
}

void link::on_flow_control(const wire::frame& x) {
  auto what = wire::decode_flow_control(x.payload, peer_.rules);
  if (!what) {
    tell_garbled(what.error());
    return;
  }
  in_order([self = shared_from_this(), what = std::move(*what)]() mutable {
    if (self->handlers_.on_flow_control)
      self->handlers_.on_flow_control(std::move(what));
  });
}

void link::on_credit(const wire::frame& x) {
  const auto window = wire::decode_output_credit(x.payload);
  if (!window) {
    tell_garbled(window.error());
    return;
  }
  const auto guard = std::lock_guard{mutex_};
  output_window_ = *window;
}

} // namespace troupe
