#pragma once

#include "actors/mesh/members/node_list.hpp"
#include "actors/mesh/members/node_watch.hpp"

#include <variant>

namespace troupe {

// -- what the membership of a node wants done, in this order -----------------

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

// -- the root ----------------------------------------------------------------

/// What only the root of a DVM decides: who joins, who is dead, when an epoch
/// ends, and when a dead incarnation is certain to run no more.
///
/// Changes within one `probe` share an epoch. A dead incarnation is *fenced*
/// once its own lease must have run out by any clock: it has heard nothing
/// newer than the verdict, see `node_answer`. Source: guarantees, sections 1
/// and 5.4; X40, X42.
class node_root {
public:
  /// @param names  the nodes by rank; the first is the root's own.
  /// @param addresses  where the root takes lanes.
  node_root(node_times times, const std::vector<std::string>& names,
            uint64_t incarnation, std::vector<node_address> addresses = {});

  /// The first list: the root is live, the others are expected.
  node_update first_list() const;

  /// Somebody wants to join; the answer may come now or with the next epoch.
  void join(const node_list& list, const node_join& x, uint64_t via,
            node_time now, node_effects& out);

  /// A live member takes lanes elsewhere from now on.
  void moved(const node_list& list, uint32_t rank,
             const std::vector<node_address>& addresses, node_time now);

  /// A member reports silence. Says nothing yet: the root asks by itself.
  void suspect(const node_list& list, const node_suspicion& x, node_time now);

  /// A member is alive after all.
  void heard(uint32_t rank, node_time now);

  /// A member, or one declared lost, says that it has ended.
  void depart(const node_list& list, uint32_t rank, uint64_t incarnation,
              node_time now);

  /// Somebody who knows says that a member is gone: the resource manager, the
  /// operator.
  /// @param is_certain  whether its processes are gone for sure.
  void declare_lost(const node_list& list, uint32_t rank, bool is_certain,
                    node_time now);

  /// We were late by `lateness`.
  void excuse(node_time lateness, node_time now);

  /// Who has to be asked for a sign of life.
  std::vector<uint32_t> to_probe() const;

  /// Whether something is pending that time decides.
  bool is_busy() const {
    return !suspicions_.empty() || !pending_.empty() || !joins_.empty()
           || !graves_.empty() || !fenced_.empty();
  }

  /// Decides what is due.
  /// @returns the next epoch, if there is one.
  std::optional<node_update> tick(const node_list& list, node_time now,
                                  node_effects& out);

  /// Welcomes those who joined with the epoch that `list` has now.
  void welcome(const node_list& list, node_effects& out);

private:
  struct suspicion {
    uint64_t incarnation = 0;
    node_time since{0};
    node_time first_report{0};
  };

  struct waiting_join {
    uint64_t via = 0;
    node_join request;
  };

  struct grave {
    uint64_t incarnation = 0;
    node_time fenced_at{0};
  };

  void change(const node_list& list, uint32_t rank, node_state state,
              uint64_t incarnation, node_time now,
              std::vector<node_address> addresses = {});

  void bury(uint32_t rank, uint64_t incarnation, node_time now);

  void fence(uint32_t rank, uint64_t incarnation);

  /// Tells who is fenced, after the epoch in which it was reported.
  void tell_fenced(node_effects& out);

  /// Whether every node that is expected has come or will with the next epoch.
  bool is_complete(const node_list& list) const;

  node_times times_;
  std::vector<node_row> first_;
  std::map<std::string, uint32_t> ranks_;
  std::map<uint32_t, suspicion> suspicions_;
  std::map<uint32_t, node_time> last_heard_;

  /// What the next epoch changes, and when that began.
  std::map<uint32_t, node_row> pending_;
  node_time pending_since_{0};

  std::map<uint32_t, waiting_join> joins_;
  std::map<uint32_t, grave> graves_;
  std::vector<node_fenced> fenced_;

  /// How many are expected and have never joined.
  size_t missing_;
};

} // namespace troupe
