#pragma once

#include "adapters/c_host/host_module.hpp"
#include "adapters/c_host/registered_attributes.hpp"
#include "base/journal.hpp"
#include "messages/actors.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

namespace defaults {

using namespace std::chrono_literals;

/// How long a host that has said yes to a client has to call back: many never
/// do, those of release 4 and 5 never had to.
inline constexpr auto host_connect_grace = 20ms;
inline constexpr auto host_connect_grace_6 = 1s;

} // namespace defaults

struct c_host_settings {
  pmix_server_module_t module{};

  /// Bytes of the module that the host has.
  size_t module_size = module_size_4;

  std::shared_ptr<server_objects> objects = std::make_shared<server_objects>();

  /// What the host says that it acts upon.
  std::shared_ptr<registered_attributes> attributes =
    std::make_shared<registered_attributes>();

  /// Who may push input.
  std::shared_ptr<input_gate> gate = std::make_shared<input_gate>();

  /// Has the output that the host delivers.
  io_desk_actor desk = {};

  /// Makes the sink of a process or tool that wants output, which knows its
  /// handler by a number.
  std::function<output_sink_actor(const requester& who, uint64_t handler,
                                  const std::vector<info>& directives)>
    make_sink = {};

  /// Is told of clients that lost their connections without finalizing.
  std::function<void(const requester&)> on_lost = [](const requester&) {};

  /// Takes events that are for the resource manager to the handlers that the
  /// host has registered.
  /// @returns whether there are any for that code.
  std::function<bool(const event&)> on_manager_event = [](const event&) {
    return false;
  };

  /// Names this server in the events that the host gets, see `mark_origin`.
  std::string origin;

  /// Whether somebody takes the greetings of other servers out of what a fence
  /// brings, see `mesh_greeting`.
  bool is_met = false;

  /// Gets a line for a host that does not answer.
  journal log;
};

/// A HOST that makes the up-calls of a function table, on the thread that runs
/// the actor. Whatever the host does, each request is answered once: by what
/// it returns, or by its callback, whichever comes first. Where it has no
/// entry, the answer is the Standard's error, mostly `not_supported`.
/// Source: PMIx Standard v5, "Server Function Pointers".
c_host_actor spawn_c_host(caf::actor_system& sys, c_host_settings settings);

} // namespace troupe
