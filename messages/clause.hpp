#pragma once

#include <caf/replies_to.hpp>

namespace troupe {

/// A clause of an interface, of one that answers `void` or not.
template <class Answer, class... Input>
struct clause_of {
  using type = typename caf::replies_to<Input...>::template with<Answer>;
};

template <class... Input>
struct clause_of<void, Input...> {
  using type = caf::reacts_to<Input...>;
};

template <class Answer, class... Input>
using clause = typename clause_of<Answer, Input...>::type;

} // namespace troupe
