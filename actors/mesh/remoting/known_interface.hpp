#pragma once

#include "messages/handle_interface.hpp"

#include <caf/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// What an actor is known to understand: what its node has said of its typed
/// handles so far, all together. Of one that had none nothing is known: it may
/// understand anything, as an actor without types does.
/// Source: docs/decisions/0023.
class known_interface {
public:
  /// Signatures of one actor. One with more is as if nothing were known.
  static constexpr size_t most = 64;

  /// @param digests Of signatures, in any order.
  void add(const std::vector<uint64_t>& digests);

  bool is_known() const {
    return !digests_.empty() && !has_too_many_;
  }

  /// Of signatures, in order, each once. One more than `most`: there are too many,
  /// which other nodes are to hear.
  const std::vector<uint64_t>& digests() const {
    return digests_;
  }

  /// @returns the first signature that the actor does not understand; null: it may
  ///          understand all of them.
  const std::string* find_missing(const handle_interface& needed) const;

  /// @returns `sec::unexpected_actor_messaging_interface` with that signature.
  caf::error check(const handle_interface& needed) const;

private:
  std::vector<uint64_t> digests_;
  bool has_too_many_ = false;
};

} // namespace troupe
