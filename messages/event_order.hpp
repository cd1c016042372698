#pragma once

#include "messages/group_entry.hpp"
#include "messages/host.hpp"
#include "messages/rank_list.hpp"

#include <cstdint>
#include <string>
#include <vector>

// How the hosts of a DVM's nodes agree on the order of a namespace's events.
// The *home* of a namespace is the first of its nodes that is not lost; its
// number is the epoch of the order: it grows whenever a home is lost. An empty
// namespace stands for the processes of all namespaces that are no jobs, such
// as tools; all nodes host it.
// Source: guarantees 5.2.

// The log of a group is kept in the same way: `nspace` is then its `log_name`,
// and `hosts` the nodes that
// keep it, ascending (none: all).

namespace troupe {

/// The name of the log of a group: no namespace has a name like it.
inline std::string log_name(const group_key& x) {
  return '\x1f' + std::to_string(x.participants) + '.'
         + std::to_string(x.generation) + '.' + x.id;
}

/// Whether this is the name of the log of a group.
inline bool is_group_log(const std::string& nspace) {
  return !nspace.empty() && nspace.front() == '\x1f';
}

/// What has a place in an order.
using ordered_content = std::variant<deliver_event, group_entry>;

/// Who had submitted an event, and under which number.
struct event_origin {
  uint32_t rank = 0;

  /// 0 in the log of a group whose hosts are named: there a node has one.
  uint64_t incarnation = 0;
  uint64_t number = 0;

  /// So many nodes, the ranks in a row from `rank` on, have each submitted one
  /// with this number.
  uint32_t count = 1;
};

TROUPE_MESSAGE(event_origin, x.rank, x.incarnation, x.number, x.count)

/// To the home of a namespace: an event for its processes. Answered when all
/// live nodes of the namespace have it. Refused with `unreach` by a daemon that
/// does not host the namespace any more, with `not_found` if it is gone.
///
/// Calls of a group go up the tree of the nodes that keep its log, as long as
/// none of these is lost: to the parent, which puts them together with its own
/// and those of its other children. A refusal sends each of them to the home
/// directly.
struct submit_event {
  std::string nspace;

  /// 1, 2, 3 ... per namespace and incarnation of the sender. What comes again
  /// after a home was lost comes with the number that it had.
  uint64_t number = 0;
  ordered_content what;
  rank_list hosts{};

  /// Whether it may wait a moment for what other nodes have to say.
  bool may_wait = false;

  /// Up the tree: whose calls these are. None: it goes to the home, and is the
  /// sender's.
  std::vector<event_origin> origins{};
};

TROUPE_MESSAGE(submit_event, x.nspace, x.number, x.what, x.hosts, x.may_wait,
               x.origins)

/// An event that has its place, and who had submitted it.
struct ordered_event {
  uint32_t origin = 0;
  uint64_t incarnation = 0;
  uint64_t number = 0;
  ordered_content what;

  /// Whose calls of a group have come together with those of `origin`: they are
  /// one entry, with one place.
  std::vector<event_origin> with{};
};

TROUPE_MESSAGE(ordered_event, x.origin, x.incarnation, x.number, x.what, x.with)

/// From the home to the nodes of the namespace: events in a row. Answered when
/// the node has all of them and all before, and so have those below it.
struct order_events {
  std::string nspace;
  uint32_t home = 0;

  /// The place of the first event, counted from 1.
  uint64_t first = 1;

  /// All nodes have had the events up to this place.
  uint64_t stable = 0;

  /// To be passed on to these.
  rank_list below;
  std::vector<ordered_event> events;
  rank_list hosts{};
};

TROUPE_MESSAGE(order_events, x.nspace, x.home, x.first, x.stable, x.below,
               x.events, x.hosts)

/// From a new home: what do you have? From then on nothing of former homes is
/// taken. Answered with `collected_events`.
struct collect_events {
  std::string nspace;
  uint32_t home = 0;

  /// Whether the events behind place `after` are wanted, too.
  bool wants_events = false;
  uint64_t after = 0;
  rank_list hosts{};
};

TROUPE_MESSAGE(collect_events, x.nspace, x.home, x.wants_events, x.after,
               x.hosts)

struct collected_events {
  /// The last place that the node has.
  uint64_t last = 0;
  std::vector<ordered_event> events;
};

TROUPE_MESSAGE(collected_events, x.last, x.events)

/// To the root: which namespaces are jobs.
struct list_nspaces {};

TROUPE_EMPTY_MESSAGE(list_nspaces)

/// Is any of these processes, which belong to no job, connected to the node?
/// Refused with `not_found` if none is.
struct find_procs {
  std::vector<proc_id> procs;
};

TROUPE_MESSAGE(find_procs, x.procs)

struct nspace_list {
  std::vector<std::string> nspaces;
};

TROUPE_MESSAGE(nspace_list, x.nspaces)

} // namespace troupe
