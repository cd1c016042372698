// Output on its way to a peer.

#include "adapters/local/connection_state.hpp"
#include "adapters/wire/pushes.hpp"
#include "config/defaults.hpp"
#include "messages/status.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <string>
#include <utility>

namespace troupe {

namespace {

using phase = connection_state::phase;

/// Writes output to the place where frames are. What the peer cannot be sent
/// counts as taken: it would not get it the next time either.
void write_output(connection_ptr self, waiting_output x) {
  auto& state = self->state;
  const auto start = wire::begin_frame(state.out, wire::tag_output);
  auto err = wire::encode_output(x.what, state.dialect, state.out);
  if (!err)
    err = wire::end_frame(state.out, start);
  if (err) {
    state.out.resize(start);
    state.service->log.write(state.source, severity::warning,
                             state.peer
                               + ": cannot be sent output: " + reason_of(err));
    x.owed.give(ack{});
    return;
  }
  ++state.service->statistics.pushes;
  state.output_written += state.out.size() - start - wire::frame_header_size;
  const auto end =
    state.socket->bytes_sent() + state.socket->queued() + state.out.size();
  state.outputs_sent.push_back({end, std::move(x.owed)});
}

/// Whether the peer's program is so far behind that it gets nothing more.
bool is_behind(const connection_state& state) {
  return state.counts_output
         && state.output_written - state.output_consumed >= defaults::io_credit;
}

} // namespace

void grant_output_credit(connection_ptr self) {
  auto& state = self->state;
  if (!state.counts_output)
    return;
  const auto start = wire::begin_frame(state.out, wire::tag_output_credit);
  wire::encode_output_credit(defaults::io_credit, state.out);
  if (wire::end_frame(state.out, start))
    state.out.resize(start); // Cannot happen: it is a few bytes.
}

void on_output_credit(connection_ptr self, const wire::frame& x) {
  auto& state = self->state;
  const auto total = wire::decode_output_credit(x.payload);
  if (!total) {
    punish(self, reason_of(total.error()));
  } else if (*total > state.output_written || *total < state.output_consumed) {
    punish(self, "says that it has taken " + std::to_string(*total)
                   + " bytes of output; it was sent "
                   + std::to_string(state.output_written));
  } else {
    state.output_consumed = *total;
    write_outputs(self);
  }
}

void control_input(connection_ptr self) {
  auto& state = self->state;
  const auto& limits = state.service->options.limits;
  const auto is_much = state.pushes.size() >= limits.pushes / 2
                       || state.push_bytes >= limits.push_bytes / 2;
  if (is_much == state.is_input_stopped || (!is_much && !state.pushes.empty())
      || !wire::knows_flow_control(state.dialect.peer))
    return;
  const auto start = wire::begin_frame(state.out, wire::tag_flow_control);
  auto what = wire::flow_control{};
  what.source = state.proc;
  what.is_stop = is_much;
  auto err = wire::encode_flow_control(what, state.dialect, state.out);
  if (!err)
    err = wire::end_frame(state.out, start);
  if (err) {
    state.out.resize(start);
    return;
  }
  state.is_input_stopped = is_much;
  flush(self);
}

caf::result<ack> push_output(connection_ptr self, io_delivery x) {
  auto& state = self->state;
  if (state.now != phase::serving)
    return make_error(status::lost_connection, "the connection is closed");
  auto owed = answer<ack>{self->make_response_promise<ack>()};
  auto promise = owed.promise();
  const auto limit = state.service->options.limits.queued_max;
  state.output_bytes += x.bytes.size();
  state.outputs.push_back({std::move(x), std::move(owed)});
  if (state.output_bytes > limit)
    punish(self, "does not read: limit of " + std::to_string(limit)
                   + " bytes that wait for it (L11)");
  else
    write_outputs(self);
  return promise;
}

void write_outputs(connection_ptr self) {
  auto& state = self->state;
  const auto room = state.service->options.limits.queued;
  auto is_changed = false;
  while (!state.outputs.empty() && state.socket->is_open()
         && state.socket->queued() == 0 && state.out.size() < room
         && !is_behind(state)) {
    auto x = std::move(state.outputs.front());
    state.outputs.pop_front();
    state.output_bytes -= x.what.bytes.size();
    write_output(self, std::move(x));
    is_changed = true;
    if (state.out.size() >= room)
      send_held(self);
  }
  if (is_changed && state.now == phase::serving)
    flush(self);
}

void note_taken(connection_ptr self) {
  auto& state = self->state;
  const auto sent = state.socket->bytes_sent();
  auto& outputs = state.outputs_sent;
  for (; !outputs.empty() && outputs.front().end <= sent; outputs.pop_front())
    outputs.front().owed.give(ack{});
  auto& ends = state.event_ends;
  for (; !ends.empty() && ends.front() <= sent; ends.pop_front())
    ++state.events_taken;
  if (state.now != phase::serving || state.events_told == state.events_taken)
    return;
  state.events_told = state.events_taken;
  self->send(state.session, events_taken{state.events_taken});
}

void forget_waiting_outputs(connection_ptr self) {
  auto& state = self->state;
  for (auto& x : std::exchange(state.outputs, {}))
    x.owed.fail(status::lost_connection, "the connection is being closed");
  state.output_bytes = 0;
}

void forget_outputs(connection_ptr self) {
  for (auto& x : std::exchange(self->state.outputs_sent, {}))
    x.owed.fail(status::lost_connection, "the peer has gone");
  forget_waiting_outputs(self);
}

} // namespace troupe
