#include "tools/window_command.hpp"

#include <string_view>

namespace troupe {

namespace {

/// A name as a word of a shell, also within quotes: what may mean something
/// there becomes an underscore.
std::string harmless(std::string name) {
  constexpr auto known = std::string_view{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-"};
  for (auto& c : name)
    if (known.find(c) == std::string_view::npos)
      c = '_';
  return name;
}

} // namespace

std::string window_command(const std::string& command, uint32_t rank,
                           const std::string& nspace) {
  auto result = std::string{};
  for (size_t i = 0; i < command.size(); ++i) {
    const auto next = i + 1 < command.size() ? command[i + 1] : '\0';
    if (command[i] != '%' || (next != 'r' && next != 'n' && next != '%')) {
      result += command[i];
      continue;
    }
    result += next == 'r'   ? std::to_string(rank)
              : next == 'n' ? harmless(nspace)
                            : "%";
    ++i;
  }
  return result;
}

} // namespace troupe
