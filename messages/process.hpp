#pragma once

#include "messages/enums.hpp"
#include "messages/inspect.hpp"
#include "messages/proc_id.hpp"

#include <tuple>
#include <vector>

namespace troupe {

/// Starts a local process. Refused with
///   - `job_exe_not_found` if the program is nowhere on the path,
///   - `job_app_not_executable` if it may not be executed,
///   - `job_wdir_not_found`, `job_wdir_not_accessible` for the directory,
///   - `sys_limits_children`, `sys_limits_pipes`, `sys_limits_files` at a limit
///     of the system.
struct start_process {
  proc_id proc;

  /// A path if it has a slash, relative to `wdir`; else looked up in the PATH
  /// of `env`.
  std::string program;

  std::vector<std::string> argv;

  /// The whole environment, `NAME=value`.
  std::vector<std::string> env;

  /// Working directory; empty: the daemon's own.
  std::string wdir;

  /// Operating-system numbers of the processors to run on; empty: unbound.
  std::vector<uint32_t> cpus;

  /// Whether standard input will be written; otherwise it is at its end.
  bool with_stdin = false;

  /// Whether standard error goes where standard output goes.
  bool merges_stderr = false;

  /// Whether the process finds a stream for diagnostics, by the number in its
  /// environment variable `stddiag_variable`. PMIX_FWD_STDDIAG.
  bool with_stddiag = false;

  /// Whether its standard streams are a terminal of its own, which it controls;
  /// errors go with output then. PMIX_SPAWN_PTY.
  bool with_pty = false;

  /// Size of the terminal in characters; 0: none.
  uint16_t pty_rows = 0;
  uint16_t pty_columns = 0;

  /// Whether the process finds a PMI-1 server at `pmi1_descriptor`.
  bool with_pmi1 = false;
};

TROUPE_MESSAGE(start_process, x.proc, x.program, x.argv, x.env, x.wdir, x.cpus,
               x.with_stdin, x.merges_stderr, x.with_stddiag, x.with_pty,
               x.pty_rows, x.pty_columns, x.with_pmi1)

/// The descriptor of a process at which it finds its PMI-1 server.
inline constexpr int pmi1_descriptor = 3;

/// The environment variable with the number of the descriptor for diagnostics.
inline constexpr const char* stddiag_variable = "TROUPE_STDDIAG_FD";

struct process_started {
  uint32_t pid = 0;
};

TROUPE_MESSAGE(process_started, x.pid)

/// A local process ended and was reaped.
struct process_ended {
  proc_id proc;

  /// What it gave to `exit`; 0 if a signal ended it.
  int32_t exit_code = 0;

  /// The signal that ended it; 0 if none did.
  int32_t signal = 0;

  bool core_dumped = false;
};

TROUPE_MESSAGE(process_ended, x.proc, x.exit_code, x.signal, x.core_dumped)

/// All output of an ended process has been taken by its sink: the last message
/// about the process.
struct process_drained {
  proc_id proc;
};

TROUPE_MESSAGE(process_drained, x.proc)

/// Bytes that a process wrote; none at the end of the stream.
struct process_output {
  proc_id proc;
  io_channels channel = io_channels::none;
  std::string bytes;

  /// When the first of them was read, nanoseconds since 1970; 0: unknown.
  int64_t read_at = 0;

  /// The number of the process; 0: unknown. To be shown.
  uint32_t pid = 0;
};

TROUPE_MESSAGE(process_output, x.proc, x.channel, x.bytes, x.read_at, x.pid)

/// Sends a signal to a process and to the processes it started (its process
/// group). A process that has ended is left alone, whoever has its number now.
struct signal_process {
  proc_id proc;
  int32_t signal = 0;
};

TROUPE_MESSAGE(signal_process, x.proc, x.signal)

/// Ends whatever processes a job left behind after its own have ended.
struct sweep_job {
  std::string nspace;
};

TROUPE_MESSAGE(sweep_job, x.nspace)

/// A file or directory that goes with a job.
/// Source: PMIx Standard v5, PMIX_REGISTER_CLEANUP, PMIX_REGISTER_CLEANUP_DIR.
struct cleanup_path {
  /// Absolute.
  std::string path;
  bool is_directory = false;

  /// Whether what is below a directory goes, too; otherwise it goes only if it
  /// is empty. PMIX_CLEANUP_RECURSIVE.
  bool recursive = false;

  /// Whether the directory itself stays. PMIX_CLEANUP_LEAVE_TOPDIR.
  bool leave_top = false;
};

TROUPE_MESSAGE(cleanup_path, x.path, x.is_directory, x.recursive, x.leave_top)

/// Removes files and directories of the daemon's own user, following no link.
/// What is not there, or belongs to somebody else, is passed over.
struct remove_paths {
  std::vector<cleanup_path> paths;
};

TROUPE_MESSAGE(remove_paths, x.paths)

/// Writes to a process's standard input. Answered when the bytes have been
/// written to the pipe; `lost_connection` if nobody reads it any more.
struct write_stdin {
  proc_id proc;
  std::string bytes;
};

TROUPE_MESSAGE(write_stdin, x.proc, x.bytes)

/// Closes a process's standard input after what is still to be written.
struct close_stdin {
  proc_id proc;
};

TROUPE_MESSAGE(close_stdin, x.proc)

} // namespace troupe
