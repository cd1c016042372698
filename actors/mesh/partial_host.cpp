#include "actors/mesh/partial_host.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe {

namespace {

template <class Result, class Request>
auto refuse() {
  return [](const requester&, const Request&) -> caf::result<Result> {
    return make_error(status::not_supported,
                      "the resource manager does not support this");
  };
}

caf::message_handler defaults_of_a_host() {
  return {
    [](const client_connected&) { return ack{}; },
    [](const client_finalized&) { return ack{}; },
    [](const client_lost&) {
      // The daemon sees the end of the process itself.
    },
    [](const tool_connected&) -> caf::result<proc_id> {
      return make_error(status::not_supported,
                        "the resource manager takes no tools");
    },
    [](const host_collective& x) -> caf::result<host_collective_result> {
      if (x.is_local)
        return host_collective_result{};
      return make_error(status::not_supported,
                        "the resource manager does not join nodes");
    },
    [](const direct_modex&) -> caf::result<get_result> {
      return make_error(status::not_found,
                        "the resource manager asks no other node");
    },
    [](const requester&, const notify_request&) { return ack{}; },
    [](const requester&, const deregister_events_request&) {
      // Nothing was registered.
    },
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  refuse<answer, request>(),
#include "messages/requests.def"
    refuse<ack, register_events_request>(),
    refuse<ack, log_request>(),
    refuse<info_result, query_request>(),
    refuse<info_result, monitor_request>(),
    [](const locate_procs&) -> caf::result<proc_places> {
      return make_error(status::not_supported,
                        "the resource manager does not join nodes");
    },
    [](const order_group_entry&) -> caf::result<ack> {
      return make_error(status::not_supported,
                        "the resource manager does not join nodes");
    },
    [](const extend_group_log&) {
      // No log is kept.
    },
    [](const close_group_log&) {
      // No log is kept.
    },
    [](const host_group&) -> caf::result<info_result> {
      return make_error(status::not_supported,
                        "the resource manager conducts no groups");
    },
    refuse<ack, io_push_request>(),
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
