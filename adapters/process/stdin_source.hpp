#pragma once

#include "messages/actors.hpp"

#include <caf/behavior.hpp>
#include <caf/stateful_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class event_loop;
class input_reader;
class thread_pool;

/// Who forwards input to processes: a mesh host, or an I/O desk.
using input_target_actor =
  caf::typed_actor<caf::replies_to<io_input>::with<io_input_taken>>;

struct stdin_source_settings {
  /// The descriptor to read; not owned, never switched to non-blocking (others
  /// share it).
  int fd = 0;

  /// Who gets the input: every byte goes to each of them. `rank_wildcard`
  /// alone: all of the job.
  std::string nspace;
  std::vector<uint32_t> ranks;

  /// Most bytes of one message; one more is read ahead of the slowest reader.
  size_t window = size_t{64} << 10;

  /// Whether the descriptor holds the input from its beginning: what an earlier
  /// source has given the processes is left out. Otherwise it is continued.
  bool repeats = false;
};

/// The state of a STDIN SOURCE actor.
struct stdin_source_state {
  static inline const char* name = "stdin-source";

  stdin_source_state();

  ~stdin_source_state();

  std::unique_ptr<input_reader> reader;
  input_target_actor target;
  std::string nspace;
  std::vector<uint32_t> ranks;

  /// Where in the input of the processes the next byte stands that is read;
  /// known once they have been asked.
  uint64_t offset = 0;

  /// Bytes that are to be left out.
  uint64_t skipped = 0;

  bool is_reading = false;
  bool is_ended = false;

  /// Read, but not sent yet.
  std::string ahead;

  /// Sent, and not answered.
  bool is_waiting = true;
};

/// Forwards the launcher's standard input, whatever it is: terminal, pipe,
/// socket, file or device. Begins where an earlier source was acknowledged, and
/// sends on when what was sent before has been written to all that still read:
/// so a slow reader holds up whoever writes to the descriptor. A reader that
/// closed is named no more. The end of the input goes to the readers, once,
/// after all bytes. Ends itself then, or when nobody is left who reads. While
/// the terminal belongs to another process group nothing is read, so that the
/// launcher is not stopped.
/// Source: A46; guarantees 5.7, "stdin".
caf::behavior stdin_source(caf::stateful_actor<stdin_source_state>* self,
                           event_loop* loop, thread_pool* pool,
                           input_target_actor target,
                           stdin_source_settings settings);

} // namespace troupe
