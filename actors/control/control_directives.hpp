#pragma once

#include "messages/control.hpp"
#include "messages/status.hpp"

#include <caf/expected.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Directives, and keys of queries and answers, that the Standard has no name
/// for.
namespace control_key {

/// Directive, `uint32`, milliseconds: how long processes have between being
/// told to end, or that they are preempted, and the end. Absent:
/// `defaults::kill_grace`.
inline constexpr std::string_view grace = "troupe.control.grace";

/// Directive, `char*`: preempts the targets; the value says what comes after
/// the alert: `terminate`, `kill`, `pause` or `checkpoint`.
inline constexpr std::string_view preempt = "troupe.control.preempt";

/// Directive, `bool`: the targets are started again where they run, under their
/// names: from the checkpoint that PMIX_JOB_CTRL_RESTART names, or without it
/// from the beginning.
inline constexpr std::string_view in_place = "troupe.control.in_place";

/// Key of a query, qualified by PMIX_JOB_CTRL_ID or not: the requester's
/// requests. The answer is an array of infos named `item`, each an array of
/// infos: see `control_table::describe`.
inline constexpr std::string_view status = "troupe.control.status";

/// `bool`, directive of a cancel and qualifier of a query for `status`: the
/// requests of whoever has the requester's user, not only its own. Each call of
/// a tool is another requester.
inline constexpr std::string_view user = "troupe.control.user";

// In answers, beside PMIX_JOB_CTRL_ID and PMIX_EVENT_TEXT_MESSAGE.

/// `size_t`: how many processes it was done to.
inline constexpr std::string_view reached = "troupe.control.reached";

/// Array of `pmix_proc_t`: targets that are no more, or do not run yet.
inline constexpr std::string_view absent = "troupe.control.absent";

/// Array of `pmix_proc_t`: targets that could not be reached, or did not do as
/// they were told in time.
inline constexpr std::string_view missing = "troupe.control.missing";

/// Array of `char*`: optional directives that nobody knows.
inline constexpr std::string_view ignored = "troupe.control.ignored";

/// `size_t`: how many requests were cancelled.
inline constexpr std::string_view cancelled = "troupe.control.cancelled";

} // namespace control_key

/// How a process is asked to write a checkpoint.
/// Source: RFC0015, PMIX_JOB_CTRL_CHECKPOINT_EVENT and _SIGNAL. One of both.
struct checkpoint_method {
  std::optional<status> event;
  std::optional<int32_t> signal;
};

inline bool operator==(const checkpoint_method& x, const checkpoint_method& y) {
  return x.event == y.event && x.signal == y.signal;
}

/// What a request cancels.
struct control_cancel {
  /// None: all outstanding requests of the requester.
  std::optional<std::string> id;
};

/// What a request does, in the order in which a request that does several
/// things does them.
enum class control_verb : uint8_t {
  provision,
  restart,
  define_set,
  resume,
  checkpoint,
  preempt,
  signal,
  pause,
  terminate,
  kill,
};

/// The name of a verb, as people write it: `pause`.
std::string_view to_string(control_verb x);

/// Everything that one request asks for: its directives are read together and
/// mean one thing.
/// Source: RFC0015, "Requests use arrays of attributes to fully describe the
/// request"; PMIx Standard v5, "Job Control Attributes".
struct control_directives {
  /// PMIX_JOB_CTRL_ID.
  std::optional<std::string> id;

  // -- what is done --
  bool pause = false;
  bool resume = false;
  bool kill = false;
  bool terminate = false;

  /// PMIX_JOB_CTRL_SIGNAL: 0 to 64; 0 only asks whether the targets run.
  std::optional<int32_t> signal;

  std::optional<control_cancel> cancel;

  /// `control_key::user`: a cancel is for all requests of the user.
  bool of_user = false;

  /// The names of checkpoints.
  std::optional<std::string> checkpoint;
  std::optional<std::string> restart;

  /// `control_key::in_place`.
  bool in_place = false;

  /// What follows a preemption: one of the texts of `control_key::preempt`.
  std::optional<std::string> preempt;

  /// PMIX_JOB_CTRL_PROVISION and _IMAGE.
  std::optional<std::string> provision;
  std::optional<std::string> image;

  /// PMIX_JOB_CTRL_DEFINE_PSET: the targets become a process set of this name.
  std::optional<std::string> define_set;

  // -- how --

  /// How to checkpoint, if the request says so, in its order.
  std::vector<checkpoint_method> checkpoint_by;
  std::optional<std::chrono::seconds> checkpoint_timeout;

  /// `control_key::grace`.
  std::optional<std::chrono::milliseconds> grace;

  /// PMIX_TIMEOUT: after how long the request is given up; none: never.
  std::optional<caf::timespan> timeout;

  // -- what the requester declares of itself; targets mean nothing to it --

  std::optional<bool> preemptible;

  /// PMIX_JOB_CTRL_CHECKPOINT_METHOD: what it supports, in its order; replaces
  /// what it declared before, also if empty.
  std::optional<std::vector<checkpoint_method>> methods;

  /// Optional directives that are not known.
  std::vector<std::string> ignored;

  /// What is done to the targets, in this order.
  std::vector<control_verb> verbs() const;

  /// Whether the requester declares something.
  bool declares() const {
    return preemptible || methods;
  }

  /// The verbs and values in words: `signal 10, pause`.
  std::string summary() const;
};

/// Reads the directives of a request. Those that register cleanup are not
/// looked at: they belong to the requester's node.
/// PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT had the key of _SIGNAL in RFC0015: the
/// first with that key is the signal, another, or one beyond 64, the time-out.
/// PMIX_JOB_CTRL_CHECKPOINT_EVENT may be a status or true, which stands for
/// PMIX_JCTRL_CHECKPOINT. A cancel with a null pointer, nothing, or true is one
/// of all.
/// @returns
///   - `bad_param` for a value that makes no sense and for verbs that
///     contradict each other (pause and resume, restart and an end),
///   - `not_supported` for an unknown directive with PMIX_INFO_REQD, and for a
///     request that asks for nothing that is known,
///     both with the name of the culprit.
/// Source: RFC0015, Job Control; requirements A15, A16, A21.
caf::expected<control_directives>
read_directives(const std::vector<info>& directives);

/// The checkpoint methods in the value of PMIX_JOB_CTRL_CHECKPOINT_METHOD.
/// @returns `bad_param` for anything but an array of events and signals.
caf::expected<std::vector<checkpoint_method>> read_methods(const value& x);

/// Whether a directive belongs to the registration of cleanup.
/// Source: PMIx Standard v5, PMIX_REGISTER_CLEANUP and the attributes after it.
bool is_cleanup(std::string_view key);

} // namespace troupe
