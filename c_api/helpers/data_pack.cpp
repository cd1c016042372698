#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/structures.hpp"
#include "adapters/wire/pack_value.hpp"
#include "adapters/wire/unpack_value.hpp"
#include "c_api/helpers/buffer_bytes.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/regex_text.hpp"

#include <pmix.h>

#include <exception>

// Values packed into buffers and unpacked: the bytes of OpenPMIx 4.2 to 6, not
// described. A buffer may go to programs that use another PMIx library.

using namespace troupe;

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
    r.fail(status::bad_param, "a regular expression is null");
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
  return c_api::append_bytes(to, out);
}

pmix_status_t unpack(pmix_data_buffer_t& from, char* to, int32_t& n,
                     pmix_data_type_t type) {
  const auto kind = static_cast<data_type>(type);
  const auto bytes = c_api::unread_bytes(from);
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
