#pragma once

#include "messages/inspect.hpp"
#include "messages/status.hpp"
#include "messages/value.hpp"

namespace troupe {

/// Makes a group. Source: RFC0033, Group_construct.
struct group_construct_request {
  std::string id;
  std::vector<proc_id> procs;
  std::vector<info> directives;
};

TROUPE_MESSAGE(group_construct_request, x.id, x.procs, x.directives)

struct group_construct_result {
  /// In the order of their ranks.
  std::vector<proc_id> members;
  std::optional<uint64_t> context_id;
  std::vector<info> infos;

  /// `partial_success`: without some who need not have come.
  status outcome = status::success;
};

TROUPE_MESSAGE(group_construct_result, x.members, x.context_id, x.infos,
               x.outcome)

/// Ends a group. Source: RFC0033, Group_destruct.
struct group_destruct_request {
  std::string id;

  /// Clients before 4.2.4 do not send the members.
  std::optional<std::vector<proc_id>> procs;
  std::vector<info> directives;
};

TROUPE_MESSAGE(group_destruct_request, x.id, x.procs, x.directives)

/// Leaves a group. Source: RFC0033, Group_leave.
struct group_leave_request {
  std::string id;
  std::vector<info> directives;
};

TROUPE_MESSAGE(group_leave_request, x.id, x.directives)

} // namespace troupe
