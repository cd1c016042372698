#pragma once

#include "adapters/loop/fd_watch.hpp"
#include "adapters/loop/timer.hpp"
#include "adapters/loop/unique_fd.hpp"

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class event_loop;
class thread_pool;

/// Reads a descriptor that the process inherited and shares with others: never
/// switches it to non-blocking, and still never blocks the loop.
///
/// A terminal, pipe or device is opened anew through /proc, which gives us a
/// file description of our own; a socket knows reads that do not wait; a
/// regular file is read on a thread of the pool. Where none of this works the
/// descriptor is read when the kernel says that bytes are there.
class input_reader {
public:
  /// Gets the bytes asked for; none at the end of the input.
  using receiver = std::function<void(std::string bytes)>;

  /// @param fd Not owned; may be closed or invalid: then the input is empty.
  input_reader(event_loop& loop, thread_pool& pool, int fd, size_t window,
               receiver deliver);

  input_reader(const input_reader&) = delete;

  input_reader& operator=(const input_reader&) = delete;

  /// Asks for the next bytes: one call of the receiver, later. Not to be called
  /// again before, nor after the end.
  void next();

private:
  enum class kind { invalid, polled, socket, file };

  void open(int fd);
  void on_readable();
  void read_file();
  void pause();
  void give(std::string bytes);
  ssize_t read_now(std::string& buffer) const;

  event_loop& loop_;
  thread_pool& pool_;
  size_t window_;
  receiver deliver_;
  kind kind_ = kind::invalid;
  bool is_terminal_ = false;
  std::shared_ptr<unique_fd> fd_;
  std::optional<fd_watch> watch_;
  timer again_;
  timer at_end_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace troupe
