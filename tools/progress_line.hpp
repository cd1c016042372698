#pragma once

#include "adapters/loop/timer.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class event_loop;
class fd_writer;

/// A line at the bottom of a terminal that says how far something is which takes
/// longer than a second; it makes room for whatever else is written there, and is
/// gone when there is nothing to say any more. For the thread of the loop only.
class progress_line {
public:
  /// Says what to show now, in a line without its end; nothing if it is empty.
  using source = std::function<std::string()>;

  /// @param err  Where the line is shown.
  /// @param out  Another writer to the same terminal; may be none.
  /// @param what Called four times a second.
  progress_line(event_loop& loop, std::shared_ptr<fd_writer> err,
                std::shared_ptr<fd_writer> out, source what);

  ~progress_line();

  progress_line(const progress_line&) = delete;

  progress_line& operator=(const progress_line&) = delete;

  /// Whether lines can be shown there: it is a terminal that takes commands.
  static bool is_possible(const fd_writer& err);

private:
  void tick();
  void show(const std::string& text);
  void hide();

  std::shared_ptr<fd_writer> err_;
  std::shared_ptr<fd_writer> out_;
  source what_;
  timer timer_;

  /// How often there was something to say, in a row.
  size_t ticks_ = 0;
  bool is_shown_ = false;
};

} // namespace troupe
