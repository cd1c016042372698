#pragma once

#include "adapters/terminal/terminal_text.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace troupe {

/// The whole terminal, with the keys as they are pressed. One at a time, and for one
/// thread. ncursesw is loaded when the first is opened, so that programs which open
/// none do not pay for it.
///
/// Signals of the keyboard go on: Ctrl-C and SIGTERM end the process and leave the
/// terminal as it was, Ctrl-Z stops it and fg draws it anew.
class full_screen {
public:
  /// @returns why not, in a sentence with the remedy: standard input and output are
  ///          no terminal, its kind (`TERM`) is not known, or there is no ncursesw.
  static caf::expected<std::unique_ptr<full_screen>> open();

  /// Leaves the terminal as it was.
  ~full_screen();

  full_screen(const full_screen&) = delete;

  full_screen& operator=(const full_screen&) = delete;

  size_t rows() const;

  size_t columns() const;

  /// Shows these lines from the top, as far as there is room.
  void draw(const std::vector<text_line>& lines);

  /// Waits for a key, at most so long, or until `wakes` can be read.
  /// @param wakes A descriptor; not read from here.
  key_press wait(std::chrono::milliseconds limit, int wakes);

private:
  struct state;

  explicit full_screen(std::unique_ptr<state> x);

  std::unique_ptr<state> state_;
};

} // namespace troupe
