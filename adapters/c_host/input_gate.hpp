#pragma once

#include "messages/proc_id.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace troupe {

/// Which of those that push input the host has told to stop: what they have
/// pushed is answered when they may go on, and until then they push no more.
/// Plain data, on one thread.
/// Source: OpenPMIx, `PMIx_server_IOF_flow_control`, PMIX_ERR_IOF_XOFF.
class input_gate {
public:
  /// Stops those that push, or lets them go on; what was said last counts.
  /// @param source `rank_wildcard`: all of the namespace; no namespace: all.
  void set(const proc_id& source, bool is_stopped);

  /// Calls back when `who` may go on: now, if nobody has stopped it.
  void when_open(const proc_id& who, std::function<void()> done);

  bool is_stopped(const proc_id& who) const;

private:
  /// In the order of what was said.
  std::vector<std::pair<proc_id, bool>> said_;

  std::vector<std::pair<proc_id, std::function<void()>>> waiting_;
};

} // namespace troupe
