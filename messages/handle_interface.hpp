#pragma once

#include <caf/atom.hpp>
#include <caf/detail/squashed_int.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Interfaces of typed handles as values that two nodes can compare: signatures, by
// the names of their types. Names are those of type ID blocks (`CAF_ADD_TYPE_ID`):
// programs on two nodes have to agree on them, and on nothing else.

namespace troupe {

namespace wire {

template <class T, class = void>
struct has_name : std::false_type {};

template <class T>
struct has_name<T, std::void_t<decltype(caf::type_name<T>::value)>>
  : std::true_type {};

template <class T, class = void>
struct name_of {
  static constexpr bool is_known = has_name<T>::value;

  static std::string get() {
    return caf::type_name<T>::value;
  }
};

/// Integers of the same size are one type to CAF.
template <class T>
struct name_of<
  T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr bool is_known = true;

  static std::string get() {
    return caf::type_name<caf::detail::squashed_int_t<T>>::value;
  }
};

template <caf::atom_value V>
struct name_of<caf::atom_constant<V>, void> {
  static constexpr bool is_known = true;

  static std::string get() {
    return "'" + to_string(V) + "'";
  }
};

inline void append_name(std::string& out, const std::string& name) {
  if (!out.empty() && out.back() != '(')
    out += ',';
  out += name;
}

template <class Signature>
struct signature;

template <class... In, class... Out>
struct signature<
  caf::typed_mpi<caf::detail::type_list<In...>, caf::output_tuple<Out...>>> {
  static constexpr bool has_names =
    (name_of<In>::is_known && ...) && (name_of<Out>::is_known && ...);

  static std::string name() {
    auto result = std::string{"("};
    (append_name(result, name_of<In>::get()), ...);
    result += ")->(";
    (append_name(result, name_of<Out>::get()), ...);
    return result + ")";
  }
};

/// Of a typed handle, or of anything else.
template <class... Signatures>
constexpr bool is_typed(const caf::typed_actor<Signatures...>*) {
  return true;
}

constexpr bool is_typed(const void*) {
  return false;
}

template <class... Signatures>
constexpr bool has_names(const caf::typed_actor<Signatures...>*) {
  return (signature<Signatures>::has_names && ...);
}

template <class... Signatures>
std::vector<std::string> names_of(const caf::typed_actor<Signatures...>*) {
  return {signature<Signatures>::name()...};
}

template <class Handle>
inline constexpr auto
  is_typed_handle = is_typed(static_cast<const Handle*>(nullptr));

} // namespace wire

/// The signatures of a typed handle as text, by the names of their types; none
/// for handles without types.
template <class Handle>
std::vector<std::string> interface_of() {
  if constexpr (wire::is_typed_handle<Handle>)
    return wire::names_of(static_cast<const Handle*>(nullptr));
  else
    return {};
}

/// A signature as nodes tell it with each handle: 64 bits of its text (FNV-1a),
/// the same on all nodes.
inline uint64_t digest_of(std::string_view signature) {
  auto result = uint64_t{0xcbf29ce484222325};
  for (const auto c : signature) {
    result ^= static_cast<unsigned char>(c);
    result *= uint64_t{0x100000001b3};
  }
  return result;
}

/// What a handle understands, or has to: signatures, and a digest of each.
struct handle_interface {
  std::vector<std::string> signatures;
  std::vector<uint64_t> digests;

  handle_interface() = default;

  explicit handle_interface(std::vector<std::string> names)
    : signatures(std::move(names)) {
    digests.reserve(signatures.size());
    for (const auto& x : signatures)
      digests.push_back(digest_of(x));
  }
};

} // namespace troupe
