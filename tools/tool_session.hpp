#pragma once

#include "adapters/files/directory.hpp"
#include "adapters/link/link.hpp"
#include "adapters/link/link_socket.hpp"
#include "adapters/loop/loop_system.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// How our tools find a DVM: by the name it was given, its server's URI, a file
// with that, or a process number; without any of it, the user's only one.

namespace troupe {

/// The name of the file in the session's private directory by which the tools
/// of this user find a DVM.
/// @param is_for_a_job Whether it lasts as long as one job.
std::string dvm_file(const std::string& name, bool is_for_a_job);

/// @returns `exists` in a sentence if the user has a DVM of that name already.
caf::error check_dvm_is_new(const std::string& name);

/// The names of the DVMs that this user has on this node, those for one job
/// left out.
std::vector<std::string> names_of_dvms();

/// What somebody is told who runs a job on this node alone, and may have meant
/// one of these.
/// @param names Of DVMs that are up; none: nothing is told.
std::string hint_of_dvms(const std::vector<std::string>& names);

/// Finds a DVM.
/// @param what A name, `pid:N`, `file:PATH`, a URI, or empty for the only DVM
///             that this user has on this node.
/// @returns `unreach` in a sentence that tells what there is.
caf::expected<link_settings> find_dvm(const std::string& what);

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
