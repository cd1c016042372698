#pragma once

#include <caf/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// How an operation ended, or which event happened: the numbers of the
/// Standard, all the way from the socket to the C caller.
/// Source: PMIx Standard v5, "Return Status Constants"; status.def.
enum class status : int32_t {
#define TROUPE_STATUS(name, number, c_name) name = number,
#include "messages/status.def"
#undef TROUPE_STATUS
};

/// The name of `code` in C, such as `PMIX_ERR_TIMEOUT`; the number itself for a
/// code that no release of the Standard names.
std::string to_string(status code);

/// Finds the status that has the name `c_name` in C.
std::optional<status> status_named(std::string_view c_name);

/// Turns a failed outcome into the error channel of CAF. Found by CAF through
/// argument-dependent lookup, so a handler may simply `return status::timeout`.
/// @param what A sentence for the log: names the input and the remedy.
/// @pre `code != status::success`
caf::error make_error(status code, std::string what = {});

/// Reads the outcome back. Errors that CAF raised itself map to their closest
/// status: a request that timed out is `timeout`, a receiver that is gone is
/// `unreach`, anything else is `error`.
status status_of(const caf::error& err);

/// The sentence given to `make_error`; for errors that CAF raised, CAF's text.
std::string reason_of(const caf::error& err);

} // namespace troupe
