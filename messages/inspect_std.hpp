#pragma once

// CAF 0.17 inspects neither std::optional nor std::variant. The overloads live
// in namespace caf, where the inspectors find them by argument-dependent
// lookup.

#include <caf/error.hpp>
#include <caf/sec.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace caf {

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, std::optional<T>& x) {
  if constexpr (Inspector::writes_state) {
    bool present = false;
    if (auto err = f(present))
      return err;
    if (!present) {
      x.reset();
      return none;
    }
    return f(x.emplace());
  } else {
    bool present = x.has_value();
    return present ? f(present, *x) : f(present);
  }
}

template <class Variant, size_t... Is>
bool emplace_nth(Variant& x, size_t i, std::index_sequence<Is...>) {
  return ((i == Is ? (x.template emplace<Is>(), true) : false) || ...);
}

template <class Inspector, class... Ts>
typename Inspector::result_type inspect(Inspector& f, std::variant<Ts...>& x) {
  if constexpr (Inspector::writes_state) {
    uint8_t i = 0;
    if (auto err = f(i))
      return err;
    if (!emplace_nth(x, i, std::index_sequence_for<Ts...>{}))
      return make_error(sec::unknown_type, "index of a variant");
    return std::visit([&](auto& y) -> error { return f(y); }, x);
  } else {
    auto i = static_cast<uint8_t>(x.index());
    return std::visit([&](auto& y) { return f(i, y); }, x);
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, std::monostate&) {
  return f();
}

} // namespace caf
