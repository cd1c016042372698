#pragma once

// Code to (de)serialize and print the messages is made once, in inspect_*.cpp,
// instead of in every file that sends one. Included by messages/actors.hpp.

#include <caf/deserializer.hpp>
#include <caf/detail/stringification_inspector.hpp>
#include <caf/serializer.hpp>

/// Instantiates `inspect` for the inspectors that CAF uses for messages.
#define TROUPE_INSTANTIATE(prefix, type)                                       \
  prefix template caf::error inspect(caf::serializer&, type&);                 \
  prefix template caf::error inspect(caf::deserializer&, type&);               \
  prefix template void inspect(caf::detail::stringification_inspector&, type&);

namespace troupe {

#define TROUPE_SENT_TYPE(type) TROUPE_INSTANTIATE(extern, type)
#define TROUPE_NESTED_TYPE(type) TROUPE_INSTANTIATE(extern, type)
#include "messages/messages.def"

} // namespace troupe
