#pragma once

#include "messages/value.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace troupe {

/// An info without flags.
inline info make_info(std::string_view key, value x) {
  return {std::string{key}, 0, std::move(x)};
}

} // namespace troupe
