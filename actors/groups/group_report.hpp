#pragma once

#include "messages/connection.hpp"
#include "messages/group_entry.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What queries say of groups.

namespace troupe {

/// Asks for all that is known of groups: a list of objects, as
/// base/report_values.hpp says, with `id`, `participants` and `generation`
/// (which tell groups of the same name apart), `phase`, `members`, `leaders`,
/// `missing`, `context_id` if there is one, and `entries`. The qualifier
/// PMIX_GROUP_ID asks for those of that name.
inline constexpr std::string_view group_list_key = "troupe.groups";

/// Whether a query with this key is about groups: PMIX_QUERY_NUM_GROUPS,
/// PMIX_QUERY_GROUP_NAMES, PMIX_QUERY_GROUP_MEMBERSHIP, or ours.
bool is_group_key(std::string_view key);

/// Such as `constructing`.
std::string_view text_of(group_phase x);

/// Several nodes tell of the same group: the one that has carried out the most
/// of its log counts.
std::vector<group_status> without_repeats(std::vector<group_status> groups);

/// Answers a query about groups. Tools see all groups; a process sees those
/// with processes of its own namespace. The Standard's keys are about groups
/// that are complete, until they end. Where groups that have nothing to do with
/// each other have the same name, the one that the process is a member of is
/// meant, else the last.
/// @param groups As from `without_repeats`.
/// @returns nothing if there is no such group, or none is named.
/// Source: PMIx Standard v5, "Query keys", PMIX_QUERY_GROUP_MEMBERSHIP.
std::optional<value> group_answer(std::string_view key,
                                  const std::vector<info>& qualifiers,
                                  const requester& who,
                                  const std::vector<group_status>& groups);

} // namespace troupe
