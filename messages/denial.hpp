#pragma once

#include "messages/query.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>

#include <string>
#include <vector>

namespace troupe {

/// A failed outcome that tells the requester more than its status, such as
/// which processes are missing. Whoever passes the error on passes the infos
/// on: to other nodes, over the wire, to the callback of a C program.
/// Source: RFC0015, Job Control: the callback's infos "provide some
/// information as to the reason for any denial".
/// @pre `code != status::success`
caf::error make_error(status code, std::string what, std::vector<info> infos);

/// The infos given to `make_error`; none for other errors.
std::vector<info> infos_of(const caf::error& why);

/// What the requester of job control or monitoring is told of a failure: the
/// infos given to `make_error`, and the sentence as PMIX_EVENT_TEXT_MESSAGE if
/// it says more than the name of the status and the infos have no text.
std::vector<info> explanation_of(const caf::error& why);

} // namespace troupe
