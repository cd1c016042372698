#pragma once

#include "messages/value.hpp"

#include <pmix_common.h>

#include <functional>
#include <string>

// What the tests of conversions share.

namespace troupe::c_api::test {

/// Calls `f` for `x` and for every value inside of it, innermost first.
void each_value(value& x, const std::function<void(value&)>& f);

/// Whether `x` and all inside of it have a form in C.
bool has_form(value x);

/// A random value of type `x` that has a form in C. To be called from a
/// property.
value random_value(data_type x);

/// What `x` becomes on its way through C: an array of infos is a data array,
/// texts of fixed arrays are not null, floats lose digits.
value through_c(value x);

/// A value in C that is freed.
struct c_value {
  pmix_value_t x{};

  c_value() = default;

  c_value(const c_value&) = delete;

  c_value& operator=(const c_value&) = delete;

  ~c_value();
};

/// The types that have a form in C.
const std::vector<data_type>& c_types();

} // namespace troupe::c_api::test
