#pragma once

#include "messages/files.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Which looks at files go together, and which file systems do not answer.
/// One batch per mount is under way at any time: a mount that hangs costs one
/// thread, and its files count as timed out until it answers. A user whose
/// mounts hang too many threads has no more of them.
/// Source: guarantees 5.9, MON-4; X32.
class file_batches {
public:
  using time = std::chrono::nanoseconds;

  /// The mount that a path is on.
  struct place {
    uint64_t mount = 0;
    std::string point;
    bool keeps_access_time = true;
    bool access_time_is_relative = false;

    /// Whether its files are made up by the kernel: none is monitored.
    bool is_of_kernel = false;
  };

  /// Looks at files of one mount with the rights of one user.
  struct batch {
    uint64_t number = 0;
    std::string point;
    credentials who;
    std::vector<std::string> paths;
  };

  /// What a look has found.
  struct finding {
    file_stamp stamp;

    /// Where the path leads instead; empty: nowhere else.
    std::string elsewhere;
  };

  struct limits {
    size_t waiting = 0;
    size_t per_batch = 1;
    size_t hung_per_user = 1;
    time patience{0};
  };

  /// Means of whoever owns it.
  struct effects {
    /// Nothing if no mount has the path.
    std::function<std::optional<place>(const std::string& path)> find;

    /// Begins a batch. @returns `false` if that is not possible now.
    std::function<bool(const batch&)> begin;

    /// How many paths of a batch have been looked at so far.
    std::function<size_t(uint64_t number)> progress;

    /// A request has its answer.
    std::function<void(uint64_t request, file_stamps)> answer;
  };

  file_batches(const limits& bounds, effects out);

  /// Takes a request; `flush` begins with it.
  /// @returns `false` if too much waits.
  bool add(uint64_t request, check_files what);

  /// Begins what can begin.
  void flush(time now);

  /// A batch is through: one finding per path, in its order.
  void looked(uint64_t number, std::vector<finding> found, time now);

  /// Gives up waiting for mounts that have not answered for too long.
  void tick(time now);

  /// When `tick` is needed next; nothing: while nothing is under way.
  std::optional<time> next_tick() const;

  /// Paths that wait, batches under way, and those of them that hang.
  size_t waiting() const noexcept {
    return waiting_;
  }

  size_t under_way() const noexcept {
    return batches_.size();
  }

  size_t hung() const;

private:
  /// A path of a request.
  struct item {
    uint64_t request = 0;
    size_t index = 0;
    std::string path;
    credentials who;
    uint8_t hops = 0;
    place where;
  };

  struct open_request {
    file_stamps result;
    size_t missing = 0;
  };

  struct open_batch {
    uint64_t mount = 0;
    credentials who;
    std::vector<item> items;
    time due{0};
    size_t progress = 0;
    bool is_hung = false;
  };

  struct queue {
    std::deque<item> waiting;

    /// The batch under way; 0: none.
    uint64_t batch = 0;
  };

  void place_item(item x);
  void begin(queue& q, uint64_t mount, time now);
  void finish(const item& x, file_stamp stamp);
  void time_out(queue& q);
  bool may_begin(const credentials& who) const;

  limits limits_;
  effects out_;
  std::deque<item> fresh_;
  std::map<uint64_t, queue> queues_; // by mount
  std::map<uint64_t, open_batch> batches_;
  std::map<uint64_t, open_request> requests_;
  uint64_t next_batch_ = 1;
  size_t waiting_ = 0;
};

} // namespace troupe
