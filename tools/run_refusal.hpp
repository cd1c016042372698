#pragma once

#include "messages/status.hpp"

#include <caf/expected.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <utility>

// How a wrong command line of `troupe run` ends: by an exception of CLI11,
// which throws the same.

namespace troupe {

/// The exit status for a wrong command line.
inline constexpr int usage_error = 2;

/// The exit status for what could not begin: a word of the command line that
/// makes no sense, or anything else.
inline int exit_status_of(const caf::error& why) {
  return status_of(why) == status::bad_param ? usage_error : 1;
}

/// Raised for what CLI11 cannot check.
[[noreturn]] inline void refuse(const std::string& what) {
  throw CLI::ValidationError(what, usage_error);
}

/// The value of an outcome; its reason, behind the option to blame, is raised.
template <class T>
T value_or_refuse(caf::expected<T> x, const std::string& option) {
  if (!x)
    refuse((option.empty() ? option : option + ": ") + reason_of(x.error()));
  return std::move(*x);
}

} // namespace troupe
