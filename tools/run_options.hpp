#pragma once

#include "messages/spawn.hpp"
#include "tools/dvm_options.hpp"
#include "tools/local_node.hpp"
#include "tools/output_options.hpp"
#include "tools/preload.hpp"
#include "tools/signal_words.hpp"

#include <optional>
#include <set>
#include <string>
#include <variant>

namespace troupe {

/// What `troupe run` was told.
struct run_options {
  local_node_options node;

  /// The job, in the Standard's attributes: what a tool would send. A program
  /// without a number of processes has 0.
  spawn_request job;

  /// The DVM that runs it, as `find_dvm` takes it; none: this process does.
  std::optional<std::string> dvm;

  /// Nodes for a DVM of this process.
  dvm_options nodes;

  /// Who gets standard input: a rank, `rank_wildcard`, or `rank_undef` for
  /// nobody.
  uint32_t stdin_target = 0;

  /// What becomes of the output, beside the attributes of the job.
  output_options output;

  /// Processes have terminals; what is typed is passed on key by key.
  bool with_pty = false;

  /// The command of the windows that show each process; empty: none.
  std::string screen;

  /// What to show beside the output: `map`, `bind`, `summary`.
  std::set<std::string> display;

  /// Signals that are passed on to the processes.
  std::set<int> signals = usual_signals();

  bool json = false;

  /// Whether our exit status is that of the job alone, without those that it
  /// starts.
  bool only_primary = false;

  /// Where the number of this process is written: `-`, `+` or a file; empty:
  /// nowhere.
  std::string report_pid;

  /// What the nodes get before the job starts, and the options that say which
  /// nodes.
  std::vector<preloaded_file> preloads;
  std::vector<std::string> node_words;
};

/// Reads the command line.
/// @param args Without the names of the program and of the command.
/// @returns the options, or the exit status if there is nothing to run: help
/// was
///          asked for, or an argument is wrong (which has been reported).
std::variant<run_options, int> parse_run(std::vector<std::string> args);

/// Gives programs without a number of processes that of all slots, like every
/// launcher of the field; not if so many are to be on each node.
void fill_in_processes(spawn_request& job, uint32_t slots);

/// How many processes the job has, once all programs have a number of them.
uint32_t job_size(const run_options& options);

/// Who gets the launcher's standard input: a rank, or `rank_wildcard`, or
/// nobody.
std::vector<uint32_t> stdin_ranks(const run_options& options);

/// Sees whether there is a process to get standard input, once all programs
/// have a number of processes.
/// @returns `bad_param` with the remedy.
caf::error check_stdin(const run_options& options);

/// Makes a job independent of where it is started: it gets this process's
/// working directory, and the variables that are Open MPI's settings.
void add_surroundings(spawn_request& job);

} // namespace troupe
