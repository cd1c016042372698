#pragma once

#include "base/directives.hpp"
#include "messages/collective.hpp"
#include "messages/control.hpp"
#include "messages/data.hpp"
#include "messages/event.hpp"
#include "messages/group.hpp"
#include "messages/io.hpp"
#include "messages/publish.hpp"
#include "messages/query.hpp"

#include <type_traits>
#include <utility>

// Requests of processes whose directives the session checks, before anybody acts
// upon any: of each, why it is refused. Spawn, job control, monitors and logs are not
// here: who reads their directives refuses what it does not know. An event carries
// whatever it is given.
// Source: PMIx Standard v5, PMIX_INFO_REQD.

namespace troupe {

/// Data that is published bears any key, but no reserved one.
caf::error check_directives(const publish_request& x, next_host next);

caf::error check_directives(const query_request& x, next_host next);

inline caf::error check_directives(const allocation_request& x,
                                   next_host next) {
  return check_required(pmix_call::allocation_request, x.infos, next);
}

/// It is the server that answers, even if it asks other hosts for the data.
inline caf::error check_directives(const get_request& x, next_host) {
  return check_required(pmix_call::get, x.directives, next_host::ours);
}

#define TROUPE_CHECKED(request, call)                                          \
  inline caf::error check_directives(const request& x, next_host next) {       \
    return check_required(pmix_call::call, x.directives, next);                \
  }
TROUPE_CHECKED(connect_procs_request, connect)
TROUPE_CHECKED(disconnect_procs_request, disconnect)
TROUPE_CHECKED(fabric_register_request, fabric_register)
TROUPE_CHECKED(fence_request, fence)
TROUPE_CHECKED(get_credential_request, get_credential)
TROUPE_CHECKED(group_construct_request, group_construct)
TROUPE_CHECKED(group_destruct_request, group_destruct)
TROUPE_CHECKED(group_leave_request, group_leave)
TROUPE_CHECKED(io_deregister_request, iof_deregister)
TROUPE_CHECKED(io_pull_request, iof_pull)
TROUPE_CHECKED(io_push_request, iof_push)
TROUPE_CHECKED(lookup_request, lookup)
TROUPE_CHECKED(register_events_request, register_event_handler)
TROUPE_CHECKED(resource_block_request, resource_block)
TROUPE_CHECKED(session_control_request, session_control)
TROUPE_CHECKED(unpublish_request, unpublish)
TROUPE_CHECKED(validate_credential_request, validate_credential)
#undef TROUPE_CHECKED

/// Whether the session checks the directives of a request.
template <class Request, class = void>
struct has_directives : std::false_type {};

template <class Request>
struct has_directives<Request,
                      std::void_t<decltype(check_directives(
                        std::declval<const Request&>(), next_host::ours))>>
  : std::true_type {};

} // namespace troupe
