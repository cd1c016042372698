#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// A line for people, `who: text`, with its end. Whatever others have written
/// in it - names, the text of an abort or an event, what another node says -
/// cannot command a terminal, nor look like a line of its own. What goes to
/// standard error of a program of ours goes through here.
/// Source: requirement X31.
std::string notice(std::string_view who, std::string_view text);

} // namespace troupe
