#pragma once

#include <cstdlib>
#include <cstring>
#include <string_view>

// Memory that crosses the C API: malloc and free, never new and delete.

namespace troupe::c_api {

/// Zeroed memory for `n` objects; null for none, without memory, or if the size
/// overflows.
template <class T>
T* allocate(size_t n) {
  return n == 0 ? nullptr : static_cast<T*>(std::calloc(n, sizeof(T)));
}

/// A text with its final zero; null without memory.
inline char* duplicate(std::string_view x) {
  auto* result = static_cast<char*>(std::malloc(x.size() + 1));
  if (result == nullptr)
    return nullptr;
  if (!x.empty())
    std::memcpy(result, x.data(), x.size());
  result[x.size()] = '\0';
  return result;
}

} // namespace troupe::c_api
