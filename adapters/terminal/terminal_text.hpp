#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a full screen shows, and the keys of its user, in words of no library.

namespace troupe {

/// How a piece of text looks; how that is done is the terminal's affair.
enum class text_style : uint8_t {
  plain,
  title,    ///< bold
  head,     ///< over a table
  selected, ///< where the user is
  good,
  warning,
  bad,
  faint,
};

struct text_piece {
  /// UTF-8 without control characters.
  std::string text;
  text_style style = text_style::plain;
};

using text_line = std::vector<text_piece>;

enum class terminal_key : uint8_t {
  none, ///< nothing was pressed
  character,
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  resize, ///< the terminal has another size now
  gone,   ///< there is no terminal any more
};

struct key_press {
  terminal_key what = terminal_key::none;

  /// Of `character`; printable.
  char character = '\0';
};

} // namespace troupe
