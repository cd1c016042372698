#include "tools/notice.hpp"

#include "config/escape.hpp"

namespace troupe {

std::string notice(std::string_view who, std::string_view text) {
  return escape_control_characters(who) + ": " + escape_control_characters(text)
         + "\n";
}

} // namespace troupe
