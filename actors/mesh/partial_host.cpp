#include "actors/mesh/partial_host.hpp"

#include "actors/mesh/refuse.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe {

namespace {

constexpr auto unsupported = "the resource manager does not support this";
constexpr auto alone = "the resource manager does not join nodes";

/// Refuses a request of a process.
template <class Result, class Request>
auto refuse_request() {
  return refuse<Result, requester, Request>(unsupported);
}

caf::message_handler defaults_of_a_host() {
  return {
    [](const client_connected&) { return ack{}; },
    [](const client_finalized&) { return ack{}; },
    [](const client_lost&) {
      // The daemon sees the end of the process itself.
    },
    refuse<proc_id, tool_connected>("the resource manager takes no tools"),
    [](const host_collective& x) -> caf::result<host_collective_result> {
      if (x.is_local)
        return host_collective_result{};
      return make_error(status::not_supported, alone);
    },
    [](const direct_modex&) -> caf::result<get_result> {
      return make_error(status::not_found,
                        "the resource manager asks no other node");
    },
    // The event has been delivered on this node by then.
    refuse<ack, requester, notify_request>(alone),
    [](const requester&, const deregister_events_request&) {
      // Nothing was registered.
    },
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  refuse_request<answer, request>(),
#include "messages/requests.def"
    refuse_request<ack, register_events_request>(),
    refuse_request<ack, log_request>(),
    refuse_request<info_result, query_request>(),
    refuse_request<info_result, monitor_request>(),
    refuse<proc_places, locate_procs>(alone),
    refuse<ack, order_group_entry>(alone),
    [](const extend_group_log&) {
      // No log is kept.
    },
    [](const close_group_log&) {
      // No log is kept.
    },
    refuse<info_result, host_group>("the resource manager conducts no groups"),
    refuse_request<ack, io_push_request>(),
  };
}

} // namespace

host_actor spawn_partial_host(caf::actor_system& sys, host_handlers handlers) {
  const auto host = sys.spawn([handlers = std::move(handlers)](
                                caf::event_based_actor* self) -> caf::behavior {
    auto own = handlers ? handlers(self) : caf::message_handler{};
    return own.or_else(defaults_of_a_host());
  });
  return caf::actor_cast<host_actor>(host);
}

} // namespace troupe
