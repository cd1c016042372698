#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

class event_loop;

/// Writes to a descriptor that the process inherited, such as its standard
/// output, without blocking the loop and without switching the descriptor to
/// non-blocking, which would show in the shell and everybody else who shares
/// it. Everything that writes to one descriptor should share one writer.
///
/// A file that is always ready is written directly. Needs SIGPIPE ignored.
/// For the thread of the loop only.
class fd_writer {
public:
  using callback = std::function<void()>;

  /// Told once why nothing is written any more.
  using failure_callback = std::function<void(const std::string& reason)>;

  /// @param fd        Not owned; must stay open.
  /// @param on_failed Called when nobody reads any more, or the disk is full.
  ///                  From then on everything is discarded.
  fd_writer(event_loop& loop, int fd, failure_callback on_failed = {});

  ~fd_writer();

  fd_writer(const fd_writer&) = delete;

  fd_writer& operator=(const fd_writer&) = delete;

  /// Writes `bytes` after what was given before, at once if possible. Does not
  /// bound what it holds: the caller waits for `on_done`.
  /// @param on_done Called once, perhaps before this returns, when the bytes
  ///                have been written or discarded; not if the writer is
  ///                destroyed earlier.
  void write(std::string bytes, callback on_done = {});

  /// Has `f` called before bytes are written that `write` is given, as long as
  /// nobody is called by it: for whoever keeps a line on the same terminal, which
  /// has to go first. Empty: nobody.
  void before_writing(callback f);

  /// @returns how much has not been written yet.
  size_t held_bytes() const noexcept;

  /// @returns whether nothing can be written any more.
  bool has_failed() const noexcept;

  /// @returns the errno of why; 0 as long as it can.
  int error() const noexcept;

  /// @returns whether the descriptor is a terminal.
  bool is_terminal() const noexcept;

private:
  struct state;

  std::shared_ptr<state> state_;
};

} // namespace troupe
