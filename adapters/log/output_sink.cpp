#include "adapters/log/output_sink.hpp"

#include "actors/io/flush_timer.hpp"
#include "adapters/log/fd_writer.hpp"
#include "adapters/log/local_time.hpp"
#include "adapters/process/descriptors.hpp"

#include <caf/all.hpp>

#include <utility>

namespace troupe {

namespace {

/// A question without a line's end is shown after one to two of these: what
/// nobody notices, and longer than the parts of one line take.
constexpr auto line_period = std::chrono::milliseconds{40};

/// Deadlines of a sink, by their numbers.
constexpr auto buffers_due = uint64_t{0};
constexpr auto lines_due = uint64_t{1};

using self_pointer = buffered_sink_actor::stateful_pointer<output_sink_state>;

fd_writer& writer_of(output_sink_state& state, bool to_stderr) {
  return to_stderr ? *state.settings.err : *state.settings.out;
}

void start_timers(self_pointer self) {
  auto& state = self->state;
  start_flush_timer(self, state.kept, state.timer_is_running,
                    deadline{buffers_due});
  if (state.line_timer_is_running
      || (state.lines[0].empty() && state.lines[1].empty()))
    return;
  state.line_timer_is_running = true;
  self->delayed_send(self, line_period, deadline{lines_due});
}

caf::typed_response_promise<ack> show(self_pointer self, io_fragment& x) {
  auto& state = self->state;
  auto reply = self->make_response_promise<ack>();
  if (state.formatter.is_plain() && x.missed > 0)
    state.settings.err->write(missing_notice(x.stream, x.missed));
  const auto to_stderr = state.formatter.on_stderr(x.stream.channel);
  const auto is_last = x.is_end;
  const auto is_raw = state.settings.format.raw;
  auto text = state.formatter.is_plain() && !is_raw
                ? state.lines[to_stderr ? 1 : 0].add(std::move(x))
                : state.formatter.format(std::move(x));
  text = state.kept.add(to_stderr, std::move(text), is_last);
  start_timers(self);
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

/// Shows begins of lines whose ends do not come.
void advance_lines(self_pointer self) {
  auto& state = self->state;
  state.line_timer_is_running = false;
  for (const auto to_stderr : {false, true}) {
    // The rest may wait for the reader of what went before.
    if (writer_of(state, to_stderr).held_bytes() > 0)
      continue;
    auto text = state.kept.add(to_stderr,
                               state.lines[to_stderr ? 1 : 0].advance(), false);
    if (!text.empty())
      writer_of(state, to_stderr).write(std::move(text));
  }
  start_timers(self);
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
  state.lines.fill(whole_lines{settings.is_shared});
  state.settings = std::move(settings);
  return {
    [self](io_fragment& x) { return show(self, x); },
    [self](const deadline& x) {
      if (x.id == lines_due)
        advance_lines(self);
      else
        flush(self);
    },
  };
}

} // namespace troupe
