#pragma once

#include "tools/node_facts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What came of asking a node.
struct probe_outcome {
  std::optional<node_facts> facts;

  /// Why its daemon's program could not be started here; empty: it could.
  std::string failure;

  /// How what was started here ended, as waitpid(2) has it; nothing if it had to
  /// be ended after the answer, or since none came.
  std::optional<int> status;

  /// The last of what it wrote, without the answer.
  std::string output;
  std::string errors;

  /// Whether there was no answer in time; or one that is not understood.
  bool is_late = false;
  bool is_garbled = false;

  /// Of our clock, milliseconds since 1970, before the request and after the
  /// answer.
  int64_t before_ms = 0;
  int64_t after_ms = 0;

  /// From the start to the answer.
  std::chrono::milliseconds took{0};

  /// Whether the node's addresses can be reached from here.
  std::vector<reached_place> reached;
};

/// How many nodes can be asked at a time.
/// @param descriptors Those that may be taken: each takes one for each address that
///             it tells, beside the ends of its pipes.
/// @returns 1 at least, `nodes` at most.
size_t probes_at_a_time(uint64_t descriptors, size_t nodes);

/// Asks a node, and connects to it. Blocks, in bounded time; safe on any thread.
/// @param command The whole command, a remote shell included.
/// @param limit   How long the answer may take.
probe_outcome probe_node(const std::vector<std::string>& command,
                         const probe_request& what,
                         std::chrono::milliseconds limit);

} // namespace troupe
