#include "adapters/c_values/c_types.hpp"
#include "adapters/c_values/convert.hpp"
#include "adapters/wire/pack_value.hpp"
#include "c_api/helpers/failure.hpp"

#include <pmix.h>

#include <cmath>
#include <limits>

// Values: compared, read as numbers, measured.

using namespace troupe;

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
