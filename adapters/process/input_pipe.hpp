#pragma once

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "messages/connection.hpp"
#include "messages/fwd.hpp"
#include "messages/process.hpp"

#include <caf/typed_response_promise.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace troupe {

class event_loop;

/// Writes to the standard input of a process, a pipe or a terminal. Needs
/// SIGPIPE ignored.
class input_pipe {
public:
  /// Called once: with `true` when the bytes are in the pipe, with `false` if
  /// nobody reads it any more. Must not destroy the pipe.
  using done_callback = std::function<void(bool written)>;

  /// What has to be written so that the reader finds the end, after the last
  /// byte that was written before.
  using end_maker = std::function<std::string(char last)>;

  /// @param window   Bytes that may wait to be written.
  /// @param make_end Empty: the end is that the pipe is closed.
  input_pipe(event_loop& loop, unique_fd fd, size_t window,
             end_maker make_end = {});

  input_pipe(const input_pipe&) = delete;

  input_pipe& operator=(const input_pipe&) = delete;

  /// Fails what is still waiting.
  ~input_pipe();

  /// @returns whether there is room; something of any size may always wait
  ///          alone. If not, `done` is not called.
  bool write(std::string bytes, done_callback done);

  /// Closes the pipe after what is waiting; nothing can be written any more.
  void close();

  /// Nobody reads any more.
  void fail();

private:
  struct entry {
    std::string bytes;
    size_t written = 0;
    done_callback done;
  };

  void add(std::string bytes, done_callback done);
  void write_waiting();

  unique_fd fd_;
  size_t window_;
  end_maker make_end_;

  /// The last byte given.
  char last_ = '\n';
  std::optional<fd_watch> watch_;
  std::deque<entry> waiting_;
  size_t waiting_bytes_ = 0;
  bool is_closing_ = false;
};

/// Writes input to the pipe of a process and answers what has become of it:
/// `lost_connection` if nobody reads it any more, `resource_busy` if too much
/// waits already.
/// @param pipe Null: the process has none.
void write_input(input_pipe* pipe, write_stdin&& request,
                 caf::typed_response_promise<ack> reply);

} // namespace troupe
