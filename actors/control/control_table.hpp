#pragma once

#include "actors/control/defaults.hpp"
#include "messages/connection.hpp"
#include "messages/status.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Who made a request. Ids are its own: another one's requests of the same id
/// are others. Source: requirements A25.
struct control_owner {
  proc_id proc;
  uint32_t uid = 0;
};

inline bool operator==(const control_owner& x, const control_owner& y) {
  return x.proc == y.proc && x.uid == y.uid;
}

inline bool operator<(const control_owner& x, const control_owner& y) {
  return std::tie(x.proc, x.uid) < std::tie(y.proc, y.uid);
}

/// Whose requests are meant.
struct control_scope {
  /// Those of this requester.
  std::optional<control_owner> owner;

  /// Those of this user.
  std::optional<uint32_t> uid;

  bool has(const control_owner& x) const {
    return (!owner || x == *owner) && (!uid || x.uid == *uid);
  }
};

/// What became of a request, or of a part of it.
struct control_result {
  /// `success`; `partial_success` if some targets were absent or missing;
  /// `job_canceled` if it was cancelled; else why it failed.
  status code = status::success;

  /// In one sentence, with names; may be empty if it succeeded.
  std::string reason;

  /// How many processes it was done to.
  size_t reached = 0;

  /// Targets that were no more, or did not run yet.
  std::vector<proc_id> absent;

  /// Targets that could not be reached, or did not do as they were told.
  std::vector<proc_id> missing;

  /// What else the requester is told.
  std::vector<info> infos;

  /// The infos of the answer: all of the above.
  std::vector<info> describe() const;
};

/// How far a request is.
enum class control_state : uint8_t {
  running,
  done,
  partial,
  failed,
  cancelled,
};

std::string_view to_string(control_state x);

/// A request of somebody.
struct control_record {
  /// Never used again.
  uint64_t number = 0;
  control_owner owner;

  /// None: it can be cancelled with all others only.
  std::optional<std::string> id;

  /// What it does, in words.
  std::string what;
  control_state state = control_state::running;

  /// What has been done so far.
  control_result result;
};

struct control_limits {
  /// Outstanding requests of one requester, and of all.
  size_t per_owner = defaults::control_requests_per_owner;
  size_t all = defaults::control_requests;

  /// How many requests that are over are remembered, and for how long.
  size_t remembered = defaults::control_outcomes;
  std::chrono::nanoseconds memory = defaults::control_memory;
};

/// The requests for control: those that are outstanding, and for a while those
/// that were, if they have an id. No id is outstanding twice for the same
/// requester; one that is over may be used again, and then means the newer.
/// What becomes of a request does not depend on its requester: if that ends,
/// what it asked for goes on, and is remembered like all others.
class control_table {
public:
  using time = std::chrono::nanoseconds;

  explicit control_table(control_limits bounds = {});

  /// Notes a request.
  /// @returns its number; `err_exists` if the requester has an outstanding one
  ///          of that id; `out_of_resource` at a bound.
  caf::expected<uint64_t> open(const control_owner& owner,
                               std::optional<std::string> id, std::string what,
                               time now);

  /// Notes how far it is.
  void note(uint64_t number, control_result so_far);

  /// It is over.
  void close(uint64_t number, control_result result, time now);

  /// The outstanding requests that a cancel is for, oldest first.
  /// @param id None: all.
  /// @returns `not_found` for an id that is not known, or whose request is
  ///          over; for all of them none is no error.
  caf::expected<std::vector<uint64_t>>
  find_outstanding(const control_scope& whose,
                   const std::optional<std::string>& id) const;

  /// A request; null if it is not remembered.
  const control_record* find(uint64_t number) const;

  /// What is known of requests, oldest first, those that are over included.
  /// @param id None: whatever its id.
  std::vector<const control_record*> list(const control_scope& whose,
                                          const std::optional<std::string>& id,
                                          time now);

  /// Infos of a request: PMIX_JOB_CTRL_ID, `requestor`, `what`, `state`,
  /// `status`, and those of its result.
  static std::vector<info> describe(const control_record& x);

  size_t outstanding() const {
    return outstanding_.size();
  }

  size_t remembered() const {
    return over_.size();
  }

private:
  struct past {
    control_record what;
    time until;
  };

  void forget_old(time now);

  control_limits bounds_;
  uint64_t next_ = 1;
  std::map<uint64_t, control_record> outstanding_;
  std::map<control_owner, size_t> per_owner_;
  std::deque<past> over_; // oldest first
};

} // namespace troupe
