#pragma once

#include "actors/io/shared_window.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/loop_event.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class event_loop;

/// Lets those that have much to read take turns: in each pass of the loop about
/// as much is read as is worth a message, after the descriptors that are ready
/// have been called. So many streams at full rate do not hold up whoever else
/// waits for the loop longer than one of them does.
///
/// While processes of the node wait for each other, less is read at a time, and
/// no more than `bulk_pace` says: the writer, and who gets it, take processors
/// from those. Source: guarantees 5.7.
///
/// For the thread of the loop only.
class read_turns {
public:
  /// What is read in one pass; a reading that has begun is not cut short.
  static constexpr size_t bytes_per_pass = size_t{64} << 10;

  /// The same beside what is urgent.
  static constexpr size_t bytes_beside_urgent = size_t{16} << 10;

  /// What a reading counts for at least.
  static constexpr size_t least_bytes = size_t{4} << 10;

  /// Has turns. Leaves the queue when it is destroyed.
  class reader {
  public:
    /// Reads so many bytes at most, once; must not destroy the reader.
    /// @returns how many there were.
    using callback = std::function<size_t(size_t most)>;

    reader(read_turns& turns, callback read);

    ~reader();

    reader(const reader&) = delete;

    reader& operator=(const reader&) = delete;

    /// Reads when it is its turn; called once more before that, has no effect.
    void join();

    /// Wants no turn.
    void leave() noexcept;

    /// Whether it waits for its turn.
    bool is_waiting() const noexcept {
      return is_waiting_;
    }

  private:
    friend class read_turns;

    read_turns& turns_;
    callback read_;
    bool is_waiting_ = false;
  };

  explicit read_turns(event_loop& loop);

  read_turns(const read_turns&) = delete;

  read_turns& operator=(const read_turns&) = delete;

private:
  void run();

  event_loop& loop_;
  std::list<reader*> waiting_;
  bool is_due_ = false;
  loop_event next_;
};

/// Decides when a pipe that a process writes to is read again.
///
/// What comes after a silence is read at once, and so are large pieces. Who
/// writes many small pieces in a row is busy: his bytes gather in the pipe
/// until a reading is worth its messages, so that small pieces cost what large
/// ones cost. How long that takes is told from how fast they came.
class output_pace {
public:
  using time = std::chrono::steady_clock::time_point;

  using duration = std::chrono::nanoseconds;

  /// Least and most that a busy writer's bytes gather.
  static constexpr auto least_time = std::chrono::microseconds{500};
  static constexpr auto most_time = std::chrono::milliseconds{4};

  /// A pipe of less is not worth gathering in.
  static constexpr size_t least_capacity = size_t{64} << 10;

  /// @param capacity What the pipe holds; 0 for what is not a pipe: nothing
  ///                 gathers there.
  explicit output_pace(size_t capacity) : capacity_(capacity) {
    // nop
  }

  void set_capacity(size_t bytes) noexcept {
    capacity_ = bytes;
  }

  /// @returns whether bytes gather: the more the pipe holds the better.
  bool is_busy() const noexcept {
    return is_busy_;
  }

  /// Something has been read.
  /// @param is_all Whether as much came as was asked for: there may be more.
  /// @returns how long to wait before the pipe is read again; zero: until
  ///          something is there.
  duration on_read(time now, size_t bytes, bool is_all);

private:
  duration gathering_time(duration took) const;

  size_t capacity_;
  time read_at_;

  /// Small pieces in quick succession.
  size_t quick_ = 0;
  bool is_busy_ = false;

  /// Since when, and how much has been read since then.
  time begin_;
  size_t gathered_ = 0;
};

/// What all streams share.
struct output_credit {
  std::shared_ptr<shared_window> window;

  /// How many more pipes may be enlarged: pipes of a user share a bound, beyond
  /// which new ones are tiny. Source: pipe(7).
  size_t enlargeable = 64;

  /// The streams of a loop are read in turn.
  std::optional<read_turns> turns = {};
};

/// Reads one output stream of a process. Does not read ahead of what has been
/// taken by more than a window, or its share of what all streams have: then the
/// pipe fills up and the process waits. It goes on when its own bytes are
/// taken. When it is read says `output_pace`.
class output_pipe {
public:
  /// Takes bytes, in order; calls `taken` later, never at once. No bytes: the
  /// stream is at its end.
  using receiver = std::function<void(std::string bytes)>;

  /// Most bytes of one `receiver` call.
  static constexpr size_t max_fragment = size_t{64} << 10;

  /// Most `receiver` calls not answered by `taken`: bounds what small fragments
  /// cost beyond their bytes, and lets a busy writer's bytes gather in the
  /// pipe.
  static constexpr size_t max_fragments = 64;

  /// What a busy writer's pipe holds.
  static constexpr int enlarged_pipe = 256 << 10;

  /// Hears that nothing has come for the grace of `expect_end`.
  using quiet_callback = std::function<void()>;

  output_pipe(event_loop& loop, unique_fd fd, output_credit& credit,
              size_t window, receiver deliver);

  output_pipe(const output_pipe&) = delete;

  output_pipe& operator=(const output_pipe&) = delete;

  ~output_pipe();

  /// One call of the receiver is settled.
  /// @param bytes How many it was given.
  void taken(size_t bytes);

  /// The process ended. Whoever else holds the pipe open may write on, but is
  /// not waited for: after `grace` of silence the stream is quiet.
  void expect_end(std::chrono::milliseconds grace, quiet_callback on_quiet);

  /// Nobody is left to write: the stream ends as soon as the pipe is empty.
  void end_when_empty();

  /// @returns whether nothing is on its way and nothing is expected.
  bool is_quiet() const noexcept {
    return fragments_ == 0 && (!fd_ || is_quiet_);
  }

  /// @returns whether the end has been delivered and all calls are settled.
  bool is_over() const noexcept {
    return !fd_ && fragments_ == 0;
  }

private:
  enum class outcome { some, nothing, paused, ended };

  outcome read_once(size_t limit = max_fragment);
  size_t read_in_turn(size_t most);
  void on_readable();
  void read_rest();
  void resume();
  void on_silence();
  void end();
  size_t room() const noexcept;
  void pace(size_t size, bool is_all);
  void enlarge();
  void close();

  event_loop& loop_;
  unique_fd fd_;
  output_credit& credit_;
  size_t window_;
  receiver deliver_;
  std::optional<fd_watch> watch_;

  /// Delivered and not settled.
  window_share bytes_;
  size_t fragments_ = 0;

  read_turns::reader turn_;
  output_pace pace_;
  bool was_enlarged_ = false;
  bool is_enlarged_ = false;
  bool is_gathering_ = false;
  timer gathered_;

  bool end_when_empty_ = false;
  bool is_quiet_ = false;
  quiet_callback on_quiet_;
  std::chrono::milliseconds grace_{0};
  std::optional<timer> silence_;
};

} // namespace troupe
