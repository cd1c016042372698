#pragma once

#include "actors/mesh/node_list.hpp"
#include "actors/mesh/node_watch.hpp"

#include <variant>

// What the membership of a node wants done, in this order.

namespace troupe {

/// Send to a member, or to the root while we are none. Nobody else may get it:
/// who is another incarnation by then does not. `incarnation` is 0 where the
/// sender does not know it, which is when it joins.
struct send_to_node {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  node_message what;
};

/// At the root: answer the join that came with `via`.
struct answer_join {
  uint64_t via = 0;
  node_message what;
};

/// Tell everybody on the node that a member joined, left or was lost. Comes
/// before `node_repair` of the same epoch, once for each incarnation.
struct node_report {
  uint64_t epoch = 0;
  node_change what;
};

/// A new epoch holds: send along its tree from now on. A lost node leaves it
/// only after it has been reported.
struct node_repair {
  uint64_t epoch = 0;
  std::optional<uint32_t> parent;
  std::vector<uint32_t> children;
};

/// Whether the node may take work.
enum class node_duty : uint8_t {
  joining,   ///< no member yet
  active,    ///< in contact with the root
  suspended, ///< without contact for `lease`: takes no work
  fenced,    ///< for good: kill all processes, then call `end`, then exit
};

struct duty_changed {
  node_duty now = node_duty::joining;
  std::string reason;
};

/// At the root: that incarnation, declared lost or left before, runs no process
/// any more. Its processes may be started elsewhere, its node used again.
struct node_fenced {
  uint32_t rank = 0;
  uint64_t incarnation = 0;
};

/// A line for the operator.
struct node_alarm {
  std::string text;
};

using node_effect =
  std::variant<send_to_node, answer_join, node_report, node_repair,
               duty_changed, node_fenced, node_alarm>;

using node_effects = std::vector<node_effect>;

} // namespace troupe
