#pragma once

#include "messages/connection.hpp"
#include "messages/io.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace troupe {

/// Who gets the output of which processes: what a host has agreed to. Safe on
/// any thread.
/// Source: PMIx Standard v5, `PMIx_IOF_pull`, `PMIx_server_IOF_deliver`.
class output_subscriptions {
public:
  struct subscriber {
    requester who;

    /// The number by which it knows its handler.
    uint64_t handler = 0;
  };

  /// @returns the number of the subscription.
  uint64_t add(const requester& who, const io_pull_request& request);

  /// Removes a subscription of this requester.
  /// @returns what was asked for; no processes if there is none.
  io_pull_request remove(const requester& who, uint64_t id);

  /// Removes all of a connection.
  void remove(const requester& who);

  /// Who gets what `source` writes to `channel`.
  std::vector<subscriber> of(const proc_id& source, io_channels channel) const;

private:
  struct entry {
    requester who;
    io_pull_request request;
  };

  mutable std::mutex mutex_;
  std::map<uint64_t, entry> entries_; // guarded by mutex_
  uint64_t next_ = 1;                 // guarded by mutex_
};

} // namespace troupe
