#pragma once

#include "messages/proc_id.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a local process has to do with a group.
enum class group_use : uint8_t {
  /// It is named, and has not called.
  awaited,
  taking_part,

  /// It has done with the group.
  released,
};

/// What the processes of a node have to do with a group. A node may keep many
/// groups: the name of a namespace is here once for all its processes.
class local_uses {
public:
  /// Nothing if it has nothing to do with the group.
  std::optional<group_use> of(const proc_id& proc) const;

  void set(const proc_id& proc, group_use how);

  /// @returns whether it had to do with the group.
  bool erase(const proc_id& proc);

  /// Shows all processes, ascending, with their uses.
  template <class F>
  void for_each(F show) const {
    for (const auto& [nspace, uses] : uses_)
      for (const auto& x : uses)
        show(proc_id{nspace, x.rank}, x.how);
  }

private:
  struct entry {
    uint32_t rank = 0;
    group_use how = group_use::awaited;
  };

  /// By namespace, ascending by rank; none is empty.
  std::map<std::string, std::vector<entry>> uses_;
};

} // namespace troupe
