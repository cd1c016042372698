#pragma once

#include "messages/data.hpp"
#include "messages/status.hpp"

#include <map>

namespace troupe {

/// Keys that processes of one namespace have posted, by rank and scope.
/// Source: PMIx Standard v5, `PMIx_Put`, `PMIx_Commit`, `pmix_scope_t`.
class datastore {
public:
  /// Largest sum of keys and values that one process may keep posted, in bytes,
  /// and of all processes of a namespace.
  struct limits {
    size_t process_bytes;
    size_t namespace_bytes;
  };

  explicit datastore(limits bounds) : bounds_(bounds) {
    // nop
  }

  /// Merges what `rank` commits: a key posted again replaces the old value.
  /// @returns `out_of_resource` if a bound would be exceeded; then nothing of
  ///          the commit is kept. Otherwise `success`.
  status commit(uint32_t rank, const std::vector<posted_data>& blocks);

  /// Takes data of a process on another node, all of it visible here.
  void store_remote(uint32_t rank, std::vector<key_value> entries);

  /// Whether `rank` has committed, if only nothing.
  bool has_committed(uint32_t rank) const;

  /// What a process on the same node may see of `rank`, by the names that
  /// `storage_key` gives.
  const std::map<std::string, value>& visible_here(uint32_t rank) const;

  /// What processes on other nodes may see of `rank`.
  std::vector<key_value> visible_elsewhere(uint32_t rank) const;

  /// Bytes posted by all ranks.
  size_t size_bytes() const {
    return size_bytes_;
  }

private:
  struct posted {
    std::map<std::string, value> here;
    std::map<std::string, value> elsewhere;
    size_t size_bytes = 0;
  };

  limits bounds_;
  std::map<uint32_t, posted> ranks_;
  size_t size_bytes_ = 0;
};

/// Roughly how many bytes a value occupies; for bounds, not for allocation.
size_t size_of(const value& x);

} // namespace troupe
