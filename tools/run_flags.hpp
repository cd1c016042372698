#pragma once

#include "tools/dvm_options.hpp"
#include "tools/signals.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

// The options of `troupe run`, as CLI11 reads them. What they mean is in
// run_options.cpp.

namespace troupe {

/// Under what options of nodes stand in the help.
inline constexpr auto nodes_group = "Nodes";

/// Options of one program of a job.
struct app_flags {
  int32_t np = 0;
  std::string wdir;
  std::string pset;
  std::vector<std::string> path;
  std::vector<std::string> exported;

  /// Nodes of a program behind a colon.
  std::string hosts;
};

/// Options of the whole job.
struct job_flags {
  /// Policies with their modifiers, and modifiers alone.
  std::vector<std::string> map_by;
  std::vector<std::string> map_modifiers;
  std::string rank_by;
  std::string bind_to;
  std::string cpu_list;

  /// Processes on each node; 0: not said.
  uint32_t per_node = 0;

  /// As `parse_time_span` takes them; a number counts seconds, or minutes.
  std::string timeout;
  std::string time;

  /// The same for the start; a number counts seconds.
  std::string spawn_timeout;

  /// How often each process is started again if it fails; absent: never.
  std::optional<uint32_t> max_restarts;

  std::vector<std::string> variables;
  std::vector<std::string> exports;
  std::vector<std::string> tune_files;
  std::string prefix;
  bool own_libpmix = false;
  std::string app_file;
  std::string preloaded;
  std::string report_pid;

  std::string standard_input;
  std::string screen;
  std::vector<std::string> display;
  std::vector<std::string> rtos;
  std::set<int> signals = usual_signals();
  std::string log_level;
  std::string security = "native";
  bool share_memory = true;
  std::string dvm;
  std::vector<std::string> sensors;
  std::vector<std::string> monitors;
  std::vector<std::string> reactions;
  std::vector<std::string> outputs;
  int verbosity = 0;
  bool is_quiet = false;
  bool is_dry = false;
  bool shows_progress = false;
  bool preloads_program = false;
  bool only_primary = false;
  bool report_bindings = false;
  bool index_argv = false;
  bool stops_in_init = false;
  bool stops_in_app = false;
  bool label = false;
  bool timestamp = false;
  bool oversubscribe = false;
  bool json = false;
  bool with_pty = false;
};

/// Makes a command line understand the options of a program.
void add_app_flags(CLI::App& cli, app_flags& x);

/// The same behind a colon: with nodes of its own.
void add_later_app_flags(CLI::App& cli, app_flags& x);

/// Makes it understand those of the whole job, and of nodes.
void add_job_flags(CLI::App& cli, job_flags& x, dvm_options& nodes);

/// Adds the options that Open MPI's mpirun had for the output of processes
/// before there was `--output`; they are not in the help.
/// @param outputs Gets what they are called now.
void add_former_options(CLI::App& cli, std::vector<std::string>& outputs);

/// What stands at the end of the help of `troupe run`.
inline constexpr auto run_help_footer =
  "The options end with the program, or with --:\n"
  "  troupe run [options] program [arguments] [: [options] program "
  "[arguments]]...\n"
  "Long names may have one dash (-np, -host). Words of mpirun, prterun and "
  "srun:\ndocs/habits.md. troupe run --help WORD tells more about one, ours "
  "or theirs.\n\nExit status: that of the worst process; 128 + signal; 127 "
  "not found; 126 not\nexecutable; 125 nothing started, for want of something "
  "here; "
  "124 time-out;\n2 wrong command line.";

/// Tells about an option, or about a word of another launcher.
/// @param topic With or without dashes.
/// @param ours All our options.
/// @returns nothing if nobody knows such a word.
std::optional<std::string> help_about(const std::string& topic,
                                      const CLI::App& ours);

} // namespace troupe
