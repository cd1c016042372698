#include "actors/io/tool_output.hpp"

#include "actors/io/flush_timer.hpp"
#include "actors/io/output_buffers.hpp"
#include "base/answer.hpp"
#include "base/make_info.hpp"
#include "messages/attributes.hpp"
#include "messages/io_keys.hpp"

#include <caf/all.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

namespace {

/// A stream in the order of `std::map`.
using stream_key = std::pair<proc_id, io_channels>;

struct tool_output_state {
  static inline const char* name = "tool-output";

  tool_output_options options;
  output_formatter formatter;
  output_buffers<stream_key> kept;

  /// Where in its stream the next text begins; for plain output.
  std::map<stream_key, uint64_t> begins;

  /// Where the processes run of streams that have not ended; for plain output
  /// that is to say so.
  std::map<stream_key, output_place> places;

  /// Missing, and not told yet since nothing has come after it.
  std::map<stream_key, uint64_t> missed;

  /// What was flushed without anybody who waits for it.
  size_t flushing = 0;
  bool timer_is_running = false;
};

TROUPE_SELF_POINTER(buffered_sink_actor, tool_output_state);

info uint64_info(std::string_view key, uint64_t x) {
  return make_info(key, value::uint64(x));
}

/// What a tool that formats itself cannot know.
void add_place(std::vector<info>& to, const output_place& x) {
  if (!x.host.empty())
    to.push_back(make_info(attr::hostname, value::string(x.host)));
  if (x.pid != 0)
    to.push_back(make_info(attr::proc_pid, value::pid(x.pid)));
}

void note_place(self_pointer self, const stream_key& from, uint32_t pid) {
  auto& state = self->state;
  const auto& host_of = state.options.host_of;
  auto& place = state.places[from];
  place.pid = pid;
  if (place.host.empty() && host_of)
    place.host = host_of(from.first);
}

/// @param text None: the end of the stream.
io_delivery make_delivery(self_pointer self, const stream_key& from,
                          std::string text) {
  auto& state = self->state;
  io_delivery result;
  result.source = from.first;
  result.channel = from.second;
  result.handler = state.options.handler;
  if (const auto missed = state.missed.extract(from); !missed.empty())
    result.infos.push_back(uint64_info(io_missed_key, missed.mapped()));
  if (state.options.with_offsets) {
    auto& begin = state.begins[from];
    result.infos.push_back(uint64_info(io_offset_key, begin));
    begin += text.size();
  }
  if (const auto i = state.places.find(from); i != state.places.end())
    add_place(result.infos, i->second);
  if (text.empty())
    result.infos.push_back(make_info(attr::iof_complete, value::boolean(true)));
  result.bytes = std::move(text);
  return result;
}

/// Hands a delivery to the server.
/// @param done Called when the connection has taken it.
template <class Function>
void deliver(self_pointer self, io_delivery what, Function done) {
  const auto& options = self->state.options;
  self->request(options.server, caf::infinite, options.who, std::move(what))
    .then([done](ack) { done(); },
          [self](const caf::error&) {
            // The connection is gone, and with it the reader.
            self->quit(caf::exit_reason::normal);
          });
}

/// What is to be delivered because of a fragment, in order.
std::vector<io_delivery> next_deliveries(self_pointer self, io_fragment& x) {
  auto& state = self->state;
  std::vector<io_delivery> result;
  const auto from = stream_key{x.stream.source, x.stream.channel};
  const auto is_end = x.is_end;
  const auto add = [&](std::string text) {
    if (!text.empty())
      result.push_back(make_delivery(self, from, std::move(text)));
  };
  if (x.missed > 0) {
    add(state.kept.add(from, {}, true));
    state.missed[from] += x.missed;
  }
  if (state.options.with_offsets && state.kept.kept(from) == 0)
    state.begins[from] = x.offset;
  if (state.options.with_offsets && state.options.format.tag_detailed)
    note_place(self, from, x.pid);
  const auto flush = is_end || x.missed > 0;
  auto text = state.options.with_offsets ? std::move(x.bytes)
                                         : state.formatter.format(std::move(x));
  add(state.kept.add(from, std::move(text), flush));
  if (is_end) {
    result.push_back(make_delivery(self, from, {}));
    state.begins.erase(from);
    state.places.erase(from);
  }
  return result;
}

/// What is kept, for a fragment of nothing.
std::vector<io_delivery> kept_deliveries(self_pointer self) {
  std::vector<io_delivery> result;
  for (auto& [from, text] : self->state.kept.take_all())
    result.push_back(make_delivery(self, from, std::move(text)));
  return result;
}

caf::typed_response_promise<ack> take(self_pointer self, io_fragment& x) {
  const auto reply =
    std::make_shared<answer<ack>>(self->make_response_promise<ack>());
  auto result = reply->promise();
  auto& state = self->state;
  const auto is_nothing = x.bytes.empty() && !x.is_end && x.missed == 0;
  auto deliveries =
    is_nothing ? kept_deliveries(self) : next_deliveries(self, x);
  start_flush_timer(self, state.kept, state.timer_is_running);
  if (deliveries.empty())
    reply->give(ack{});
  // The last answer comes last.
  for (auto i = size_t{0}; i < deliveries.size(); ++i)
    deliver(self, std::move(deliveries[i]),
            [reply, is_last = i + 1 == deliveries.size()] {
              if (is_last)
                reply->give(ack{});
            });
  return result;
}

void flush(self_pointer self) {
  auto& state = self->state;
  state.timer_is_running = false;
  // Nobody waits for what is flushed: only when the last has gone.
  if (state.flushing == 0)
    for (auto& [from, text] : state.kept.take_all()) {
      ++state.flushing;
      deliver(self, make_delivery(self, from, std::move(text)),
              [self] { --self->state.flushing; });
    }
  start_flush_timer(self, state.kept, state.timer_is_running);
}

buffered_sink_actor::behavior_type tool_output(self_pointer self,
                                               tool_output_options options) {
  auto& state = self->state;
  auto format = options.format;
  state.formatter =
    output_formatter{format, options.show_time, options.host_of};
  state.kept = output_buffers<stream_key>{format};
  state.options = std::move(options);
  return {
    [self](io_fragment& x) { return take(self, x); },
    [self](const deadline&) { flush(self); },
  };
}

} // namespace

output_sink_actor spawn_tool_output(caf::actor_system& sys,
                                    tool_output_options options) {
  return sys.spawn(tool_output, std::move(options));
}

} // namespace troupe
