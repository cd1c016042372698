#pragma once

#include "actors/io/input_queue.hpp"
#include "adapters/process/input_reader.hpp"
#include "adapters/wire/pushes.hpp"
#include "messages/io.hpp"

#include <memory>
#include <optional>
#include <string>

namespace troupe {

class event_loop;
class thread_pool;

namespace c_api {

/// Sends input of the program to processes, and its standard input if it says
/// so. For the thread of the loop.
/// Source: PMIx Standard v5, `PMIx_IOF_push`, PMIX_IOF_PUSH_STDIN.
class input_pusher {
public:
  input_pusher(event_loop& loop, thread_pool& pool);

  /// Pushes the bytes of `x`; without any, the end of the input.
  void push(io_push_request x, input_queue::callback done);

  /// Forwards our own standard input until it ends, or is refused.
  /// @param pattern Targets and directives of every piece.
  void forward_stdin(io_push_request pattern);

  /// Reads no more of it. What has been read is still pushed.
  void stop_stdin();

  /// The server wants nothing more for now, or goes on.
  void control(const wire::flow_control& what);

  /// The server that may have stopped us is gone.
  void go_on();

  /// Refuses what waits.
  void close();

private:
  void read_stdin();
  void take_stdin(std::string bytes);

  event_loop& loop_;
  thread_pool& pool_;
  std::shared_ptr<input_queue> queue_;
  std::optional<io_push_request> pattern_;
  std::optional<input_reader> reader_;

  /// Whether more of our standard input is wanted, whether a piece is being
  /// read or pushed, and whether it is at its end.
  bool wants_stdin_ = false;
  bool is_forwarding_ = false;
  bool is_at_end_ = false;
};

} // namespace c_api

} // namespace troupe
