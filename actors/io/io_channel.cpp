#include "actors/io/io_channel.hpp"

#include "actors/io/stream_log.hpp"
#include "base/answer.hpp"
#include "base/watches.hpp"
#include "config/defaults.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

namespace {

struct channel_sink {
  output_sink_actor handle;

  /// Tells it from another one that had its number: answers come late.
  uint64_t serial = 0;

  /// Whether what it lacks has been asked for elsewhere.
  bool is_fetching = false;
};

/// An answer that is due when the stream has settled so far.
struct owed_answer {
  uint64_t due;
  answer<ack> reply;
};

struct io_channel_state {
  static inline const char* name = "io-channel";

  io_channel_options options;
  stream_log log{0};

  /// The number of the process that writes; 0: unknown.
  uint32_t pid = 0;
  std::map<uint64_t, channel_sink> sinks;

  /// The sinks: that of the terminal outlives all streams.
  watches watched;
  uint64_t last_serial = 0;
  size_t held = 0;
  size_t needed = 0;

  /// In the order in which they are due.
  std::list<owed_answer> owed;

  /// Due when all sinks have everything.
  std::list<answer<ack>> waiting_for_end;

  io_channel_state() = default;
  io_channel_state(const io_channel_state&) = delete;
  io_channel_state& operator=(const io_channel_state&) = delete;

  ~io_channel_state() {
    if (options.on_held && held > 0)
      options.on_held(0, 0);
  }

  channel_sink* find(uint64_t id, uint64_t serial) {
    const auto i = sinks.find(id);
    return i != sinks.end() && i->second.serial == serial ? &i->second
                                                          : nullptr;
  }

  /// One that was started again has another number.
  void note_pid(uint32_t x) {
    if (x != 0)
      pid = x;
  }

  /// Says whose bytes these are.
  void sign(io_fragment& what) const {
    what.stream = options.stream;
    what.pid = pid;
  }

  /// Answers what is due, and tells how much is held.
  void settle() {
    const auto settled = log.settled();
    while (!owed.empty() && owed.front().due <= settled) {
      owed.front().reply.give(ack{});
      owed.pop_front();
    }
    if (!waiting_for_end.empty() && log.is_over()) {
      for (auto& x : waiting_for_end)
        x.give(ack{});
      waiting_for_end.clear();
    }
    const auto held_before = std::exchange(held, log.held());
    const auto needed_before = std::exchange(needed, log.needed());
    if (options.on_held && (held != held_before || needed != needed_before))
      options.on_held(held, needed);
  }
};

TROUPE_SELF_POINTER(io_channel_actor, io_channel_state);

void give(self_pointer self, uint64_t id);

void drop(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto node = state.sinks.extract(id);
  if (!node.empty())
    state.watched.remove(node.mapped().handle.address());
  const auto offset = state.log.remove_sink(id);
  if (state.options.on_dropped)
    state.options.on_dropped(id, offset);
  state.settle();
}

void send(self_pointer self, uint64_t id, const channel_sink& to,
          io_fragment what) {
  self->state.sign(what);
  if (what.missed > 0 && self->state.options.on_missed)
    self->state.options.on_missed(what.missed);
  const auto serial = to.serial;
  self->request(to.handle, caf::infinite, std::move(what))
    .then(
      [self, id, serial](ack) {
        auto& state = self->state;
        if (state.find(id, serial) == nullptr)
          return;
        state.log.taken(id);
        give(self, id);
        state.settle();
      },
      [self, id, serial](const caf::error&) {
        if (self->state.find(id, serial) != nullptr)
          drop(self, id);
      });
}

void fill(self_pointer self, uint64_t id, uint64_t serial,
          std::optional<io_fragment> got) {
  auto& state = self->state;
  auto* sink = state.find(id, serial);
  if (sink == nullptr)
    return;
  sink->is_fetching = false;
  if (auto x = state.log.fill(id, std::move(got)))
    send(self, id, *sink, std::move(*x));
  give(self, id);
  state.settle();
}

/// Asks for what a sink wants and this node has not.
void fetch(self_pointer self, uint64_t id, channel_sink& sink,
           stream_log::interval what) {
  if (std::exchange(sink.is_fetching, true))
    return;
  const auto& options = self->state.options;
  const auto size =
    std::min<uint64_t>({what.until - what.from, defaults::io_fragment_bytes,
                        self->state.log.room(id)});
  const auto serial = sink.serial;
  self
    ->request(options.elsewhere, caf::infinite,
              io_fetch{options.stream, what.from, size})
    .then([self, id, serial](
            io_fragment& got) { fill(self, id, serial, std::move(got)); },
          [self, id, serial](const caf::error&) {
            fill(self, id, serial, std::nullopt);
          });
}

/// Sends to a sink what it is to get now.
void give(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto i = state.sinks.find(id);
  if (i == state.sinks.end())
    return;
  if (const auto what = state.log.lacks(id))
    return fetch(self, id, i->second, *what);
  while (auto x = state.log.next(id, defaults::io_fragment_bytes))
    send(self, id, i->second, std::move(*x));
}

/// Gives what has come, and answers when the stream has settled so far.
caf::result<ack> answer_at(self_pointer self, uint64_t due) {
  auto& state = self->state;
  for (const auto& [id, sink] : state.sinks)
    give(self, id);
  state.settle();
  if (state.owed.empty() && due <= state.log.settled())
    return ack{};
  auto reply = answer<ack>{self->make_response_promise<ack>()};
  const auto promise = reply.promise();
  auto at = state.owed.end();
  while (at != state.owed.begin() && std::prev(at)->due > due)
    --at;
  state.owed.insert(at, {due, std::move(reply)});
  return promise;
}

caf::result<ack> take(self_pointer self, process_output& x) {
  auto& log = self->state.log;
  self->state.note_pid(x.pid);
  return answer_at(self, x.bytes.empty()
                           ? log.end()
                           : log.append(std::move(x.bytes), x.read_at));
}

caf::result<ack> take(self_pointer self, io_fragment& x) {
  auto& log = self->state.log;
  self->state.note_pid(x.pid);
  const auto until = x.offset + x.bytes.size();
  auto due = log.append_at(x.offset, std::move(x.bytes), x.read_at);
  if (x.is_end)
    due = log.end_at(until);
  return answer_at(self, due);
}

caf::result<ack> finish(self_pointer self) {
  auto& state = self->state;
  state.log.end();
  for (const auto& [id, sink] : state.sinks)
    give(self, id);
  state.settle();
  if (state.log.is_over())
    return ack{};
  auto& reply =
    state.waiting_for_end.emplace_back(self->make_response_promise<ack>());
  return reply.promise();
}

void add(self_pointer self, uint64_t id, const io_subscription& how,
         const output_sink_actor& sink) {
  auto& state = self->state;
  const auto is_copy = static_cast<bool>(state.options.elsewhere);
  auto window = state.options.window_of ? state.options.window_of(id) : nullptr;
  if (!sink || !state.log.add_sink(id, how, is_copy, std::move(window)))
    return;
  state.sinks[id] = {sink, ++state.last_serial, false};
  state.watched.add(self, sink);
  give(self, id);
  state.settle();
}

void remove(self_pointer self, uint64_t id) {
  auto& state = self->state;
  const auto node = state.sinks.extract(id);
  if (node.empty())
    return;
  state.watched.remove(node.mapped().handle.address());
  state.log.remove_sink(id);
  state.settle();
}

void note_down(self_pointer self, const caf::down_msg& x) {
  std::vector<uint64_t> gone;
  for (const auto& [id, sink] : self->state.sinks)
    if (sink.handle.address() == x.source)
      gone.push_back(id);
  for (const auto id : gone)
    drop(self, id);
}

io_channel_actor::behavior_type behavior(self_pointer self,
                                         io_channel_options options) {
  auto& state = self->state;
  state.log = stream_log{options.tail, options.overflow};
  state.options = std::move(options);
  self->set_down_handler(
    [self](const caf::down_msg& x) { note_down(self, x); });
  return {
    [self](process_output& x) { return take(self, x); },
    [self](io_fragment& x) { return take(self, x); },
    [self](uint64_t id, const io_subscription& how,
           const output_sink_actor& sink) { add(self, id, how, sink); },
    [self](const io_unsubscription& x) { remove(self, x.subscription); },
    [self](const io_fetch& x) {
      auto result = self->state.log.fetch(x.offset, x.size);
      self->state.sign(result);
      return result;
    },
    [self](const io_keep& x) {
      self->state.log.keep(x.bytes);
      self->state.settle();
    },
    [self](const io_job_over&) { return finish(self); },
    [self](const list_io&) {
      auto result = self->state.log.status();
      result.stream = self->state.options.stream;
      return result;
    },
  };
}

} // namespace

io_channel_actor spawn_io_channel(caf::actor_system& sys,
                                  io_channel_options options) {
  return sys.spawn(behavior, std::move(options));
}

} // namespace troupe
