#pragma once

#include "adapters/loop/unique_fd.hpp"
#include "adapters/process/program_path.hpp"
#include "messages/process.hpp"

#include <string>
#include <variant>

namespace troupe {

/// A pipe; we keep one end, which does not block us.
struct pipe_ends {
  unique_fd ours;
  unique_fd theirs;
};

/// The standard streams of a child, and what else it finds open.
struct child_streams {
  pipe_ends in;
  pipe_ends out;
  pipe_ends err;
  pipe_ends diag;
  pipe_ends pmi1;

  /// The path of its terminal.
  std::string terminal;
};

/// Opens what a child needs.
std::variant<child_streams, launch_failure>
open_streams(const start_process& request);

/// The number under which a child finds its stream for diagnostics.
int stddiag_of(const start_process& request);

} // namespace troupe
