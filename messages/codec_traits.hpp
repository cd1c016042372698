#pragma once

#include <caf/error.hpp>
#include <caf/meta/annotation.hpp>
#include <caf/sec.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Which kinds of types the codec of messages/bounded_codec.hpp knows.

namespace troupe::codec {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
struct is_variant : std::false_type {};
template <class... Ts>
struct is_variant<std::variant<Ts...>> : std::true_type {};

template <class T>
struct is_duration : std::false_type {};
template <class Rep, class Period>
struct is_duration<std::chrono::duration<Rep, Period>> : std::true_type {};

template <class T>
struct is_pair : std::false_type {};
template <class F, class S>
struct is_pair<std::pair<F, S>> : std::true_type {};

template <class T>
struct is_array : std::false_type {};
template <class T, size_t N>
struct is_array<std::array<T, N>> : std::true_type {};

template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string>;

template <class T, class = void>
inline constexpr bool is_range = false;
template <class T>
inline constexpr bool
  is_range<T, std::void_t<typename T::value_type, typename T::const_iterator>> =
    true;

/// What a sequence, a set or a map holds, without the const of its keys.
template <class T>
struct mutable_element {
  using type = T;
};
template <class F, class S>
struct mutable_element<std::pair<const F, S>> {
  using type = std::pair<F, S>;
};
template <class T>
using element_of = typename mutable_element<typename T::value_type>::type;

template <class T>
using first_of = std::remove_const_t<typename T::first_type>;

/// Whether an enumeration is one of ours, whose values are all known, by a
/// function `last_of` that gives the largest. The Standard's are open: what a
/// program said is passed on as it was said.
template <class T, class = void>
inline constexpr bool is_ours = false;
template <class T>
inline constexpr bool
  is_ours<T, std::void_t<decltype(last_of(std::declval<T>()))>> = true;

/// Gives a variant its alternative number `i`.
/// @returns whether it has one.
template <class Variant, size_t... Is>
bool emplace_nth(Variant& x, size_t i, std::index_sequence<Is...>) {
  return ((i == Is ? (x.template emplace<Is>(), true) : false) || ...);
}

} // namespace troupe::codec
