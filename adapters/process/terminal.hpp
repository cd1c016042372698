#pragma once

#include "adapters/loop/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// A pseudo-terminal that nobody has opened yet.
struct terminal {
  /// Does not block.
  unique_fd master;

  /// What the process opens.
  std::string path;
};

/// Opens a pseudo-terminal. One with a size is somebody's screen: it echoes and
/// ends lines as terminals do. One without passes output on byte for byte and
/// does not echo, so that its stream is what the process wrote.
/// @returns nothing if the system has none left; errno says why.
std::optional<terminal> open_terminal(uint16_t rows, uint16_t columns);

/// What has to be typed after `last`, the last byte typed before, so that
/// whoever reads the terminal finds the end of its input; nothing if its
/// settings know no such character.
std::string end_of_input(int master, char last);

} // namespace troupe
