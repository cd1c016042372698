#pragma once

#include "adapters/link/link.hpp"
#include "adapters/loop/loop_system.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

/// Callbacks of a connection of which `f` gets every event by itself.
link::callbacks each_event(std::function<void(const event&)> f);

/// A tool of ours that is connected to the server of a DVM, as any other tool
/// of PMIx is.
class tool_session {
public:
  /// @param dvm      See `find_dvm`.
  /// @param launcher Whether the jobs that it starts end with it.
  /// @returns why there is no connection, in a sentence.
  static caf::expected<std::unique_ptr<tool_session>>
  open(const std::string& dvm, bool launcher, link::callbacks handlers);

  /// Takes leave of the server.
  ~tool_session();

  tool_session(const tool_session&) = delete;
  tool_session& operator=(const tool_session&) = delete;

  loop_system& loop() {
    return loop_;
  }

  const std::shared_ptr<link>& to() const {
    return link_;
  }

  /// Sends a request and waits for its outcome, on a thread that is not the loop's.
  /// While there is none, whoever is at the other end is asked for another greeting
  /// now and then: an answer may take its time, but a server that was stopped says
  /// nothing to anybody.
  /// @param limit Nothing: as long as it greets others.
  /// @returns `timeout` after `limit`, or when the server greets nobody; the
  ///          connection is closed then.
  link::outcome ask(const wire::request& x,
                    std::optional<std::chrono::milliseconds> limit);

  /// Whether the server can be found no more.
  bool is_gone() const;

private:
  tool_session() = default;

  /// @returns why the server does not greet somebody else within a time.
  caf::error greet(std::chrono::milliseconds limit) const;

  loop_system loop_;
  link_settings settings_;
  std::shared_ptr<link> link_;
};

} // namespace troupe
