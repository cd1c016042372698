#include "actors/collective.hpp"

#include "actors/answer.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <variant>

namespace troupe {

namespace {

struct collective_state {
  static inline const char* name = "collective";

  /// One call that waits for the outcome.
  struct call {
    requester who;
    std::variant<answer<ack>, answer<connect_procs_result>> reply;
  };

  server_actor server;
  host_actor host;
  std::vector<call> calls;

  /// The jobs of all participants of a connect.
  std::vector<job_info> jobs;

  /// Why the operation failed, once it has.
  std::optional<collective_failed> failure;
};

TROUPE_SELF_POINTER(collective_actor, collective_state);

/// The jobs in `all` that are not the requester's own.
connect_procs_result jobs_of_others(const std::vector<job_info>& all,
                                    const requester& who) {
  auto result = connect_procs_result{};
  for (const auto& job : all)
    if (job.nspace != who.proc.nspace)
      result.jobs.push_back(job);
  return result;
}

void succeed(collective_state& state) {
  // Taken out first: a callee may join the next operation at once.
  auto calls = std::move(state.calls);
  for (auto& x : calls) {
    if (auto* reply = std::get_if<answer<ack>>(&x.reply))
      reply->give({});
    else
      std::get<answer<connect_procs_result>>(x.reply).give(
        jobs_of_others(state.jobs, x.who));
  }
}

void fail(collective_state& state) {
  auto calls = std::move(state.calls);
  for (auto& x : calls)
    std::visit(
      [&](auto& reply) {
        reply.fail(state.failure->code, state.failure->reason);
      },
      x.reply);
}

/// Keeps the call until the outcome is known.
template <class Result>
caf::result<Result> join(self_pointer self, const requester& who) {
  auto promise = self->make_response_promise<Result>();
  self->state.calls.push_back({who, answer<Result>{promise}});
  if (self->state.failure)
    fail(self->state);
  return promise;
}

/// The operation is over: another one may begin.
void retire(self_pointer self, uint64_t id, bool succeeded) {
  auto& state = self->state;
  state.jobs.clear();
  state.failure.reset();
  self->send(state.server, collective_retired{id, succeeded});
}

void ask_host(self_pointer self, collective_ready& ready) {
  auto& state = self->state;
  state.jobs = std::move(ready.jobs);
  self->request(state.host, caf::infinite, std::move(ready.call))
    .then(
      [self, id = ready.id](host_collective_result& result) {
        // Data first, so that a get right after the fence finds it.
        if (!result.data.empty())
          self->send(self->state.server, std::move(result));
        succeed(self->state);
        retire(self, id, true);
      },
      [self, id = ready.id](const caf::error& err) {
        self->state.failure = collective_failed{status_of(err), reason_of(err)};
        fail(self->state);
        retire(self, id, false);
      });
}

collective_actor::behavior_type behavior(self_pointer self, server_actor server,
                                         host_actor host) {
  self->state.server = std::move(server);
  self->state.host = std::move(host);
  return {
    [self](const requester& who, const fence_request&) {
      return join<ack>(self, who);
    },
    [self](const requester& who, const connect_procs_request&) {
      return join<connect_procs_result>(self, who);
    },
    [self](const requester& who, const disconnect_procs_request&) {
      return join<ack>(self, who);
    },
    [self](collective_ready& ready) { ask_host(self, ready); },
    [self](const collective_failed& why) {
      if (!self->state.failure)
        self->state.failure = why;
      fail(self->state);
    },
    [self](collective_retired) { self->quit(); },
  };
}

} // namespace

collective_actor spawn_collective(caf::actor_system& sys, server_actor server,
                                  host_actor host) {
  return sys.spawn(behavior, std::move(server), std::move(host));
}

} // namespace troupe
