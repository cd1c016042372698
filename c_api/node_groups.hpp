#pragma once

#include "c_api/meeting_gate.hpp"
#include "messages/group.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::c_api {

class shared_posts;

/// Groups of all processes of our job that these make, and end, in the memory that
/// they share: the server hears of it before it looks at groups. The same holds
/// as for fences (node_fence.hpp). Safe on any thread.
/// Source: RFC0033, Group_construct, Group_destruct.
class node_groups {
public:
  /// @param where The memory.
  explicit node_groups(std::shared_ptr<shared_posts> where);

  /// What came of calling there.
  struct outcome {
    /// Whether all have called the same; if not, the server is going to be asked,
    /// as after `begin`.
    bool is_done = false;

    /// Of a group that has been made.
    group_construct_result result{};

    /// Whether it is time for the server to read of it.
    bool is_behind = false;
  };

  outcome construct(const group_construct_request& x);

  outcome destruct(const group_destruct_request& x);

  /// The server is going to be asked, by a thread that waits for the answer.
  void begin(const group_construct_request& x);

  /// The same without waiting, as `node_fence::delay`.
  bool delay(const group_construct_request& x, std::function<void()> ask);

  /// The server is going to be asked to end a group, or to let us leave it.
  void begin_end(const std::string& id);

  /// The server has answered, or was not asked.
  void end();

  void stop();

  void start();

private:
  /// Whether all of our job make a group without further wishes.
  bool is_plain(const group_construct_request& x, store_access& at) const;

  /// Where the processes may meet: they may be all of our job.
  std::optional<uint32_t> cell_of(const std::vector<proc_id>& procs) const;

  const std::shared_ptr<shared_posts> where_;
  meeting_gate gate_;

  /// The rounds in which groups were made that we are in.
  std::mutex mutex_;
  std::map<std::string, uint32_t> made_; // guarded by mutex_
};

} // namespace troupe::c_api
