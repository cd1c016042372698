#pragma once

#include "messages/inspect.hpp"
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
  std::vector<proc_id> members;
  std::optional<uint64_t> context_id;
  std::vector<info> infos;
};

TROUPE_MESSAGE(group_construct_result, x.members, x.context_id, x.infos)

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
