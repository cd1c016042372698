#pragma once

#include "actors/data/job_memory.hpp"
#include "actors/server/wait_report.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// A fence that processes of this node have come to in the memory that they share,
/// without a word to the server.
struct memory_fence {
  std::string nspace;
  job_memory::cell_number cell = job_memory::whole_job;
  uint64_t round = 0;

  /// Ascending: all who meet there, and those who have not come.
  std::vector<uint32_t> ranks;
  std::vector<uint32_t> missing;
};

/// Looks into a cell.
/// @param ranks All who meet there, ascending.
/// @returns nothing if nobody waits there, or nobody is waited for.
/// @pre the cell is open
std::optional<memory_fence> look_into(const job_memory& memory,
                                      job_memory::cell_number cell,
                                      std::string nspace,
                                      std::vector<uint32_t> ranks);

/// Since when such fences are seen: nothing in the memory says when they began.
class memory_fences {
public:
  using time = std::chrono::steady_clock::time_point;

  /// @param found All that there are. What was there before and is not is
  ///              forgotten.
  std::vector<wait_part> take(const std::vector<memory_fence>& found, time now);

private:
  using place = std::pair<std::string, job_memory::cell_number>;

  struct sight {
    uint64_t round = 0;
    time since;
  };

  std::map<place, sight> seen_;
};

} // namespace troupe
