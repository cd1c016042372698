#include "adapters/loop/printer.hpp"

#include <caf/behavior.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/type_id.hpp>

#include <utility>

namespace troupe {

void printer_state::add(caf::actor_id author, const std::string& text) {
  auto& line = begun[author];
  for (const auto c : text) {
    if (c != '\n')
      line += c;
    if (c == '\n' || line.size() == max_line) {
      sink(std::move(line));
      line.clear();
    }
  }
  if (line.empty())
    begun.erase(author);
}

void printer_state::flush(caf::actor_id author) {
  auto line = begun.extract(author);
  if (!line.empty())
    sink(std::move(line.mapped()));
}

caf::behavior printer(caf::stateful_actor<printer_state>* self,
                      line_sink sink) {
  self->state.sink = std::move(sink);
  // CAF's own way to drop a message is to complain to the printer.
  self->set_default_handler(caf::drop);
  return {
    [self](caf::add_atom, caf::actor_id author, const std::string& text) {
      self->state.add(author, text);
    },
    [self](caf::flush_atom, caf::actor_id author) {
      self->state.flush(author);
    },
    [self](caf::delete_atom, caf::actor_id author) {
      self->state.flush(author);
    },
    [](caf::redirect_atom, const std::string&, int) {
      // nop
    },
    [](caf::redirect_atom, caf::actor_id, const std::string&, int) {
      // nop
    },
  };
}

} // namespace troupe
