#pragma once

// Part of the precompiled headers only: contents of messages that are compiled
// elsewhere. Files without a precompiled header compile what they send.

#include "messages/actors.hpp"

#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/system_messages.hpp>

#define TROUPE_SENT_PART(n) 1
#define TROUPE_ANSWERED(...)                                                   \
  extern template class caf::detail::tuple_vals_impl<                          \
    caf::detail::message_data, __VA_ARGS__>;                                   \
  extern template class caf::detail::tuple_vals<__VA_ARGS__>;
#define TROUPE_SENT(...)                                                       \
  TROUPE_ANSWERED(__VA_ARGS__)                                                 \
  extern template class caf::detail::tuple_vals_impl<caf::type_erased_tuple,   \
                                                     __VA_ARGS__>;             \
  extern template class caf::mailbox_element_vals<__VA_ARGS__>;

#include "messages/sent.def"

#undef TROUPE_SENT
#undef TROUPE_ANSWERED
#undef TROUPE_SENT_PART
