#pragma once

#include "actors/mesh/exchange/host_calls.hpp"
#include "base/log_levels.hpp"
#include "base/trace_ring.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The key of traces: what has become of an operation or event at all nodes, or
/// of the latest without `trace_name_key`.
inline constexpr std::string_view trace_key = "troupe.trace";

/// Qualifiers of that: the name of an operation or event (a string); and of how
/// many of the latest (an unsigned integer, at most `max_traces`).
inline constexpr std::string_view trace_name_key = "troupe.trace.name";
inline constexpr std::string_view trace_count_key = "troupe.trace.count";

/// The most operations and events that a node tells of at a time, and the most
/// steps of one: of more, those in the middle are left out, and counted.
inline constexpr size_t max_traces = 256;
inline constexpr size_t max_traced_steps = 1024;

/// The most that all nodes together tell, so that the answer fits into a message
/// to the tool: each has its part of it, but no fewer than `min_traced`.
inline constexpr size_t max_traced_by_all = 65536;
inline constexpr size_t min_traced = 16;

/// Whether this is a question of a DVM's nodes about each other's traces and
/// levels of their logs, for whichever node.
bool is_log_question(const ask_root& what);

/// Questions of what has become of operations and events, and of what the nodes
/// of a DVM log: each host answers for its own node, and puts together what the
/// others say. For the owner of the DVM, and the administrator. Part of a MESH
/// HOST.
class log_desk {
public:
  struct settings {
    uint32_t rank = 0;
    std::string hostname;

    /// The user whose DVM it is; none: all that the server lets in.
    std::optional<uint32_t> owner;

    /// Null: this node remembers no steps.
    std::shared_ptr<trace_ring> trace;

    /// Null: this node has no levels.
    std::shared_ptr<log_levels> levels;
  };

  /// @param calls Outlives this.
  log_desk(settings config, host_calls& calls);

  log_desk(const log_desk&) = delete;
  log_desk& operator=(const log_desk&) = delete;

  /// Whether a query is answered here.
  static bool knows(std::string_view key) {
    return key == trace_key || key == log_levels_key;
  }

  /// Whether a request for control sets levels of logs.
  static bool sets_levels(const job_control_request& x);

  // -- for a tool of this node --

  /// @param what Queries of such keys alone.
  void answer(const requester& who, const std::vector<query>& what,
              std::function<void(std::vector<info>)> done);

  /// Sets the levels of all nodes; the answer has the levels of each, as the query
  /// has. `no_permissions` for others than the owner, `bad_param` for what is no
  /// level.
  void set_levels(const requester& who, const job_control_request& what,
                  completion<info_result> done);

  // -- for other nodes, and this one --

  void answer_here(const ask_root& what, completion<info_result> done);

  // -- steps of collective operations --

  /// This node tells another one something.
  void note_sent(uint32_t to, const host_question& what);

  /// Another node, or this one, tells something.
  void note_received(uint32_t from, const collective_part& what);
  void note_received(uint32_t from, const collective_outcome& what);

private:
  caf::error refusal_of(const requester& who) const;
  size_t part_of(size_t most) const;
  std::vector<info> own_item() const;
  value levels_here() const;
  value trace_here(const query& what) const;
  void ask_all(const requester& who, std::string_view key, rooted_request what,
               std::function<void(info)> done);
  trace_id name_of(const mesh_collective_id& x) const;

  settings config_;
  host_calls& calls_;
};

} // namespace troupe
