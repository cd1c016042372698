#include "adapters/link/link_actor.hpp"

#include "adapters/link/link.hpp"
#include "adapters/link/link_replies.hpp"
#include "messages/status.hpp"

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

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
    pass<job_info_reply, job_info_request>(self),
    pass<ack, commit_request>(self),
    pass<ack, fence_request>(self),
    pass<get_result, get_request>(self),
    pass<ack, finalize_request>(self),
    pass<ack, abort_request>(self),
    pass<refresh_cache_result, refresh_cache_request>(self),
    pass<resolve_peers_result, resolve_peers_request>(self),
    pass<resolve_nodes_result, resolve_nodes_request>(self),
    pass<ack, publish_request>(self),
    pass<lookup_result, lookup_request>(self),
    pass<ack, unpublish_request>(self),
    pass<spawn_result, spawn_request>(self),
    pass<connect_procs_result, connect_procs_request>(self),
    pass<ack, disconnect_procs_request>(self),
    pass<ack, register_events_request>(self),
    [self](deregister_events_request& x) {
      self->state.to->submit(wire::request{std::move(x)},
                             [](const link::outcome&) {});
    },
    pass<ack, notify_request>(self),
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
    pass<info_result, query_request>(self),
    pass<ack, log_request>(self),
    pass<info_result, job_control_request>(self),
    pass<info_result, monitor_request>(self),
    [self](heartbeat) { self->state.to->beat(); },
    pass<info_result, allocation_request>(self),
    pass<info_result, session_control_request>(self),
    pass<ack, resource_block_request>(self),
    pass<get_credential_result, get_credential_request>(self),
    pass<info_result, validate_credential_request>(self),
    pass<info_result, fabric_register_request>(self),
    pass<info_result, fabric_update_request>(self),
    pass<device_distances_result, device_distances_request>(self),
    pass<group_construct_result, group_construct_request>(self),
    pass<ack, group_destruct_request>(self),
    pass<ack, group_leave_request>(self),
    pass<io_pull_result, io_pull_request>(self),
    pass<ack, io_deregister_request>(self),
    pass<ack, io_push_request>(self),
    [](read_now) { return unread{}; },
    [self](connection_lost) { self->quit(); },
    [self](const close_connection&) {
      self->state.to->close();
      self->quit();
    },
  };
}

} // namespace

client_actor spawn_link_actor(caf::actor_system& sys,
                              std::shared_ptr<link> to) {
  return sys.spawn(behavior, std::move(to));
}

} // namespace troupe
