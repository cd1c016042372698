#include "adapters/c_values/c_types.hpp"
#include "c_api/helpers/buffer_bytes.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <algorithm>
#include <cstddef>

// Data buffers: bytes moved in and out. A buffer owns the memory from
// `base_ptr`; `unpack_ptr` to `pack_ptr` has not been read yet.

using namespace troupe::c_api;

namespace {

/// What has not been read; nothing if the pointers make no sense.
pmix_byte_object_t unread(const pmix_data_buffer_t& x) {
  if (x.base_ptr == nullptr || x.bytes_used == 0)
    return {};
  auto* from = x.unpack_ptr != nullptr ? x.unpack_ptr : x.base_ptr;
  auto* end = x.base_ptr + x.bytes_used;
  if (from < x.base_ptr || from >= end)
    return {};
  return {from, static_cast<size_t>(end - from)};
}

pmix_status_t append(pmix_data_buffer_t& to, const pmix_byte_object_t& from) {
  if (from.bytes == nullptr || from.size == 0)
    return PMIX_SUCCESS;
  return append_bytes(to, {from.bytes, from.size});
}

} // namespace

namespace troupe::c_api {

pmix_status_t append_bytes(pmix_data_buffer_t& to, std::string_view from) {
  constexpr auto first_size = size_t{1024};
  if (from.empty())
    return PMIX_SUCCESS;
  if (to.base_ptr == nullptr)
    to = {};
  const auto needed = to.bytes_used + from.size();
  if (needed < from.size())
    return PMIX_ERR_NOMEM;
  if (to.bytes_allocated < needed) {
    const auto read = to.unpack_ptr != nullptr ? to.unpack_ptr - to.base_ptr
                                               : std::ptrdiff_t{0};
    const auto room = std::max({needed, 2 * to.bytes_allocated, first_size});
    auto* base = static_cast<char*>(std::realloc(to.base_ptr, room));
    if (base == nullptr)
      return PMIX_ERR_NOMEM;
    to.base_ptr = base;
    to.unpack_ptr = base + read;
    to.bytes_allocated = room;
  }
  std::memcpy(to.base_ptr + to.bytes_used, from.data(), from.size());
  to.bytes_used = needed;
  to.pack_ptr = to.base_ptr + needed;
  return PMIX_SUCCESS;
}

std::string_view unread_bytes(const pmix_data_buffer_t& x) {
  const auto bytes = ::unread(x);
  return {bytes.bytes, bytes.size};
}

} // namespace troupe::c_api

pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t* to,
                                     pmix_data_buffer_t* from) try {
  if (to == nullptr || from == nullptr || to == from)
    return PMIX_ERR_BAD_PARAM;
  return append(*to, unread(*from));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Data_unload(pmix_data_buffer_t* from,
                               pmix_byte_object_t* payload) try {
  if (from == nullptr || payload == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *payload = {};
  const auto rest = unread(*from);
  if (rest.size > 0 && rest.bytes == from->base_ptr) {
    // Nothing was read: the memory itself changes its owner.
    *payload = rest;
    *from = {};
    return PMIX_SUCCESS;
  }
  if (rest.size > 0) {
    *payload = rest;
    const auto code = copy(PMIX_BYTE_OBJECT, payload, &rest);
    if (code != PMIX_SUCCESS)
      return code;
  }
  release(from);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Data_load(pmix_data_buffer_t* to,
                             pmix_byte_object_t* payload) try {
  if (to == nullptr)
    return PMIX_ERR_BAD_PARAM;
  release(to);
  if (payload == nullptr || payload->bytes == nullptr)
    return PMIX_SUCCESS;
  to->base_ptr = to->unpack_ptr = payload->bytes;
  to->pack_ptr = payload->bytes + payload->size;
  to->bytes_allocated = to->bytes_used = payload->size;
  *payload = {};
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Data_embed(pmix_data_buffer_t* to,
                              const pmix_byte_object_t* payload) try {
  if (to == nullptr)
    return PMIX_ERR_BAD_PARAM;
  release(to);
  return payload != nullptr ? append(*to, *payload) : PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}
