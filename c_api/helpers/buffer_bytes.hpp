#pragma once

#include <pmix_common.h>

#include <string_view>

namespace troupe::c_api {

/// Appends bytes to a buffer, which grows by doubling.
/// @returns PMIX_ERR_NOMEM without memory; the buffer is then as it was.
pmix_status_t append_bytes(pmix_data_buffer_t& to, std::string_view from);

/// What has not been unpacked; empty if the pointers make no sense.
std::string_view unread_bytes(const pmix_data_buffer_t& x);

} // namespace troupe::c_api
