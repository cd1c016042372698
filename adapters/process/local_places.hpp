#pragma once

#include "actors/io/output_tag.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace troupe {

/// Where the processes of this node run, for marks on their output: those that
/// were started last.
class local_places {
public:
  static constexpr size_t most = 4096;

  /// Empty: not known yet.
  std::string host;

  void add(const proc_id& proc, uint32_t pid) {
    if (const auto [pos, is_new] = pids_.insert_or_assign(proc, pid); !is_new)
      return;
    order_.push_back(proc);
    if (order_.size() <= most)
      return;
    pids_.erase(order_.front());
    order_.pop_front();
  }

  std::optional<process_place> find(const proc_id& proc) const {
    const auto pos = pids_.find(proc);
    if (pos == pids_.end())
      return std::nullopt;
    return process_place{host, pos->second};
  }

private:
  std::map<proc_id, uint32_t> pids_;
  std::deque<proc_id> order_;
};

} // namespace troupe
