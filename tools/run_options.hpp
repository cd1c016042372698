#pragma once

#include "messages/spawn.hpp"
#include "messages/status.hpp"
#include "tools/command_line.hpp"
#include "tools/dvm_options.hpp"
#include "tools/local_node.hpp"
#include "tools/output_options.hpp"
#include "tools/signals.hpp"

#include <caf/error.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

/// Reads how long something may take, in the forms of the field: `90`, `1m`,
/// `1h30m`, `10:00` (minutes and seconds), `1:10:00`, `2-12` (days and hours),
/// `2-12:30`, `2-12:30:00`.
/// @param plain What a number without any sign counts: seconds for mpirun,
///              minutes for srun.
/// @returns nothing for another text, or for more than a signed 32-bit number
///          of seconds.
/// Source: srun's `--time`; mpirun's `--timeout`; units as sleep(1) has them.
std::optional<std::chrono::seconds> parse_time_span(std::string_view text,
                                                    std::chrono::seconds plain);

// Files that are copied to the nodes before a job starts there.

/// A file, and where the nodes get it.
struct preloaded_file {
  std::string from;

  /// Absolute.
  std::string to;
};

/// The command that copies a file: a job of ours with one process on each
/// node, which gets the file as its standard input. A node that has the same
/// file there keeps it; another gets a new one, in one step.
/// @param launcher The program that runs jobs, `troupe`.
/// @param nodes    Its options that say which nodes.
/// @param mode     The new file's permissions.
std::vector<std::string> preload_command(const preloaded_file& file,
                                         const std::string& launcher,
                                         const std::vector<std::string>& nodes,
                                         unsigned mode);

/// Copies files to the nodes, one after the other, and waits.
/// @returns what could not be copied, in a sentence; the nodes have said why on
///          standard error.
caf::error preload(const std::vector<preloaded_file>& files,
                   const std::vector<std::string>& nodes);

/// The exit status for what could not begin: a word of the command line that
/// makes no sense, or anything else.
inline int exit_status_of(const caf::error& why) {
  return status_of(why) == status::bad_param ? usage_error : 1;
}

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

  /// Whether a terminal shows how far a start or an end is that takes long.
  bool shows_progress = false;

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
