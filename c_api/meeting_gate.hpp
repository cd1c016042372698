#pragma once

#include "adapters/node_store/store_access.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::c_api {

/// Which way the calls of this process go that can meet others in the memory that
/// they share: of those that meet in one cell, none is in the memory while another
/// one is at the server, or on its way there. One thread at a time is in the
/// memory. Safe on any thread.
class meeting_gate {
public:
  /// @param break_up Has all who wait in a cell of the memory ask the server.
  explicit meeting_gate(std::function<void(store_access&, uint32_t)> break_up);

  /// @param cell Where it goes.
  /// @returns whether this thread may meet others there; then it leaves.
  bool enter(const std::shared_ptr<store_access>& where, uint32_t cell);

  /// @param asks Whether it is going to ask the server: as `begin`.
  void leave(bool asks);

  /// The server is going to be asked, by a thread that waits for the answer.
  /// @param cell Where another thread may wait for the same: it has to leave first.
  ///             Nothing: nowhere.
  void begin(std::optional<uint32_t> cell);

  /// The same without waiting.
  /// @param ask Is called soon, on the thread that is in the memory.
  /// @returns false if no thread has to leave it: then `ask` is not needed.
  bool delay(std::optional<uint32_t> cell, std::function<void()> ask);

  /// The server has answered, or was not asked.
  void end();

  /// Has all who wait in the memory ask the server, from now on: it is lost, or
  /// we leave.
  void stop();

  /// There is another server.
  void start();

private:
  /// @pre `mutex_` is held.
  void break_up();

  const std::function<void(store_access&, uint32_t)> break_up_;
  std::mutex mutex_;
  std::condition_variable changed_;

  /// Where a thread waits; null: none does.
  std::shared_ptr<store_access> meeting_;      // guarded by mutex_
  uint32_t cell_ = 0;                          // guarded by mutex_
  bool is_stopped_ = false;                    // guarded by mutex_
  size_t unanswered_ = 0;                      // guarded by mutex_
  std::vector<std::function<void()>> delayed_; // guarded by mutex_
};

} // namespace troupe::c_api
