#pragma once

#include "messages/inspect_std.hpp"

#include <caf/meta/type_name.hpp>

/// Defines `inspect` for a message whose fields are named `x.field`.
#define TROUPE_INSPECT(type, ...)                                              \
  template <class Inspector>                                                   \
  typename Inspector::result_type inspect(Inspector& f, type& x) {             \
    return f(caf::meta::type_name("troupe." #type), __VA_ARGS__);              \
  }

/// The same for a message without fields.
#define TROUPE_INSPECT_EMPTY(type)                                             \
  template <class Inspector>                                                   \
  typename Inspector::result_type inspect(Inspector& f, type&) {               \
    return f(caf::meta::type_name("troupe." #type));                           \
  }

/// Equality of two messages of the same type, field by field. A template, so
/// that only files that compare messages pay for it: as a plain function it cost
/// each file that read the interfaces five seconds.
#define TROUPE_EQUAL(type, ...)                                                \
  template <class T, std::enable_if_t<std::is_same_v<T, type>, int> = 0>       \
  bool operator==(const T& l, const T& r) {                                    \
    const auto fields = [](const T& x) { return std::tie(__VA_ARGS__); };      \
    return fields(l) == fields(r);                                             \
  }

/// Both, for a message whose fields all compare.
#define TROUPE_MESSAGE(type, ...)                                              \
  TROUPE_INSPECT(type, __VA_ARGS__)                                            \
  TROUPE_EQUAL(type, __VA_ARGS__)

/// Both, for a message without fields.
#define TROUPE_EMPTY_MESSAGE(type)                                             \
  TROUPE_INSPECT_EMPTY(type)                                                   \
  inline bool operator==(const type&, const type&) {                           \
    return true;                                                               \
  }
