#pragma once

#include "messages/connection.hpp"
#include "messages/event.hpp"

namespace troupe {

/// Whether a code says what has become of jobs, processes, nodes and
/// connections: the runtime knows, and programs act on it.
/// Source: docs/events.md, "Jobs and processes"; RFC0002, "RM Notifications".
bool is_of_runtime(status code);

/// Whether who asks may raise an event. A process of a job may raise a code of
/// the runtime on its node and in its own job, as Open MPI does when it has
/// found that another one has failed (ULFM); nobody else is to take its word.
/// Tools may: they speak for the user who started the jobs.
bool may_raise(const requester& who, const notify_request& what);

} // namespace troupe
