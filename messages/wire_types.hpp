#pragma once

#include "messages/remoting.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/atom.hpp>
#include <caf/detail/squashed_int.hpp>
#include <caf/detail/type_erased_value_impl.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/type_nr.hpp>
#include <caf/typed_actor.hpp>

#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

// What the type system of CAF knows of an interface, as values: types that
// messages may bring, and signatures that two nodes can compare. Names are those
// of type ID blocks (`CAF_ADD_TYPE_ID`): programs on two nodes have to agree on
// them, and on nothing else.

namespace troupe {

namespace wire {

template <class T, class = void>
struct name_of {
  static std::string get() {
    return caf::type_name<T>::value;
  }
};

/// Integers of the same size are one type to CAF.
template <class T>
struct name_of<
  T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static std::string get() {
    return caf::type_name<caf::detail::squashed_int_t<T>>::value;
  }
};

template <caf::atom_value V>
struct name_of<caf::atom_constant<V>, void> {
  static std::string get() {
    return "'" + to_string(V) + "'";
  }
};

inline void append_name(std::string& out, const std::string& name) {
  if (!out.empty() && out.back() != '(')
    out += ',';
  out += name;
}

template <class T>
void add_type(std::vector<wire_type>& out) {
  if constexpr (!caf::is_atom_constant<T>::value && !std::is_void_v<T>) {
    const auto make = +[]() -> caf::type_erased_value_ptr {
      return caf::type_erased_value_ptr{
        new caf::detail::type_erased_value_impl<T>};
    };
    out.push_back({name_of<T>::get(), std::type_index{typeid(T)},
                   caf::type_nr<T>::value, make});
  }
}

template <class Signature>
struct signature;

template <class... In, class... Out>
struct signature<
  caf::typed_mpi<caf::detail::type_list<In...>, caf::output_tuple<Out...>>> {
  static std::string name() {
    auto result = std::string{"("};
    (append_name(result, name_of<In>::get()), ...);
    result += ")->(";
    (append_name(result, name_of<Out>::get()), ...);
    return result + ")";
  }

  static void add_types(std::vector<wire_type>& out) {
    (add_type<In>(out), ...);
    (add_type<Out>(out), ...);
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
std::vector<std::string> names_of(const caf::typed_actor<Signatures...>*) {
  return {signature<Signatures>::name()...};
}

template <class... Signatures>
void add_types(const caf::typed_actor<Signatures...>*,
               std::vector<wire_type>& out) {
  (signature<Signatures>::add_types(out), ...);
}

template <class Handle>
inline constexpr auto
  is_typed_handle = is_typed(static_cast<const Handle*>(nullptr));

template <class T, class = void>
struct has_name : std::false_type {};

template <class T>
struct has_name<T, std::void_t<decltype(caf::type_name<T>::value)>>
  : std::true_type {};

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

/// Types that messages may bring: those named, each with an ID of its own; of a
/// typed handle all that its interface takes and answers, and the handle itself
/// if it has an ID.
template <class... Ts>
std::vector<wire_type> wire_types() {
  auto result = std::vector<wire_type>{};
  const auto add = [&result](auto* x) {
    using type = std::remove_pointer_t<decltype(x)>;
    if constexpr (wire::is_typed_handle<type>)
      wire::add_types(x, result);
    if constexpr (!wire::is_typed_handle<type> || wire::has_name<type>::value)
      wire::add_type<type>(result);
  };
  (add(static_cast<Ts*>(nullptr)), ...);
  return result;
}

} // namespace troupe
