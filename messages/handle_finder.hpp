#pragma once

#include "messages/codec_traits.hpp"
#include "messages/handle_interface.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/detail/type_traits.hpp>
#include <caf/error.hpp>
#include <caf/meta/annotation.hpp>
#include <caf/type_nr.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <variant>

namespace troupe {

struct value;

/// Types whose `inspect` is not to be asked for typed handles, since there can be
/// none; or since it does what only CAF's own inspectors can do, and then such
/// handles in it are not checked. Programs specialise it for types of theirs.
template <class T>
struct has_no_handles : std::false_type {};

template <>
struct has_no_handles<value> : std::true_type {};

/// Is told of a typed handle that is not null, and of its interface.
using handle_function =
  std::function<void(const caf::strong_actor_ptr&, const handle_interface&)>;

namespace wire {

template <class T>
struct is_tuple : std::false_type {};

template <class... Ts>
struct is_tuple<std::tuple<Ts...>> : std::true_type {};

/// An inspector that finds the typed handles in a value: where CAF reads one, it
/// does not know of which type. Leaves out those whose types have no names.
class handle_finder {
public:
  using result_type = caf::error;
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  /// @param out Has to outlive the finder.
  explicit handle_finder(const handle_function& out) : out_(out) {
    // nop
  }

  /// Whether values of a type are worth a look: CAF's own types have none.
  template <class T>
  static constexpr bool may_have() {
    if constexpr (
      std::is_arithmetic_v<
        T> || std::is_enum_v<T> || std::is_pointer_v<T> || has_no_handles<T>::value
      || caf::meta::is_annotation<T>::value)
      return false;
    else
      return caf::type_nr<T>::value == 0;
  }

  /// What `inspect` calls.
  template <class... Ts>
  caf::error operator()(Ts&&... xs) {
    (look(xs), ...);
    return caf::none;
  }

  template <class T>
  void look(const T& x) {
    if constexpr (!may_have<T>()) {
      // There is none.
    } else if constexpr (is_typed_handle<T>) {
      tell(x);
    } else if constexpr (codec::is_optional<T>::value) {
      if (x)
        look(*x);
    } else if constexpr (codec::is_variant<T>::value) {
      if (!x.valueless_by_exception())
        std::visit([this](const auto& y) { this->look(y); }, x);
    } else if constexpr (codec::is_pair<T>::value) {
      look(x.first);
      look(x.second);
    } else if constexpr (is_tuple<T>::value) {
      std::apply([this](const auto&... ys) { (this->look(ys), ...); }, x);
    } else if constexpr (caf::detail::is_inspectable<handle_finder, T>::value) {
      static_cast<void>(inspect(*this, const_cast<T&>(x)));
    } else if constexpr (codec::is_range<T>) {
      using element = std::remove_cv_t<typename T::value_type>;
      if constexpr (may_have<element>())
        for (const auto& y : x)
          look(y);
    }
  }

private:
  template <class Handle>
  void tell(const Handle& x) {
    if constexpr (has_names(static_cast<const Handle*>(nullptr))) {
      static const auto interface = handle_interface{interface_of<Handle>()};
      if (x)
        out_(caf::actor_cast<caf::strong_actor_ptr>(x), interface);
    }
  }

  const handle_function& out_;
};

/// Of a value whose type is known elsewhere, see `wire_type`.
template <class T>
void find_handles(const void* x, const handle_function& out) {
  handle_finder{out}.look(*static_cast<const T*>(x));
}

} // namespace wire

} // namespace troupe
