#include "adapters/process/stdin_source.hpp"

#include "adapters/process/input_reader.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace troupe {

namespace {

using self_pointer = caf::stateful_actor<stdin_source_state>*;

/// Time to try again, because others had filled a reader's queue.
using retry_atom = caf::atom_constant<caf::atom("retry")>;

/// Something was read. We hear of it in a callback of the loop, where an actor
/// can neither quit nor answer.
using read_atom = caf::atom_constant<caf::atom("read")>;

constexpr auto retry_pause = std::chrono::milliseconds{10};

void proceed(self_pointer self);

void on_taken(self_pointer self, const io_input& sent,
              const io_input_taken& taken) {
  auto& st = self->state;
  st.is_waiting = false;
  auto& ranks = st.ranks;
  for (const auto& x : taken.closed)
    ranks.erase(std::remove(ranks.begin(), ranks.end(), x.rank), ranks.end());
  if (sent.is_end || taken.readers == 0 || ranks.empty()) {
    self->quit();
    return;
  }
  proceed(self);
}

void send(self_pointer self, io_input input) {
  self->state.is_waiting = true;
  // Kept until it is answered: it may have to be sent again.
  const auto what = std::make_shared<const io_input>(std::move(input));
  self->request(self->state.target, caf::infinite, *what)
    .then([self, what](const io_input_taken& x) { on_taken(self, *what, x); },
          [self, what](const caf::error& err) {
            const auto why = status_of(err);
            if (why == status::resource_busy || why == status::out_of_resource)
              self->delayed_send(self, retry_pause, retry_atom::value, *what);
            else
              self->quit();
          });
}

/// Sends what was read, if it is its turn, and reads on.
void proceed(self_pointer self) {
  auto& st = self->state;
  if (!st.is_waiting && (!st.ahead.empty() || st.is_ended)) {
    io_input what{st.nspace, st.ranks, st.offset, std::move(st.ahead), false};
    st.ahead.clear();
    what.is_end = what.bytes.empty();
    st.offset += what.bytes.size();
    send(self, std::move(what));
  }
  if (st.ahead.empty() && !st.is_reading && !st.is_ended) {
    st.is_reading = true;
    st.reader->next();
  }
}

void on_input(self_pointer self, std::string bytes) {
  auto& st = self->state;
  st.is_reading = false;
  st.is_ended = bytes.empty();
  const auto left_out = std::min<uint64_t>(st.skipped, bytes.size());
  st.skipped -= left_out;
  bytes.erase(0, left_out);
  st.ahead = std::move(bytes);
  self->send(self, read_atom::value);
}

/// Asks where the input of the readers stands; answered after what is on its
/// way from an earlier source.
void ask(self_pointer self) {
  const auto& st = self->state;
  self
    ->request(st.target, caf::infinite,
              io_input{st.nspace, st.ranks, std::nullopt, {}, false})
    .then(
      [self](const io_input_taken& x) {
        auto& st = self->state;
        st.offset = x.offset;
        if (st.skipped > 0)
          st.skipped = x.offset;
        on_taken(self, {}, x);
      },
      [self](const caf::error&) { self->quit(); });
}

} // namespace

stdin_source_state::stdin_source_state() = default;

stdin_source_state::~stdin_source_state() = default;

caf::behavior stdin_source(self_pointer self, event_loop* loop,
                           thread_pool* pool, input_target_actor target,
                           stdin_source_settings settings) {
  auto& st = self->state;
  if (settings.ranks.empty()) {
    self->quit();
    return {};
  }
  st.target = std::move(target);
  st.nspace = std::move(settings.nspace);
  st.ranks = std::move(settings.ranks);
  // The real number comes with the answer, before anything is read.
  st.skipped = settings.repeats ? 1 : 0;
  st.reader = std::make_unique<input_reader>(
    *loop, *pool, settings.fd, settings.window,
    [self](std::string bytes) { on_input(self, std::move(bytes)); });
  ask(self);
  return {
    [self](retry_atom, io_input& what) { send(self, std::move(what)); },
    [self](read_atom) { proceed(self); },
  };
}

} // namespace troupe
