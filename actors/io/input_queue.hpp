#pragma once

#include "messages/io.hpp"
#include "messages/status.hpp"

#include <caf/error.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace troupe {

/// The answer to input that has been taken: nothing more for now.
/// Source: OpenPMIx, PMIX_ERR_IOF_XOFF.
inline constexpr auto taken_and_stopped = static_cast<status>(-405);

/// Input on its way to processes, a piece at a time: what is pushed to the same
/// targets goes in order, and the next piece when the last has been taken.
/// Plain data: who sends comes in as a function. On one thread. Source: PMIx
/// Standard v5, `PMIx_IOF_push`; guarantees 5.7.
class input_queue : public std::enable_shared_from_this<input_queue> {
public:
  /// Gets nothing, or why input has not been taken.
  using callback = std::function<void(const caf::error&)>;

  /// Sends a piece. Calls back once, and not before it has returned.
  using sender = std::function<void(io_push_request, callback)>;

  explicit input_queue(sender send);

  /// Pushes the bytes of `x`; without any, the end of the input.
  void push(io_push_request x, callback done);

  /// Whether nothing waits that was pushed to these targets.
  bool is_idle(const std::vector<proc_id>& to) const;

  /// Sends no further piece for now; so does `taken_and_stopped` as an answer.
  void stop();

  void go_on();

  /// Refuses what waits.
  void close();

private:
  struct item {
    io_push_request request;

    /// Of its bytes, how many have been taken.
    size_t position = 0;
    callback done;
  };

  using targets = std::vector<proc_id>;

  void send_next(const targets& to);
  void on_answer(const targets& to, size_t size, const caf::error& why);

  sender send_;
  std::map<targets, std::deque<item>> waiting_;
  std::set<targets> on_their_way_;
  bool is_stopped_ = false;
};

} // namespace troupe
