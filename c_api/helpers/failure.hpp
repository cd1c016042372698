#pragma once

#include <pmix_common.h>

#include <functional>

namespace troupe::c_api {

// No exception leaves the library: the programs that call it are in C. Each
// public function is a try block as a whole, and ends with one of these.

/// What a public function returns for the exception that is being handled:
/// PMIX_ERR_NOMEM if there was no memory, PMIX_ERR_OUT_OF_RESOURCE if the
/// system has none of something else, otherwise PMIX_ERROR.
pmix_status_t status_of_exception() noexcept;

/// Does what has to be done whatever memory there is: again and again, for as
/// long as there is none, up to a second.
/// @param step Has no effect if it throws.
void insist(const std::function<void()>& step);

} // namespace troupe::c_api
