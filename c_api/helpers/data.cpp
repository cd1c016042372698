#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/structures.hpp"
#include "adapters/wire/compression.hpp"
#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/regex_text.hpp"

#include <pmix.h>

#include <algorithm>
#include <cstddef>
#include <exception>

// Data buffers: bytes moved in and out. A buffer owns the memory from
// `base_ptr`; `unpack_ptr` to `pack_ptr` has not been read yet.

using namespace troupe;
using namespace troupe::c_api;

namespace {

/// What has not been read; nothing if the pointers make no sense.
pmix_byte_object_t rest_of(const pmix_data_buffer_t& x) {
  if (x.base_ptr == nullptr || x.bytes_used == 0)
    return {};
  auto* from = x.unpack_ptr != nullptr ? x.unpack_ptr : x.base_ptr;
  auto* end = x.base_ptr + x.bytes_used;
  if (from < x.base_ptr || from >= end)
    return {};
  return {from, static_cast<size_t>(end - from)};
}

/// Appends bytes to a buffer, which grows by doubling.
/// @returns PMIX_ERR_NOMEM without memory; the buffer is then as it was.
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

pmix_status_t append(pmix_data_buffer_t& to, const pmix_byte_object_t& from) {
  if (from.bytes == nullptr || from.size == 0)
    return PMIX_SUCCESS;
  return append_bytes(to, {from.bytes, from.size});
}

} // namespace

pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t* to,
                                     pmix_data_buffer_t* from) try {
  if (to == nullptr || from == nullptr || to == from)
    return PMIX_ERR_BAD_PARAM;
  return append(*to, rest_of(*from));
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Data_unload(pmix_data_buffer_t* from,
                               pmix_byte_object_t* payload) try {
  if (from == nullptr || payload == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *payload = {};
  const auto rest = rest_of(*from);
  if (rest.size > 0 && rest.bytes == from->base_ptr) {
    // Nothing was read: the memory itself changes its owner.
    *payload = rest;
    *from = {};
    return PMIX_SUCCESS;
  }
  if (rest.size > 0) {
    *payload = rest;
    const auto code = c_api::copy(PMIX_BYTE_OBJECT, payload, &rest);
    if (code != PMIX_SUCCESS)
      return code;
  }
  c_api::release(from);
  return PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Data_load(pmix_data_buffer_t* to,
                             pmix_byte_object_t* payload) try {
  if (to == nullptr)
    return PMIX_ERR_BAD_PARAM;
  c_api::release(to);
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
  c_api::release(to);
  return payload != nullptr ? append(*to, *payload) : PMIX_SUCCESS;
} catch (...) {
  return status_of_exception();
}

// -- packing -----------------------------------------------------------------

// Values packed into buffers and unpacked: the bytes of OpenPMIx 4.2 to 6, not
// described. A buffer may go to programs that use another PMIx library.

namespace {

/// The rules of OpenPMIx 4.1 to 5, which 6 reads; and all types beyond them.
wire::dialect buffer_rules() {
  auto rules = wire::dialect{};
  rules.module = wire::packing_module::v41;
  rules.peer = {5, 0, 0};
  rules.expand_strings = false;
  rules.signed_data_type = false;
  rules.all_types = true;
  return rules;
}

/// Where elements of `type` are in memory next to each other. The texts of a
/// REGEX are pointers here, not byte objects as in values.
size_t stride_of(pmix_data_type_t type) {
  return type == PMIX_REGEX ? sizeof(char*) : c_api::c_type_of(type).size;
}

value::storage read_element(c_api::c_reader& r, pmix_data_type_t type,
                            const char* p) {
  if (type != PMIX_REGEX)
    return r.element(static_cast<data_type>(type), p);
  const auto* text = *reinterpret_cast<const char* const*>(p);
  if (text == nullptr) {
    r.fail(status::bad_param,
           "a regular expression is null; give one of PMIx_generate_regex()");
    return std::monostate{};
  }
  return std::string{text, c_api::regex_size(text)};
}

pmix_status_t write_element(pmix_data_type_t type, const value::storage& from,
                            char* p) {
  if (type != PMIX_REGEX)
    return c_api::to_c(static_cast<data_type>(type), from, p);
  const auto* text = std::get_if<std::string>(&from);
  auto* copy = text != nullptr ? c_api::duplicate(*text) : nullptr;
  *reinterpret_cast<char**>(p) = copy;
  return copy != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

void release_elements(pmix_data_type_t type, char* p, size_t n) {
  const auto& row = c_api::c_type_of(type);
  const auto stride = stride_of(type);
  for (size_t i = 0; i < n; ++i, p += stride) {
    if (type == PMIX_REGEX)
      std::free(*reinterpret_cast<char**>(p));
    else if (row.release != nullptr)
      row.release(p);
    std::memset(p, 0, stride);
  }
}

pmix_status_t pack(pmix_data_buffer_t& to, const char* from, int32_t n,
                   pmix_data_type_t type) {
  const auto kind = static_cast<data_type>(type);
  auto out = std::string{};
  auto w = wire::writer{out, buffer_rules()};
  auto r = c_api::c_reader{};
  w.pack(kind, static_cast<size_t>(n));
  for (auto i = 0; i < n && w.ok() && r.ok(); ++i, from += stride_of(type)) {
    const auto element = read_element(r, type, from);
    if (r.ok())
      wire::pack_data(w, kind, element);
  }
  if (const auto err = w.finish())
    return c_api::to_c(err);
  if (!r.ok())
    return c_api::to_c(r.failure());
  return append_bytes(to, out);
}

pmix_status_t unpack(pmix_data_buffer_t& from, char* to, int32_t& n,
                     pmix_data_type_t type) {
  const auto kind = static_cast<data_type>(type);
  const auto rest = rest_of(from);
  const auto bytes = std::string_view{rest.bytes, rest.size};
  if (bytes.empty())
    return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
  auto r = wire::reader{bytes, buffer_rules(), wire::origin::server};
  const auto packed = r.pack(kind);
  const auto wanted = std::min(packed, static_cast<size_t>(n));
  auto code = pmix_status_t{PMIX_SUCCESS};
  auto done = size_t{0};
  for (; done < wanted && r.ok() && code == PMIX_SUCCESS; ++done) {
    const auto element = wire::unpack_data(r, kind);
    if (r.ok())
      code = write_element(type, element, to + done * stride_of(type));
    if (!r.ok() || code != PMIX_SUCCESS)
      break;
  }
  if (!r.ok())
    code = c_api::to_c(r.failure());
  if (code != PMIX_SUCCESS) {
    release_elements(type, to, done);
    return code;
  }
  from.unpack_ptr = from.base_ptr + (from.bytes_used - r.left());
  n = static_cast<int32_t>(done);
  return packed > done ? PMIX_ERR_UNPACK_INADEQUATE_SPACE : PMIX_SUCCESS;
}

/// The bytes of a type that has both a form in C and on the wire.
bool has_form(pmix_data_type_t type) {
  return stride_of(type) != 0 && type != PMIX_UNDEF;
}

} // namespace

pmix_status_t PMIx_Data_pack(const pmix_proc_t*, pmix_data_buffer_t* buffer,
                             void* src, int32_t num_vals,
                             pmix_data_type_t type) try {
  if (buffer == nullptr || num_vals < 0 || (src == nullptr && num_vals > 0))
    return PMIX_ERR_BAD_PARAM;
  if (!has_form(type))
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  try {
    return pack(*buffer, static_cast<const char*>(src), num_vals, type);
  } catch (const std::exception&) {
    return PMIX_ERR_NOMEM;
  }
} catch (...) {
  return c_api::status_of_exception();
}

/// On an error nothing has been read and nothing is owned by `dest`, except
/// for PMIX_ERR_UNPACK_INADEQUATE_SPACE: then what fits has been read, and the
/// rest of the buffer cannot be.
pmix_status_t PMIx_Data_unpack(const pmix_proc_t*, pmix_data_buffer_t* buffer,
                               void* dest, int32_t* max_num_values,
                               pmix_data_type_t type) try {
  if (buffer == nullptr || dest == nullptr || max_num_values == nullptr
      || *max_num_values < 0)
    return PMIX_ERR_BAD_PARAM;
  if (*max_num_values == 0)
    return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
  if (!has_form(type))
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  auto code = pmix_status_t{PMIX_ERR_NOMEM};
  try {
    code = unpack(*buffer, static_cast<char*>(dest), *max_num_values, type);
  } catch (const std::exception&) {
    // No memory: `dest` keeps what it got.
  }
  if (code != PMIX_SUCCESS && code != PMIX_ERR_UNPACK_INADEQUATE_SPACE)
    *max_num_values = 0;
  return code;
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Data_copy(void** dest, void* src,
                             pmix_data_type_t type) try {
  if (dest == nullptr || src == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *dest = nullptr;
  if (!has_form(type))
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  // The element of a text is the text itself.
  const auto* text = static_cast<const char*>(src);
  if (type == PMIX_STRING || type == PMIX_REGEX) {
    const auto size =
      type == PMIX_STRING ? std::strlen(text) : c_api::regex_size(text) - 1;
    *dest = c_api::duplicate({text, size});
    return *dest != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
  }
  auto* copy = std::malloc(c_api::c_type_of(type).size);
  if (copy == nullptr)
    return PMIX_ERR_NOMEM;
  const auto code = c_api::copy(type, copy, src);
  if (code == PMIX_SUCCESS)
    *dest = copy;
  else
    std::free(copy);
  return code;
} catch (...) {
  return c_api::status_of_exception();
}

// -- compression -------------------------------------------------------------

// Blocks compressed with zlib, behind four bytes with their length.
// Source: OpenPMIx wire protocol, compressed strings.

namespace {

/// Shorter blocks are not worth it.
constexpr size_t min_size = 4096;

bool give(const std::string& from, uint8_t** bytes, size_t* size) {
  auto* copy = c_api::allocate<uint8_t>(from.empty() ? 1 : from.size());
  if (copy == nullptr)
    return false;
  if (!from.empty())
    std::memcpy(copy, from.data(), from.size());
  *bytes = copy;
  *size = from.size();
  return true;
}

bool begin(const uint8_t* in, uint8_t** out, size_t* size) {
  if (in == nullptr || out == nullptr || size == nullptr)
    return false;
  *out = nullptr;
  *size = 0;
  return true;
}

std::string_view text_of(const uint8_t* in, size_t size) {
  return {reinterpret_cast<const char*>(in), size};
}

} // namespace

bool PMIx_Data_compress(const uint8_t* in, size_t size, uint8_t** out,
                        size_t* out_size) try {
  if (!begin(in, out, out_size) || size < min_size || size >= UINT32_MAX)
    return false;
  try {
    const auto result = wire::deflate_text(text_of(in, size));
    return result.size() < size && give(result, out, out_size);
  } catch (const std::exception&) {
    return false;
  }
} catch (...) {
  return false;
}

bool PMIx_Data_decompress(const uint8_t* in, size_t size, uint8_t** out,
                          size_t* out_size) try {
  if (!begin(in, out, out_size))
    return false;
  try {
    const auto result = wire::inflate_block(text_of(in, size));
    return result && give(*result, out, out_size);
  } catch (const std::exception&) {
    return false;
  }
} catch (...) {
  return false;
}
