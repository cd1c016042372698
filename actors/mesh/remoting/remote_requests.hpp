#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/message_id.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Requests of local actors to those of other nodes, and on which nodes the answer
/// to each depends: every one ends once. A request that was delegated depends on
/// all nodes on its way, for any of them may have it when it is lost.
class remote_requests {
public:
  struct request {
    caf::strong_actor_ptr who;
    caf::message_id mid;
  };

  /// `who` has asked an actor of a node.
  /// @param id Under which other nodes know it.
  void add(caf::actor_id id, const caf::strong_actor_ptr& who,
           caf::message_id mid, uint32_t rank);

  /// Another node is to answer, if `from` was.
  /// @returns the request if nobody will: the node was lost after it was asked.
  std::optional<request> move(caf::actor_id who, caf::message_id mid,
                              uint32_t from, uint32_t to);

  /// An answer has come, or will come from this node.
  /// @returns whether the request was open.
  bool end(caf::actor_id who, caf::message_id mid);

  /// Who has asked has ended.
  void drop_actor(caf::actor_id who);

  /// A node will answer nothing of what it was asked.
  /// @returns what depended on it; these are not open from now on.
  std::vector<request> drop_node(uint32_t rank);

  /// The same for what one node has passed on to another.
  std::vector<request> drop_way(uint32_t from, uint32_t to);

  size_t size() const {
    return size_;
  }

private:
  struct entry {
    caf::message_id mid;

    /// Who is to answer, and who has passed it on, in order.
    uint32_t rank = 0;
    std::vector<uint32_t> via;

    /// Nodes lost before it was asked.
    uint64_t after = 0;
  };

  struct asker {
    caf::strong_actor_ptr who;

    /// By the number of the request.
    std::unordered_map<uint64_t, entry> open;
  };

  template <class Predicate>
  std::vector<request> drop_if(Predicate is_lost);

  std::unordered_map<caf::actor_id, asker> askers_;
  size_t size_ = 0;

  /// How many nodes were lost so far, and which of these each was last.
  uint64_t losses_ = 0;
  std::map<uint32_t, uint64_t> lost_;
};

} // namespace troupe
