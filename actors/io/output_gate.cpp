#include "actors/io/output_gate.hpp"

#include "base/pass_on.hpp"
#include "base/watches.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace troupe {

namespace {

struct output_gate_state {
  static inline const char* name = "output-gate";

  output_sink_actor to;
  watches watched;
  bool is_open = false;
  std::vector<std::pair<io_fragment, answer<ack>>> held;
};

TROUPE_SELF_POINTER(buffered_sink_actor, output_gate_state);

caf::result<ack> take(self_pointer self, io_fragment& x) {
  auto& state = self->state;
  if (state.is_open)
    return self->delegate(state.to, std::move(x));
  auto promise = self->make_response_promise<ack>();
  state.held.emplace_back(std::move(x), answer<ack>{promise});
  return promise;
}

void open(self_pointer self) {
  auto& state = self->state;
  state.is_open = true;
  for (auto& [what, reply] : std::exchange(state.held, {}))
    ask(self, state.to, pass_on(std::move(reply)), std::move(what));
}

buffered_sink_actor::behavior_type behavior(self_pointer self,
                                            const output_sink_actor& to) {
  self->state.to = to;
  self->state.watched.add(self, to);
  self->set_down_handler(
    [self](const caf::down_msg& x) { self->quit(x.reason); });
  return {
    [self](io_fragment& x) { return take(self, x); },
    [self](const deadline&) { open(self); },
  };
}

} // namespace

buffered_sink_actor spawn_output_gate(caf::actor_system& sys,
                                      const output_sink_actor& to) {
  return sys.spawn(behavior, to);
}

} // namespace troupe
