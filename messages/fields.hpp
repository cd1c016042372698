#pragma once

#include "messages/value.hpp"

#include <type_traits>

// Fields of the structures of the Standard, as the wire sees them:
// `each_field(f, x, &x)` shows the fields of `x` to `f`, in their order on the
// wire: `f(...)` those that travel as their C++ type says, and `f.way(...)` the
// others, see messages/fields.def; `f.nspace` a text of at most 255 bytes.

namespace troupe {

template <class F, class X>
void each_field(F& f, X& x, const proc_id*) {
  f.nspace(x.nspace);
  f(x.rank);
}

/// Shows fields to `f`; functions show one themselves.
template <class F, class... Ts>
void show_fields(F& f, Ts&&... xs) {
  const auto show = [&](auto& x) {
    if constexpr (std::is_invocable_v<decltype(x), F&>)
      x(f);
    else
      f(x);
  };
  (show(xs), ...);
}

#define TROUPE_STRUCTURE(type, ...)                                            \
  template <class F, class X>                                                  \
  void each_field(F& f, X& x, const type*) {                                   \
    show_fields(f, __VA_ARGS__);                                               \
  }
#define TROUPE_AS(way, field) [&](F& g) { g.way(field); }
#include "messages/fields.def"

// -- types -------------------------------------------------------------------

/// A type as an argument.
template <class T>
struct type_tag {
  using type = T;
};

/// Calls `f` with the `type_tag` of the structure that a value of type `x`
/// keeps in a box; arrays are not among them.
/// @returns whether there is one.
template <class F>
bool visit_structure(data_type x, F f) {
#define TROUPE_CASE(name, structure)                                           \
  case data_type::name:                                                        \
    f(type_tag<structure>{});                                                  \
    return true;
  switch (x) {
    TROUPE_CASE(value, value)
    TROUPE_CASE(app, app)
    TROUPE_CASE(info, info)
    TROUPE_CASE(pdata, pdata)
    TROUPE_CASE(kval, key_value)
    TROUPE_CASE(proc_info, proc_info)
    TROUPE_CASE(query, query)
    TROUPE_CASE(envar, envar)
    TROUPE_CASE(coord, coord)
    TROUPE_CASE(regattr, regattr)
    TROUPE_CASE(geometry, geometry)
    TROUPE_CASE(device_distance, device_distance)
    TROUPE_CASE(endpoint, endpoint)
    TROUPE_CASE(device, device)
    TROUPE_CASE(resource_unit, resource_unit)
    TROUPE_CASE(node_pid, node_pid)
    TROUPE_CASE(proc_stats, proc_stats)
    TROUPE_CASE(disk_stats, disk_stats)
    TROUPE_CASE(net_stats, net_stats)
    TROUPE_CASE(node_stats, node_stats)
    default:
      return false;
  }
#undef TROUPE_CASE
}

} // namespace troupe
