#pragma once

#include "messages/actors.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace troupe {

class event_loop;
class input_reader;
class thread_pool;

/// Who forwards input to processes: a local host or a process launcher.
using input_target_actor =
  caf::typed_actor<caf::replies_to<write_stdin>::with<ack>,
                   caf::reacts_to<close_stdin>>;

struct stdin_source_settings {
  /// The descriptor to read; not owned, never switched to non-blocking (others
  /// share it).
  int fd = 0;

  /// Who gets the input: every byte goes to each of them.
  std::vector<proc_id> targets;

  /// Bytes read ahead of the slowest target.
  size_t window = size_t{64} << 10;
};

/// The state of a STDIN SOURCE actor.
struct stdin_source_state {
  static inline const char* name = "stdin-source";

  stdin_source_state();

  ~stdin_source_state();

  std::unique_ptr<input_reader> reader;
  std::vector<proc_id> targets;
  size_t unanswered = 0;
};

/// Forwards the launcher's standard input, whatever it is: terminal, pipe,
/// socket, file or device. Reads on when all targets have answered what was
/// read before; a target that refuses is dropped. At the end of the input
/// `close_stdin` goes to the targets. Ends itself then, or when no target is
/// left. While the terminal belongs to another process group nothing is read,
/// so that the launcher is not stopped.
caf::behavior stdin_source(caf::stateful_actor<stdin_source_state>* self,
                           event_loop* loop, thread_pool* pool,
                           input_target_actor host,
                           stdin_source_settings settings);

} // namespace troupe
