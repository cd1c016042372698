#pragma once

#include "tools/run_options.hpp"
#include "tools/screen.hpp"
#include "tools/terminal_mode.hpp"

#include <caf/expected.hpp>

#include <memory>
#include <string>

namespace troupe {

class fd_writer;

/// How the streams of a job are wired to those of its launcher: output to the
/// terminal or to windows, input from the terminal to whom the user says.
/// For the thread of the loop only.
class job_streams {
public:
  /// @param terminal Shows output on the launcher's own streams.
  /// @param err      Takes lines for the user.
  /// @returns why it cannot be, in a sentence: `bad_param` for options that do
  ///          not fit.
  static caf::expected<std::unique_ptr<job_streams>>
  make(loop_system& sys, const run_options& options, output_sink_actor terminal,
       std::shared_ptr<fd_writer> err);

  ~job_streams();

  job_streams(const job_streams&) = delete;

  job_streams& operator=(const job_streams&) = delete;

  /// Takes the output of the job.
  const output_sink_actor& sink() const {
    return windows_ ? windows_->sink() : terminal_;
  }

  /// The job has its name: opens the windows, and forwards input.
  void begin(const std::string& nspace, const input_target_actor& to);

  /// Gives the terminal back to whoever had it, and takes it again, if the job
  /// has it at all.
  void leave_terminal();
  void take_terminal();

private:
  job_streams(loop_system& sys, const run_options& options,
              output_sink_actor terminal);

  loop_system& system_;
  std::vector<uint32_t> readers_;
  bool with_pty_;
  output_sink_actor terminal_;
  std::unique_ptr<screen> windows_;
  terminal_mode mode_;
  bool has_begun_ = false;
  caf::actor input_; // An actor that nobody refers to is gone.
};

/// With what a command exits if `make` fails: 2 for options that do not fit,
/// 125 if this node lacks something.
int streams_status(const caf::error& why);

} // namespace troupe
