#pragma once

#include "adapters/log/fd_writer.hpp"
#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/children.hpp"
#include "messages/actors.hpp"
#include "messages/io_stream.hpp"

#include <caf/typed_response_promise.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace troupe {

class event_loop;

/// The window of one process: waits for its program to connect, then writes to
/// it. For the thread of the loop only.
class screen_window {
public:
  /// What has been waiting for the window, and who waits for its answer.
  struct waiting {
    io_fragment what;
    caf::typed_response_promise<ack> reply;
  };

  struct callbacks {
    /// The program is there: input comes from this descriptor.
    std::function<void(int fd)> on_connected;

    /// There will be no window: why, and what waits for it.
    std::function<void(const std::string& why, std::deque<waiting>)> on_failed;

    /// The user has closed it.
    std::function<void()> on_closed;
  };

  screen_window(event_loop& loop, callbacks handlers);

  ~screen_window();

  screen_window(const screen_window&) = delete;

  screen_window& operator=(const screen_window&) = delete;

  /// Starts the command, and waits for its program at `path`.
  void open(const std::string& path, const std::string& command, bool is_raw);

  void take(waiting x);

  bool has_failed() const noexcept {
    return has_failed_;
  }

private:
  void accept_program();
  void on_command_end();
  void fail(const std::string& why);
  void write(waiting x);
  bool start(const std::string& path, const std::string& command, bool is_raw);

  event_loop& loop_;
  callbacks handlers_;
  std::string path_;
  unique_fd listener_;
  unique_fd connection_;
  unique_fd pidfd_;
  std::optional<awaited_child> child_;
  std::unique_ptr<fd_watch> accepts_;
  std::unique_ptr<fd_watch> ends_;
  std::unique_ptr<timer> patience_;
  std::unique_ptr<fd_writer> out_;
  std::deque<waiting> waiting_;
  std::set<io_channels> ended_;
  bool has_failed_ = false;
};

} // namespace troupe
