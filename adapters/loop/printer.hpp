#pragma once

#include <caf/fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace troupe {

/// Takes one line of text, without its end. Must not throw.
using line_sink = std::function<void(std::string)>;

/// The state of a PRINTER actor.
struct printer_state {
  static inline const char* name = "printer";

  /// Longest line, in bytes; a longer one arrives in pieces.
  static constexpr size_t max_line = 8192;

  /// Appends what `author` wrote and hands over the lines that are complete.
  void add(caf::actor_id author, const std::string& text);

  /// Hands over what `author` has begun.
  void flush(caf::actor_id author);

  line_sink sink;

  /// The line that an actor has begun and not ended.
  std::map<caf::actor_id, std::string> begun;
};

/// Hands to `sink`, line by line, what actors write to `caf::aout` and what CAF
/// has to complain about: unexpected messages, exceptions in handlers. Requests
/// to redirect output to files are ignored.
caf::behavior printer(caf::stateful_actor<printer_state>* self, line_sink sink);

} // namespace troupe
