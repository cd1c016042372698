#include "tools/window_command.hpp"

namespace troupe {

std::string window_command(const std::string& command, uint32_t rank,
                           const std::string& nspace) {
  auto result = std::string{};
  for (size_t i = 0; i < command.size(); ++i) {
    const auto next = i + 1 < command.size() ? command[i + 1] : '\0';
    if (command[i] != '%' || (next != 'r' && next != 'n' && next != '%')) {
      result += command[i];
      continue;
    }
    result += next == 'r' ? std::to_string(rank) : next == 'n' ? nspace : "%";
    ++i;
  }
  return result;
}

} // namespace troupe
