#pragma once

namespace troupe::c_api {

/// Has a C++ library that came into the process after ours call the handler that our
/// part of the process has set for when memory runs out. Nothing if the program had
/// one before: that has the handler.
/// @param library A handle of `dlopen`, of a library that brought it.
void share_new_handler(void* library) noexcept;

} // namespace troupe::c_api
