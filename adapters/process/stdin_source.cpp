#include "adapters/process/stdin_source.hpp"

#include "adapters/process/input_reader.hpp"

#include <caf/all.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe {

namespace {

using self_pointer = caf::stateful_actor<stdin_source_state>*;

/// Time to try again, because others had filled the target's queue.
using retry_atom = caf::atom_constant<caf::atom("retry")>;

/// The input has ended. We hear of it in a callback of the loop, where an actor
/// cannot quit.
using end_atom = caf::atom_constant<caf::atom("end")>;

constexpr auto retry_pause = std::chrono::milliseconds{10};

/// One target has answered, or is out.
void settle(self_pointer self) {
  if (--self->state.unanswered > 0)
    return;
  if (self->state.targets.empty())
    self->quit();
  else
    self->state.reader->next();
}

void forward(self_pointer self, const input_target_actor& host,
             const proc_id& target, const std::string& bytes) {
  self->request(host, caf::infinite, write_stdin{target, bytes})
    .then([self](const ack&) { settle(self); },
          [self, target, bytes](const caf::error& err) {
            if (status_of(err) == status::resource_busy) {
              self->delayed_send(self, retry_pause, retry_atom::value, target,
                                 bytes);
              return;
            }
            auto& targets = self->state.targets;
            targets.erase(std::remove(targets.begin(), targets.end(), target),
                          targets.end());
            settle(self);
          });
}

void on_input(self_pointer self, const input_target_actor& host,
              const std::string& bytes) {
  const auto targets = self->state.targets;
  if (bytes.empty()) {
    for (const auto& target : targets)
      self->send(host, close_stdin{target});
    self->send(self, end_atom::value);
    return;
  }
  self->state.unanswered = targets.size();
  for (const auto& target : targets)
    forward(self, host, target, bytes);
}

} // namespace

stdin_source_state::stdin_source_state() = default;

stdin_source_state::~stdin_source_state() = default;

caf::behavior stdin_source(self_pointer self, event_loop* loop,
                           thread_pool* pool, input_target_actor host,
                           stdin_source_settings settings) {
  self->state.targets = std::move(settings.targets);
  if (self->state.targets.empty()) {
    self->quit();
    return {};
  }
  self->state.reader = std::make_unique<input_reader>(
    *loop, *pool, settings.fd, settings.window,
    [self, host](const std::string& bytes) { on_input(self, host, bytes); });
  self->state.reader->next();
  return {
    [self, host](retry_atom, const proc_id& target, const std::string& bytes) {
      forward(self, host, target, bytes);
    },
    [self](end_atom) { self->quit(); },
  };
}

} // namespace troupe
