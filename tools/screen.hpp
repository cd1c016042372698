#pragma once

#include "adapters/loop/loop_system.hpp"
#include "adapters/process/stdin_source.hpp"
#include "messages/actors.hpp"

#include <caf/expected.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe {

/// A window of its own for each process of a job: a command of the user's, such
/// as a terminal emulator, in which a program of ours shows what the process
/// writes and passes on what is typed. A process whose window does not come is
/// shown where it would be without.
/// Source: RFC notes on I/O forwarding, "mpirun --screen"; I16.
class screen {
public:
  struct settings {
    /// For the shell: the program of the window is put behind it; see
    /// `window_command`.
    std::string command;

    /// How many processes the job has.
    uint32_t size = 0;

    /// Whether keys are passed on as they are typed.
    bool is_raw = false;

    /// Shows what has no window.
    output_sink_actor fallback;

    /// Takes lines for the user.
    std::function<void(const std::string&)> warn;
  };

  /// Most windows of a job.
  static constexpr uint32_t most = 256;

  /// @returns why there can be no windows, in a sentence.
  static caf::expected<std::unique_ptr<screen>> make(loop_system& sys,
                                                     settings x);

  ~screen();

  screen(const screen&) = delete;

  screen& operator=(const screen&) = delete;

  /// Takes what processes write, also before the windows are there.
  const output_sink_actor& sink() const;

  /// Opens the windows, once the job has a name.
  void open(const std::string& nspace, const input_target_actor& input);

private:
  struct state;

  explicit screen(std::shared_ptr<state> x);

  std::shared_ptr<state> state_;
};

} // namespace troupe
