#include "tests/adapters/link/link_actor.hpp"

#include "adapters/link/link.hpp"
#include "adapters/link/link_replies.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <type_traits>
#include <utility>

namespace troupe {

namespace {

struct link_state {
  static inline const char* name = "link";

  std::shared_ptr<link> to;
};

TROUPE_SELF_POINTER(client_actor, link_state);

/// A handler that sends its request to the server.
template <class Answer, class Request>
auto pass(self_pointer self) {
  if constexpr (std::is_void_v<Answer>)
    return [self](Request& x) {
      self->state.to->submit(wire::request{std::move(x)},
                             [](const link::outcome&) {});
    };
  else
    return [self](Request& x) -> caf::result<Answer> {
      auto promise = self->make_response_promise<Answer>();
      self->state.to->submit(wire::request{std::move(x)},
                             [promise](link::outcome y) mutable {
                               auto answer = answer_in<Answer>(std::move(y));
                               if (answer)
                                 promise.deliver(std::move(*answer));
                               else
                                 promise.deliver(std::move(answer.error()));
                             });
      return promise;
    };
}

client_actor::behavior_type behavior(self_pointer self,
                                     const std::shared_ptr<link>& to) {
  self->state.to = to;
  return {
#define TROUPE_REQUEST(number, command, request, answer)                       \
  pass<answer, request>(self),
#include "messages/requests.def"
    [](const event_batch&) {
      // Come from the server to us, never the other way round.
    },
    [](const group_known&) {
      // Likewise.
    },
    [](events_taken) {
      // Likewise: the server sees for itself what we take.
    },
    // Likewise.
    [](const io_delivery&) { return ack{}; },
    [self](heartbeat) { self->state.to->beat(); },
    [](read_now) { return unread{}; },
    [self](connection_lost) { self->quit(); },
    [self](const close_connection&) {
      self->state.to->close();
      self->quit();
    },
  };
}

} // namespace

client_actor fixtures::spawn_link_actor(caf::actor_system& sys,
                                        std::shared_ptr<link> to) {
  return sys.spawn(behavior, std::move(to));
}

} // namespace troupe
