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

/// Equality of two messages of the same type, field by field.
#define TROUPE_EQUAL(type, ...)                                                \
  inline bool operator==(const type& l, const type& r) {                       \
    const auto fields = [](const type& x) { return std::tie(__VA_ARGS__); };   \
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
