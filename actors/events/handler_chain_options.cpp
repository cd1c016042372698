// The bounds of a handler chain.

#include "actors/events/handler_chain.hpp"
#include "config/defaults.hpp"

namespace troupe {

handler_chain_options handler_chain_options::with_defaults() {
  auto result = handler_chain_options{};
  result.order.capacity = defaults::event_handlers;
  result.history.capacity = defaults::event_history;
  result.history.max_bytes = defaults::event_history_bytes;
  result.history.max_functions = defaults::event_history_functions;
  result.tick = defaults::event_handler_tick;
  result.patience_ticks = defaults::event_handler_patience_ticks;
  result.answer_ticks = defaults::event_handler_answer_ticks;
  result.max_events = defaults::events_awaiting_handlers;
  result.max_bytes = defaults::event_bytes_awaiting_handlers;
  result.hard_factor = defaults::events_awaiting_hard_factor;
  result.calls_per_turn = defaults::event_handler_calls_per_turn;
  return result;
}

} // namespace troupe
