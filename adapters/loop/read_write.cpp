#include "adapters/loop/read_write.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace troupe {

std::optional<size_t> read_into(int fd, void* to, size_t size) {
  auto result = size_t{0};
  while (result < size) {
    const auto n = ::read(fd, static_cast<char*>(to) + result, size - result);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return std::nullopt;
    if (n == 0)
      break;
    result += static_cast<size_t>(n);
  }
  return result;
}

std::optional<std::string> read_up_to(int fd, size_t most) {
  constexpr size_t least_step = 4096;
  auto result = std::string{};
  while (result.size() < most) {
    const auto size = result.size();
    const auto step = std::min(std::max(least_step, size), most - size);
    result.resize(size + step);
    const auto n = read_into(fd, result.data() + size, step);
    if (!n)
      return std::nullopt;
    result.resize(size + *n);
    if (*n < step)
      break;
  }
  return result;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

} // namespace troupe
