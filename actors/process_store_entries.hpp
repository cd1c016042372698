#pragma once

#include "messages/value.hpp"

#include <optional>
#include <string>
#include <string_view>

// For the two parts of `process_store` only: reading maps of keys and values.

namespace troupe {

template <class Entries>
const value* look_up(const Entries& xs, std::string_view key) {
  const auto i = xs.find(key);
  return i != xs.end() ? &i->second : nullptr;
}

template <class T, class Entries>
std::optional<T> number_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->template number<T>() : std::nullopt;
}

template <class Entries>
const std::string* text_in(const Entries& xs, std::string_view key) {
  const auto* x = look_up(xs, key);
  return x != nullptr ? x->text() : nullptr;
}

} // namespace troupe
