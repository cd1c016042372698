#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/regex_text.hpp"

#include <pmix.h>
#include <strings.h>

#include <cctype>

// Values: loaded, unloaded, copied, taken for yes or no.

using namespace troupe;

namespace {

constexpr auto true_words = {"yes", "true", "y", "t", "enable"};
constexpr auto false_words = {"no", "false", "n", "f", "disable"};

bool starts_with(const char* text, const char* word) {
  const auto n = std::strlen(word);
  // One letter has to stand alone.
  return n == 1 ? strcasecmp(text, word) == 0 : strncasecmp(text, word, n) == 0;
}

bool is_one_of(const char* text, std::initializer_list<const char*> words) {
  for (const auto* word : words)
    if (starts_with(text, word))
      return true;
  return false;
}

/// Source: PMIx Standard v5, "Info Structure", PMIX_INFO_TRUE; the words are
/// OpenPMIx's.
pmix_boolean_t truth_of(const char* text) {
  if (text == nullptr)
    return PMIX_BOOL_TRUE;
  while (std::isspace(static_cast<unsigned char>(*text)) != 0)
    ++text;
  if (*text == '\0')
    return PMIX_BOOL_TRUE;
  if (std::isdigit(static_cast<unsigned char>(*text)) != 0)
    return std::strtoul(text, nullptr, 10) != 0 ? PMIX_BOOL_TRUE
                                                : PMIX_BOOL_FALSE;
  if (is_one_of(text, true_words))
    return PMIX_BOOL_TRUE;
  return is_one_of(text, false_words) ? PMIX_BOOL_FALSE : PMIX_NON_BOOL;
}

pmix_status_t load_text(pmix_value_t& to, const char* text, size_t size) {
  auto* copy = c_api::allocate<char>(size);
  if (copy == nullptr)
    return PMIX_ERR_NOMEM;
  std::memcpy(copy, text, size);
  if (to.type == PMIX_REGEX)
    to.data.bo = {copy, size};
  else
    to.data.string = copy;
  return PMIX_SUCCESS;
}

pmix_status_t load(pmix_value_t& to, const void* data) {
  const auto& type = c_api::c_type_of(to.type);
  const auto* text = static_cast<const char*>(data);
  switch (to.type) {
    case PMIX_STRING:
      return load_text(to, text, std::strlen(text) + 1);
    case PMIX_REGEX:
      return load_text(to, text, c_api::regex_size(text));
    case PMIX_POINTER:
      to.data.ptr = const_cast<void*>(data);
      return PMIX_SUCCESS;
    default:
      break;
  }
  if (!type.by_pointer)
    return c_api::copy(to.type, &to.data, data);
  auto* element = std::malloc(type.size);
  if (element == nullptr)
    return PMIX_ERR_NOMEM;
  const auto code = c_api::copy(to.type, element, data);
  if (code == PMIX_SUCCESS)
    to.data.ptr = element;
  else
    std::free(element);
  return code;
}

/// Whether a value is copied into the memory of the caller, not into new one.
bool is_simple(const c_api::c_type& type) {
  return type.release == nullptr;
}

/// A copy of the element on the heap.
pmix_status_t unload_copy(pmix_value_t& from, const void* element,
                          const c_api::c_type& type, void** data) {
  auto* copy = std::malloc(type.size);
  if (copy == nullptr)
    return PMIX_ERR_NOMEM;
  const auto code = c_api::copy(from.type, copy, element);
  if (code == PMIX_SUCCESS)
    *data = copy;
  else
    std::free(copy);
  return code;
}

/// The bytes alone: their number is the size.
pmix_status_t unload_bytes(const pmix_byte_object_t& from, void** data,
                           size_t* size) {
  *data = nullptr;
  *size = 0;
  if (from.bytes == nullptr || from.size == 0)
    return PMIX_SUCCESS;
  auto* copy = c_api::allocate<char>(from.size);
  if (copy == nullptr)
    return PMIX_ERR_NOMEM;
  std::memcpy(copy, from.bytes, from.size);
  *data = copy;
  *size = from.size;
  return PMIX_SUCCESS;
}

} // namespace

pmix_status_t PMIx_Value_load(pmix_value_t* to, const void* data,
                              pmix_data_type_t type) try {
  if (to == nullptr)
    return PMIX_ERR_BAD_PARAM;
  std::memset(to, 0, sizeof(*to));
  if (type == PMIX_UNDEF)
    return PMIX_SUCCESS;
  if (c_api::c_type_of(type).size == 0)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  to->type = type;
  if (data == nullptr) {
    // That a boolean attribute is there means true.
    to->data.flag = type == PMIX_BOOL;
    return PMIX_SUCCESS;
  }
  const auto code = load(*to, data);
  if (code != PMIX_SUCCESS)
    std::memset(to, 0, sizeof(*to));
  return code;
} catch (...) {
  return c_api::status_of_exception();
}

/// Text, bytes and structures come in new memory that the caller frees: `*data`
/// is set. Anything else is copied to where `*data` points, or if that is null
/// to new memory as well.
pmix_status_t PMIx_Value_unload(pmix_value_t* from, void** data,
                                size_t* size) try {
  if (from == nullptr || data == nullptr || size == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto& type = c_api::c_type_of(from->type);
  if (from->type == PMIX_UNDEF || type.size == 0)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  const void* element = type.by_pointer ? from->data.ptr : &from->data;
  if (element == nullptr)
    return PMIX_ERR_BAD_PARAM;
  switch (from->type) {
    case PMIX_POINTER:
      *data = from->data.ptr;
      *size = sizeof(void*);
      return PMIX_SUCCESS;
    case PMIX_STRING:
      *data = nullptr;
      *size = 0;
      if (from->data.string == nullptr)
        return PMIX_SUCCESS;
      *size = std::strlen(from->data.string);
      *data = c_api::duplicate({from->data.string, *size});
      return *data != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    case PMIX_BYTE_OBJECT:
    case PMIX_COMPRESSED_STRING:
    case PMIX_COMPRESSED_BYTE_OBJECT:
    case PMIX_REGEX:
      return unload_bytes(from->data.bo, data, size);
    default:
      break;
  }
  *size = type.size;
  if (*data == nullptr || !is_simple(type))
    return unload_copy(*from, element, type, data);
  std::memcpy(*data, element, type.size);
  return PMIX_SUCCESS;
} catch (...) {
  return c_api::status_of_exception();
}

pmix_status_t PMIx_Value_xfer(pmix_value_t* to, const pmix_value_t* from) try {
  if (to == nullptr || from == nullptr)
    return PMIX_ERR_BAD_PARAM;
  return to == from ? PMIX_SUCCESS : c_api::copy(PMIX_VALUE, to, from);
} catch (...) {
  return c_api::status_of_exception();
}

pmix_boolean_t PMIx_Value_true(const pmix_value_t* x) {
  if (x == nullptr)
    return PMIX_NON_BOOL;
  switch (x->type) {
    case PMIX_UNDEF:
      return PMIX_BOOL_TRUE;
    case PMIX_BOOL:
      return x->data.byte != 0 ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    case PMIX_STRING:
      return truth_of(x->data.string);
    default:
      return PMIX_NON_BOOL;
  }
}
