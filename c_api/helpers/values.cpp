#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/c_values/owned.hpp"
#include "adapters/wire/pack_value.hpp"
#include "c_api/helpers/failure.hpp"
#include "c_api/helpers/regex_text.hpp"

#include <pmix.h>
#include <strings.h>

#include <cctype>
#include <cmath>
#include <limits>

// Values: loaded, unloaded, copied, taken for yes or no, compared, read as
// numbers, measured.

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

// -- comparison --------------------------------------------------------------

namespace {

template <class T>
pmix_value_cmp_t compare(const T& x, const T& y) {
  if (x < y)
    return PMIX_VALUE2_GREATER;
  return y < x ? PMIX_VALUE1_GREATER : PMIX_EQUAL;
}

/// Whether an order of the two means nothing.
bool is_incompatible(const value& x, const value& y) {
  const auto differ = [&](auto tag, auto member) {
    using type = typename decltype(tag)::type;
    const auto* a = std::get_if<box<type>>(&x.data);
    const auto* b = std::get_if<box<type>>(&y.data);
    return a != nullptr && b != nullptr && (**a).*member != (**b).*member;
  };
  struct coord_tag {
    using type = coord;
  };
  struct geometry_tag {
    using type = geometry;
  };
  struct device_tag {
    using type = device;
  };
  struct distance_tag {
    using type = device_distance;
  };
  return differ(coord_tag{}, &coord::view)
         || differ(geometry_tag{}, &geometry::fabric)
         || differ(device_tag{}, &device::type)
         || differ(distance_tag{}, &device_distance::type);
}

std::string packed(const value& x) {
  auto out = std::string{};
  auto rules = wire::dialect{};
  // Big endian numbers of fixed width have the order of what they mean.
  rules.module = wire::packing_module::v3;
  rules.peer = {5, 0, 0};
  rules.all_types = true;
  auto w = wire::writer{out, rules};
  wire::pack_value(w, x);
  return w.finish() ? std::string{} : out;
}

pmix_value_cmp_t compare_values(const value& x, const value& y) {
  if (is_incompatible(x, y))
    return PMIX_VALUE_INCOMPATIBLE_OBJECTS;
  if (const auto* a = std::get_if<int64_t>(&x.data))
    return compare(*a, std::get<int64_t>(y.data));
  if (const auto* a = std::get_if<uint64_t>(&x.data))
    return compare(*a, std::get<uint64_t>(y.data));
  if (const auto* a = std::get_if<double>(&x.data))
    return compare(*a, std::get<double>(y.data));
  if (x == y)
    return PMIX_EQUAL;
  if (std::holds_alternative<std::string>(x.data)
      && std::holds_alternative<std::string>(y.data)
      && storage_of(x.type) == storage_class::text)
    return compare(std::get<std::string>(x.data),
                   std::get<std::string>(y.data));
  const auto a = packed(x);
  const auto b = packed(y);
  return a == b ? PMIX_VALUE_COMPARISON_NOT_AVAIL : compare(a, b);
}

// -- numbers -----------------------------------------------------------------

/// The statuses of a number that does not fit: its sign, or its size.
template <class T, class From>
pmix_status_t put_number(From x, void* to) {
  auto code = pmix_status_t{PMIX_SUCCESS};
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>) {
    if (!std::isfinite(x))
      return PMIX_ERR_LOST_PRECISION;
    if (x < 0 && std::is_unsigned_v<T>)
      return PMIX_ERR_CHANGE_SIGN;
    // The bounds as powers of two, which a double holds exactly.
    const auto limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (x >= limit || x < (std::is_unsigned_v<T> ? 0.0 : -limit))
      return PMIX_ERR_LOST_PRECISION;
    if (std::trunc(x) != x)
      code = PMIX_ERR_LOST_PRECISION;
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<T>) {
    if (std::is_signed_v<From> && std::is_unsigned_v<T> && x < From{0})
      return PMIX_ERR_CHANGE_SIGN;
    const auto narrowed = static_cast<T>(x);
    if (static_cast<From>(narrowed) != x)
      return PMIX_ERR_LOST_PRECISION;
    if ((narrowed < T{0}) != (x < From{0}))
      return PMIX_ERR_CHANGE_SIGN;
  }
  const auto result = static_cast<T>(x);
  std::memcpy(to, &result, sizeof(result));
  return code;
}

template <class T>
pmix_status_t put(const value::storage& x, void* to) {
  if (const auto* y = std::get_if<int64_t>(&x))
    return put_number<T>(*y, to);
  if (const auto* y = std::get_if<uint64_t>(&x))
    return put_number<T>(*y, to);
  return put_number<T>(std::get<double>(x), to);
}

bool is_number(pmix_data_type_t x) {
  switch (x) {
    case PMIX_SIZE:
    case PMIX_PID:
    case PMIX_INT:
    case PMIX_INT8:
    case PMIX_INT16:
    case PMIX_INT32:
    case PMIX_INT64:
    case PMIX_UINT:
    case PMIX_UINT8:
    case PMIX_UINT16:
    case PMIX_UINT32:
    case PMIX_UINT64:
    case PMIX_FLOAT:
    case PMIX_DOUBLE:
    case PMIX_PROC_RANK:
    case PMIX_STATUS:
      return true;
    default:
      return false;
  }
}

} // namespace

pmix_value_cmp_t PMIx_Value_compare(pmix_value_t* x, pmix_value_t* y) try {
  if (x == nullptr || y == nullptr)
    return PMIX_VALUE_COMPARISON_NOT_AVAIL;
  if (x->type != y->type)
    return PMIX_VALUE_TYPE_DIFFERENT;
  if (x->type == PMIX_POINTER)
    return compare(reinterpret_cast<uintptr_t>(x->data.ptr),
                   reinterpret_cast<uintptr_t>(y->data.ptr));
  const auto a = c_api::to_value(*x);
  const auto b = c_api::to_value(*y);
  if (!a || !b)
    return PMIX_VALUE_COMPARISON_NOT_AVAIL;
  return compare_values(*a, *b);
} catch (...) {
  return PMIX_VALUE_COMPARISON_NOT_AVAIL;
}

pmix_status_t PMIx_Value_get_number(const pmix_value_t* x, void* to,
                                    pmix_data_type_t type) try {
  if (x == nullptr || to == nullptr)
    return PMIX_ERR_BAD_PARAM;
  if (!is_number(x->type) || !is_number(type))
    return PMIX_ERR_BAD_PARAM;
  const auto number = c_api::to_value(*x);
  if (!number)
    return c_api::to_c(number.error());
  // A pid is a number with a sign in C.
  auto data = number->data;
  if (x->type == PMIX_PID)
    data = int64_t{x->data.pid};
  switch (type) {
    case PMIX_SIZE:
      return put<size_t>(data, to);
    case PMIX_PID:
    case PMIX_INT:
    case PMIX_INT32:
    case PMIX_STATUS:
      return put<int32_t>(data, to);
    case PMIX_INT8:
      return put<int8_t>(data, to);
    case PMIX_INT16:
      return put<int16_t>(data, to);
    case PMIX_INT64:
      return put<int64_t>(data, to);
    case PMIX_UINT8:
      return put<uint8_t>(data, to);
    case PMIX_UINT16:
      return put<uint16_t>(data, to);
    case PMIX_UINT64:
      return put<uint64_t>(data, to);
    case PMIX_FLOAT:
      return put<float>(data, to);
    case PMIX_DOUBLE:
      return put<double>(data, to);
    default: // UINT, UINT32, PROC_RANK
      return put<uint32_t>(data, to);
  }
} catch (...) {
  return c_api::status_of_exception();
}

// -- size: memory of a value, with all it owns -------------------------------

namespace troupe::c_api {

namespace {

/// Adds up what it is shown; a text counts with its final zero also if it is
/// null.
struct measurer {
  size_t size = 0;
  pmix_status_t code = PMIX_SUCCESS;

  void text(const char* x) {
    size += 1 + (x != nullptr ? std::strlen(x) : 0);
  }

  template <class T>
  void plain(const T* xs, size_t n) {
    if (xs != nullptr)
      size += n * sizeof(T);
  }

  void bytes(const char* xs, size_t n) {
    plain(xs, n);
  }

  void strings(char** xs) {
    for (; xs != nullptr && *xs != nullptr; ++xs)
      text(*xs);
  }

  template <class T>
  void list(T* xs, size_t n) {
    plain(xs, n);
    for (size_t i = 0; xs != nullptr && i < n; ++i)
      each_owned(xs[i], *this);
  }

  void buffer(const pmix_data_buffer_t& x) {
    if (x.base_ptr != nullptr)
      size += x.bytes_used;
  }

  /// Handles of hwloc count as the text they are packed as.
  void handle(data_type type, const void* x) {
    const auto text = to_storage(type, x);
    if (!text)
      code = to_c(text.error());
    else if (const auto* y = std::get_if<std::string>(&*text))
      size += y->size() + 1;
  }

  void cpuset(const pmix_cpuset_t& x) {
    handle(data_type::proc_cpuset, &x);
  }

  void topology(const pmix_topology_t& x) {
    handle(data_type::topology, &x);
  }

  void array(pmix_data_array_t& x) {
    auto* p = static_cast<char*>(x.array);
    const auto step = c_type_of(x.type).size;
    for (size_t i = 0; p != nullptr && i < x.size; ++i, p += step)
      element(x.type, p);
  }

  void any(pmix_value_t& x) {
    auto* p = c_type_of(x.type).by_pointer ? x.data.ptr : &x.data;
    if (p != nullptr && x.type != PMIX_UNDEF)
      element(x.type, p);
  }

  template <class T>
  void structure(void* p) {
    size += sizeof(T);
    each_owned(*static_cast<T*>(p), *this);
  }

  void element(pmix_data_type_t type, void* p) {
    switch (type) {
      case PMIX_STRING:
        return text(*static_cast<char**>(p));
      case PMIX_BYTE_OBJECT:
      case PMIX_COMPRESSED_STRING:
      case PMIX_COMPRESSED_BYTE_OBJECT:
      case PMIX_REGEX:
        return structure<pmix_byte_object_t>(p);
      case PMIX_ENVAR:
        return structure<pmix_envar_t>(p);
      case PMIX_VALUE:
        return structure<pmix_value_t>(p);
      case PMIX_INFO:
        return structure<pmix_info_t>(p);
      case PMIX_PDATA:
        return structure<pmix_pdata_t>(p);
      case PMIX_APP:
        return structure<pmix_app_t>(p);
      case PMIX_QUERY:
        return structure<pmix_query_t>(p);
      case PMIX_PROC_INFO:
        return structure<pmix_proc_info_t>(p);
      case PMIX_DATA_ARRAY:
        return structure<pmix_data_array_t>(p);
      case PMIX_COORD:
        return structure<pmix_coord_t>(p);
      case PMIX_REGATTR:
        return structure<pmix_regattr_t>(p);
      case PMIX_PROC_CPUSET:
        return structure<pmix_cpuset_t>(p);
      case PMIX_TOPO:
        return structure<pmix_topology_t>(p);
      case PMIX_GEOMETRY:
        return structure<pmix_geometry_t>(p);
      case PMIX_DEVICE:
        return structure<pmix_device_t>(p);
      case PMIX_DEVICE_DIST:
        return structure<pmix_device_distance_t>(p);
      case PMIX_ENDPOINT:
        return structure<pmix_endpoint_t>(p);
      case PMIX_NODE_PID:
        return structure<pmix_node_pid_t>(p);
      case PMIX_DATA_BUFFER:
        return structure<pmix_data_buffer_t>(p);
      case PMIX_REGEX2:
        return structure<pmix_regex2_t>(p);
      case PMIX_PROC_STATS:
        return structure<pmix_proc_stats_t>(p);
      case PMIX_DISK_STATS:
        return structure<pmix_disk_stats_t>(p);
      case PMIX_NET_STATS:
        return structure<pmix_net_stats_t>(p);
      case PMIX_NODE_STATS:
        return structure<pmix_node_stats_t>(p);
      default:
        break;
    }
    size += c_type_of(type).size;
    if (c_type_of(type).size == 0)
      code = PMIX_ERR_UNKNOWN_DATA_TYPE;
  }
};

} // namespace

} // namespace troupe::c_api

using namespace troupe::c_api;

pmix_status_t PMIx_Value_get_size(const pmix_value_t* x, size_t* size) try {
  if (x == nullptr || size == nullptr)
    return PMIX_ERR_BAD_PARAM;
  *size = 0;
  if (x->type == PMIX_UNDEF)
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
  auto m = measurer{};
  auto shown = *x;
  m.any(shown);
  if (m.code == PMIX_SUCCESS)
    *size = m.size + sizeof(pmix_value_t);
  return m.code;
} catch (...) {
  return status_of_exception();
}

pmix_status_t PMIx_Info_get_size(const pmix_info_t* x, size_t* size) try {
  if (x == nullptr)
    return PMIX_ERR_BAD_PARAM;
  const auto code = PMIx_Value_get_size(&x->value, size);
  if (code == PMIX_SUCCESS)
    *size += text_of(x->key).size() + 1 + sizeof(pmix_info_t);
  return code;
} catch (...) {
  return status_of_exception();
}
