#pragma once

// What actors say of their messages as text is left out. CAF's middleman compares
// such texts, but takes them from the type of a handle where it publishes one; of an
// actor nobody asks for them, and they are a quarter of a megabyte of each program.
// Included by messages/actors.hpp, and by nobody else, before the first actor.

#include "messages/actors.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <set>
#include <string>

#define TROUPE_LOCAL_INTERFACE(handle)                                         \
  template <>                                                                  \
  inline std::set<std::string> troupe::handle::base::message_types() const {   \
    return {};                                                                 \
  }
#define TROUPE_SENT_INTERFACE(handle) TROUPE_LOCAL_INTERFACE(handle)
#include "messages/interfaces.def"
