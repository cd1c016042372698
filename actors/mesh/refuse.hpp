#pragma once

#include "messages/status.hpp"

#include <caf/result.hpp>

namespace troupe {

/// A handler that refuses what a host does not offer.
/// @param why A string literal.
template <class Result, class... Request>
auto refuse(const char* why) {
  return [why](const Request&...) -> caf::result<Result> {
    return make_error(status::not_supported, why);
  };
}

} // namespace troupe
