#pragma once

#include "adapters/link/link.hpp"
#include "adapters/process/stdin_source.hpp"

#include <caf/stateful_actor.hpp>

#include <functional>
#include <memory>

namespace troupe {

/// What is special about input.
struct forwarding {
  /// The end of the input is kept from the processes.
  bool keeps_open = false;

  /// The processes take no input any more.
  std::function<void(const caf::error&)> on_refused;

  /// Called for the key Ctrl-], behind which nothing is sent; none: it is a key
  /// like others.
  std::function<void()> on_detach;
};

struct input_forwarder_state {
  static inline const char* name = "input-forwarder";
};

/// Sends input to the DVM as `PMIx_IOF_push` does, and waits for each answer.
/// Input without bytes is no request: it is answered with how much the
/// processes have been given, as far as the DVM tells.
input_target_actor::behavior_type input_forwarder(
  input_target_actor::stateful_pointer<input_forwarder_state> self,
  std::shared_ptr<link> to, forwarding how);

} // namespace troupe
