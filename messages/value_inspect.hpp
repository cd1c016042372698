#pragma once

// How CAF sees the values: included by messages/value.hpp, and by nobody else.

#include "messages/inspect.hpp"
#include "messages/value.hpp"

#include <caf/error.hpp>
#include <caf/sec.hpp>

namespace troupe {

TROUPE_INSPECT(data_array, x.element_type, x.elements)

#define TROUPE_STRUCTURE TROUPE_INSPECT
#include "messages/fields.def"

/// Counts how deep the loading of a value has gone on this thread.
class depth_guard {
public:
  depth_guard() {
    ++depth();
  }

  ~depth_guard() {
    --depth();
  }

  depth_guard(const depth_guard&) = delete;
  depth_guard& operator=(const depth_guard&) = delete;

  bool too_deep() const {
    return depth() > max_value_depth;
  }

private:
  static int& depth() {
    static thread_local int instance = 0;
    return instance;
  }
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, value& x) {
  if constexpr (Inspector::writes_state) {
    const auto guard = depth_guard{};
    if (guard.too_deep())
      return caf::make_error(caf::sec::invalid_argument,
                             "a value is nested too deeply");
    return f(caf::meta::type_name("troupe.value"), x.type, x.data);
  } else {
    return f(caf::meta::type_name("troupe.value"), x.type, x.data);
  }
}

} // namespace troupe
