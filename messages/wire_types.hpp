#pragma once

#include "messages/handle_finder.hpp"
#include "messages/handle_interface.hpp"
#include "messages/remoting.hpp"

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/atom.hpp>
#include <caf/detail/type_erased_value_impl.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_nr.hpp>
#include <caf/typed_actor.hpp>

#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

// What the type system of CAF knows of an interface, as values: types that
// messages may bring. For their names see messages/handle_interface.hpp.

namespace troupe {

namespace wire {

template <class T>
void add_type(std::vector<wire_type>& out) {
  if constexpr (!caf::is_atom_constant<T>::value && !std::is_void_v<T>) {
    const auto make = +[]() -> caf::type_erased_value_ptr {
      return caf::type_erased_value_ptr{
        new caf::detail::type_erased_value_impl<T>};
    };
    auto find = wire_type::finder{nullptr};
    if constexpr (handle_finder::may_have<T>())
      find = find_handles<T>;
    out.push_back({name_of<T>::get(), std::type_index{typeid(T)},
                   caf::type_nr<T>::value, make, find});
  }
}

template <class... In, class... Out>
void add_types_of(const caf::typed_mpi<caf::detail::type_list<In...>,
                                       caf::output_tuple<Out...>>*,
                  std::vector<wire_type>& out) {
  (add_type<In>(out), ...);
  (add_type<Out>(out), ...);
}

template <class... Signatures>
void add_types(const caf::typed_actor<Signatures...>*,
               std::vector<wire_type>& out) {
  (add_types_of(static_cast<const Signatures*>(nullptr), out), ...);
}

} // namespace wire

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
