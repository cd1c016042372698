#pragma once

#include <caf/expected.hpp>

#include <set>
#include <string>

namespace troupe {

/// What `--forward-signals` is, on any command line.
inline constexpr auto forward_signals_help =
  "Signals to pass on to the processes beside TSTP, USR1, USR2, ABRT, ALRM, "
  "CONT and WINCH: names or numbers with commas, all, or none for not even "
  "these (docs/signals.md)";

/// The signals that a launcher passes on to the processes of its job if nobody
/// says otherwise: those of Open MPI 5, mpirun(1), "--forward-signals", and
/// SIGWINCH.
const std::set<int>& usual_signals();

/// Reads what `--forward-signals` says: a list of names or numbers that are
/// passed on, too; `all`; or `none`.
/// @returns `bad_param` in a sentence for what is no signal, for SIGKILL and
///          SIGSTOP, which nobody can pass on, for SIGINT and SIGTERM, which
///          end the job, and for those that the launcher gets of its own
///          doings.
caf::expected<std::set<int>> read_forwarded_signals(const std::string& text);

} // namespace troupe
