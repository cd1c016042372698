#pragma once

#include "messages/enums.hpp"
#include "messages/proc_id.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// How far the start or the end of a job has come, and of those that it starts,
/// in processes. For who waits for it at a terminal.
class job_progress {
public:
  /// A job has so many processes.
  void add_job(const std::string& nspace, size_t procs);

  /// A process has changed its state; of a job that was not added, nothing.
  void change(const proc_id& proc, proc_state state);

  /// A job is over.
  void remove_job(const std::string& nspace);

  /// Somebody wants all to end.
  void end() {
    is_ending_ = true;
  }

  /// Takes what a DVM says of its processes (`troupe ps`) in the place of what
  /// was known.
  /// @param nspaces Of which jobs; of others nothing is taken.
  void read(const nlohmann::json& processes,
            const std::set<std::string>& nspaces);

  /// One line without its end: `started 3 of 64 processes, connected 1`, or
  /// `ended 3 of 64 processes` from when the first has ended, or all are to.
  /// Empty if nothing is known, or all have started and none has ended.
  std::string text() const;

private:
  enum class phase : uint8_t { waiting, started, connected, ended };

  static phase phase_of(proc_state x);

  std::map<std::string, std::vector<phase>> jobs_;
  bool is_ending_ = false;
};

/// The one job of a DVM that is starting, as its list of jobs says (`troupe
/// jobs`); empty if there is none or several.
std::string starting_job_of(const nlohmann::json& jobs);

} // namespace troupe
