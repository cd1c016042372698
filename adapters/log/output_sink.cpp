#include "adapters/log/output_sink.hpp"

#include "actors/io/flush_timer.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/process/inherited_fd.hpp"

#include <caf/all.hpp>

#include <utility>

namespace troupe {

namespace {

using self_pointer = buffered_sink_actor::stateful_pointer<output_sink_state>;

fd_writer& writer_of(output_sink_state& state, bool to_stderr) {
  return to_stderr ? *state.settings.err : *state.settings.out;
}

caf::typed_response_promise<ack> show(self_pointer self, io_fragment& x) {
  auto& state = self->state;
  auto reply = self->make_response_promise<ack>();
  if (state.formatter.is_plain() && x.missed > 0)
    state.settings.err->write(missing_notice(x.stream, x.missed));
  const auto to_stderr = state.formatter.on_stderr(x.stream.channel);
  const auto is_last = x.is_end;
  auto text =
    state.kept.add(to_stderr, state.formatter.format(std::move(x)), is_last);
  start_flush_timer(self, state.kept, state.timer_is_running);
  if (text.empty())
    reply.deliver(ack{});
  else
    writer_of(state, to_stderr).write(std::move(text), [reply]() mutable {
      reply.deliver(ack{});
    });
  return reply;
}

void flush(self_pointer self) {
  auto& state = self->state;
  state.timer_is_running = false;
  // Nobody waits for what is flushed: only when the last has gone.
  if (state.settings.out->held_bytes() > 0
      || state.settings.err->held_bytes() > 0) {
    start_flush_timer(self, state.kept, state.timer_is_running);
    return;
  }
  for (auto& [to_stderr, text] : state.kept.take_all())
    writer_of(state, to_stderr).write(std::move(text));
}

} // namespace

buffered_sink_actor::behavior_type output_sink(self_pointer self,
                                               output_sink_settings settings) {
  ignore_broken_pipes();
  auto& state = self->state;
  state.formatter =
    output_formatter{settings.format, [](int64_t at) { return local_time(at); },
                     settings.host_of};
  state.kept = output_buffers<bool>{settings.format};
  state.settings = std::move(settings);
  return {
    [self](io_fragment& x) { return show(self, x); },
    [self](const deadline&) { flush(self); },
  };
}

} // namespace troupe
