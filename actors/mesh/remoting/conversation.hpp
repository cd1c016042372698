#pragma once

#include "actors/mesh/remoting/gateway_frames.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// Bytes of frames that go as one.
inline constexpr size_t gateway_bundle = size_t{64} << 10;

/// Bytes on their way to one node that it has not taken.
inline constexpr size_t gateway_window = size_t{16} << 20;

/// How long a node may take to greet back: then it has no gateway, and how often
/// it is greeted again to hear that what waited was dropped.
inline constexpr auto gateway_greeting_wait = 10s;
inline constexpr size_t gateway_greetings = 6;

} // namespace defaults

/// What two gateways say to each other, as one of them sees it: gathers frames
/// into bundles, holds them back while the other one has not taken those before,
/// and notices when any are lost. Begins with the first frame for the node.
///
/// The sessions below lose something only if they were silent for so long that
/// they were given up although both nodes are members.
class conversation {
public:
  using time_point = std::chrono::steady_clock::time_point;

  struct effects {
    /// Sends a bundle.
    std::function<void(std::shared_ptr<const std::string>)> send;

    /// A frame of the other side; views into the bundle end with the call.
    std::function<void(gateway_frame&)> take;

    /// What each side holds of the other is void, with the reason: the
    /// conversation is over, another may begin.
    std::function<void(const std::string& why)> end;
  };

  conversation(size_t window, effects out)
    : window_(window), out_(std::move(out)) {
    // nop
  }

  // -- frames for the node ------------------------------------------------------

  void put(const gateway_frame& x);

  /// Sends what has been gathered, as far as the node takes it; greets first.
  void flush(time_point now);

  /// Bytes that wait.
  size_t waiting() const {
    return waiting_bytes_ + gathered_.size();
  }

  // -- from the node, and the time ----------------------------------------------

  void take(const std::string& bundle, time_point now);

  /// To be called now and then while `is_unsettled`: sees to it that nothing is
  /// lost without being noticed.
  void tick(time_point now);

  bool is_greeting() const {
    return phase_ == phase::greeting;
  }

  /// Whether one side has not heard what became of what it said.
  bool is_unsettled() const {
    return is_greeting() || sent_bytes_ != taken_bytes_
           || received_bytes_ != told_bytes_ || waiting() > 0;
  }

private:
  enum class phase { silent, greeting, open };

  void greet(time_point now);
  void take_greeting(const greeting_frame& x, time_point now);
  void break_off(const std::string& why, time_point now);
  void stop(const std::string& why);
  void tell(bool asks);
  void close_bundle();
  void pump();

  size_t window_;
  effects out_;
  phase phase_ = phase::silent;
  time_point greet_until_;
  size_t greetings_ = 0;

  /// What each side calls this conversation; 0: the other side's is not known.
  uint32_t mine_ = 1;
  uint32_t theirs_ = 0;

  uint64_t sent_ = 0;
  uint64_t received_ = 0;

  /// Bytes of bundles, see `taken_frame`: sent and of those taken, received and of
  /// those told.
  uint64_t sent_bytes_ = 0;
  uint64_t taken_bytes_ = 0;
  uint64_t received_bytes_ = 0;
  uint64_t told_bytes_ = 0;

  struct bundle {
    std::shared_ptr<std::string> bytes;
    bool counts = false;
  };

  std::string gathered_;
  bool gathered_counts_ = false;
  std::deque<bundle> waiting_;
  size_t waiting_bytes_ = 0;
};

} // namespace troupe
