#include "tools/progress_line.hpp"

#include "adapters/log/fd_writer.hpp"
#include "base/escape.hpp"
#include "tools/printing.hpp"
#include "tools/terminal_mode.hpp"

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// How often the line is made anew, and after how many times it is shown first:
/// what takes less than a second needs none.
constexpr auto interval = 250ms;
constexpr size_t patience = 4;

/// If the terminal does not say how wide it is.
constexpr size_t usual_columns = 80;

/// Removes what is behind the cursor. Source: ECMA-48, 8.3.41.
constexpr auto erase_line = std::string_view{"\x1b[K"};

size_t columns() {
  const auto size = terminal_size();
  return size && size->ws_col > 0 ? size->ws_col : usual_columns;
}

} // namespace

bool progress_line::is_possible(const fd_writer& err) {
  const auto* kind = std::getenv("TERM");
  return err.is_terminal() && kind != nullptr && *kind != '\0'
         && std::string_view{kind} != "dumb";
}

progress_line::progress_line(event_loop& loop, std::shared_ptr<fd_writer> err,
                             std::shared_ptr<fd_writer> out, source what)
  : err_(std::move(err)), out_(std::move(out)), what_(std::move(what)),
    timer_(loop, [this] { tick(); }) {
  err_->before_writing([this] { hide(); });
  if (out_)
    out_->before_writing([this] { hide(); });
  timer_.start(interval);
}

progress_line::~progress_line() {
  hide();
  err_->before_writing({});
  if (out_)
    out_->before_writing({});
}

void progress_line::tick() {
  timer_.start(interval);
  const auto text = what_();
  if (text.empty()) {
    ticks_ = 0;
    hide();
  } else if (++ticks_ >= patience) {
    show(text);
  }
}

/// Leaves the cursor at the begin of the line, for whoever writes there without
/// our knowledge.
void progress_line::show(const std::string& text) {
  // A reader that is slow gets the next one.
  if (err_->held_bytes() > 0)
    return;
  const auto line =
    fitted(escape_control_characters("troupe: " + text), columns() - 1);
  err_->write("\r" + line + std::string{erase_line} + "\r");
  is_shown_ = true;
}

void progress_line::hide() {
  if (!std::exchange(is_shown_, false))
    return;
  err_->write("\r" + std::string{erase_line});
}

} // namespace troupe
