#pragma once

#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a server waits for the other participants of its node before it
/// says who has called.
inline constexpr auto group_watch = 100ms;

} // namespace defaults

/// Ours, in a CONSTRUCT_ABORT that the server sends to a tracker: the
/// construction cannot complete, because a participant has to do with another
/// group of the same name.
inline constexpr std::string_view group_conflict_key = "troupe.grp.conflict";

/// Beside it, the status with which the construction ends (int32); absent:
/// `exists`.
inline constexpr std::string_view group_conflict_code = "troupe.grp.code";

/// What a group tracker is told when it starts.
struct group_tracker_options {
  group_key key;

  /// Who is named when the group begins, spelt out, each once, ascending.
  std::vector<proc_id> participants;

  /// The same as it was written.
  std::vector<proc_id> written;

  /// Those on this node, ascending, and which of them have ended.
  std::vector<proc_id> local;
  std::vector<proc_id> gone;

  /// Whether the host is that of a mesh: it keeps the logs of groups.
  bool spans_nodes = false;

  /// The nodes that keep the log, if it has begun elsewhere.
  std::vector<uint32_t> hosts;

  /// Nodes that were lost before; some may have come back.
  std::set<uint32_t> lost;

  /// Processes of this node that have ended, whether they take part or not.
  std::set<proc_id> ended;

  /// Counts the groups of this node, from 1: gives the group a context id.
  uint64_t number = 1;

  /// What the tracker before it has said in `group_rests`: it goes on from that,
  /// and of the above it is told the key and `spans_nodes` alone.
  std::string rest;

  /// The process's own log.
  journal log;
};

/// A group on a node, from the first call to the end: makes entries of what
/// happens here, and carries out here what follows from the entries of its log.
/// Source: guarantees 5.6; RFC0033, "PMIx Groups".
group_tracker_actor spawn_group_tracker(caf::actor_system& sys,
                                        group_tracker_options options,
                                        server_actor server, host_actor host,
                                        event_cache_actor events);

/// What a tracker of a group would say in `group_rests` that all of its
/// participants have made by themselves, on this node.
/// @param participants Spelt out, each once, ascending.
/// @param context_id The one that they have got, if they wanted one.
std::string rest_of_made_group(const group_key& key,
                               const std::vector<proc_id>& participants,
                               std::optional<uint64_t> context_id);

/// How a group stands whose tracker has said this in `group_rests`.
group_status describe_rest(const group_key& key, const std::string& state);

} // namespace troupe
