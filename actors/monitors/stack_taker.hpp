#pragma once

#include "base/pass_on.hpp"
#include "messages/control.hpp"
#include "messages/custom_monitor.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What is monitored, for `PMIx_Process_monitor`: the stacks of all threads of the
/// process that PMIX_MONITOR_TARGET_PROCS names, on whichever node of the DVM, once.
/// Answered with an info of this key (STRING) or, if none could be taken, with
/// `stack_trouble_key`: why, in a sentence (STRING). For the owner of the DVM and
/// root.
/// Source: docs/monitoring.md; PMIx Standard v5, `PMIx_Process_monitor`.
inline constexpr std::string_view stack_key = "troupe.stack";
inline constexpr std::string_view stack_trouble_key = "troupe.stack.trouble";

namespace defaults {

/// How long a stack may take. It stops the process for a moment.
inline constexpr auto stack_time = std::chrono::seconds{10};

/// How long a process is left alone when its stack has been taken.
inline constexpr auto stack_pause = std::chrono::seconds{1};

/// Stacks that are taken at a time on a node, and those who wait for one of them.
inline constexpr size_t stacks_at_a_time = 2;
inline constexpr size_t stack_askers = 8;

/// How long another node may take for one: longer than a stack and whoever takes it.
inline constexpr auto stack_host_wait = 3 * stack_time;

/// Bytes of what is told of one.
inline constexpr size_t stack_bytes = size_t{64} << 10;

} // namespace defaults

/// The process that a request for a stack names.
/// @returns `bad_param` if it names none, or several.
caf::expected<proc_id> stack_target(const monitor_request& request);

/// Takes stacks of the processes of a node: few at a time, of each process one, and
/// each is left alone for a while. Whoever asks for one that is being taken gets
/// that. Part of a MONITOR DESK.
class stack_taker {
public:
  using time = std::chrono::nanoseconds;

  struct effects {
    /// Says which number a process has; fails with `not_found` if it is none of
    /// this node.
    std::function<void(probe_process, completion<process_probe>)> probe;

    std::function<void(run_command, completion<command_result>)> run;

    /// Steady time.
    std::function<time()> now;
  };

  explicit stack_taker(effects out) : out_(std::move(out)) {
    // nop
  }

  stack_taker(const stack_taker&) = delete;
  stack_taker& operator=(const stack_taker&) = delete;

  /// @param done Gets the infos that answer a request, or `not_found` if the
  ///             process does not run on this node.
  void take(const proc_id& proc, completion<info_result> done);

  /// Stacks that are being taken.
  size_t running() const;

private:
  struct course {
    /// Whoever waits for it; none: it is over.
    std::vector<completion<info_result>> askers;

    /// From when on it may be taken again.
    time free_at{0};
  };

  void run(const proc_id& proc, uint32_t pid);
  void end(const proc_id& proc, const caf::expected<info_result>& what);

  effects out_;
  std::map<proc_id, course> courses_;
};

} // namespace troupe
