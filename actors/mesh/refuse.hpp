#pragma once

#include "messages/interfaces/host.hpp"
#include "messages/status.hpp"

#include <caf/result.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace troupe {

/// A handler that refuses what a host does not offer.
/// @param why A string literal.
template <class Result, class... Request>
auto refuse(const char* why) {
  return [why](const Request&...) -> caf::result<Result> {
    return make_error(status::not_supported, why);
  };
}

/// The refusal of a request of a process, unless one of the handlers takes it.
template <class Result, class Request, class... Handlers>
auto refuse_unless_taken(const char* why) {
  constexpr bool is_taken =
    (std::is_invocable_v<Handlers&, const requester&, Request&> || ...);
  if constexpr (is_taken)
    return std::tuple<>{};
  else
    return std::make_tuple(refuse<Result, requester, Request>(why));
}

/// The behavior of a host that carries out what `xs` take, and refuses all other
/// requests of processes.
template <class Behavior, class... Handlers>
Behavior with_refusals(Handlers... xs) {
  auto refusals = std::tuple_cat(
#define TROUPE_HOST_REQUEST(number, command, request, answer)                  \
  refuse_unless_taken<answer, request, Handlers...>(                           \
    #command " is not supported by this host"),
#include "messages/requests.def"
    std::tuple<>{});
  return std::apply(
    [&](auto... ys) {
      return Behavior{std::move(xs)..., std::move(ys)...};
    },
    std::move(refusals));
}

} // namespace troupe
