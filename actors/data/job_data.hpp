#pragma once

#include "messages/data.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

namespace troupe {

/// BOOL, in the infos of a registration: processes of the job may be started
/// again where they ran. Their server does not take the end of a connection for
/// their end: whoever runs them says what comes of it.
inline constexpr std::string_view restarts_key = "troupe.restarts";

/// What a server knows of a job from its host: job level, sessions, nodes,
/// applications and ranks. Does not hold what processes post.
/// Source: PMIx Standard v5, "Job-Level and Related Reserved Keys".
class job_data {
public:
  job_data() = default;

  /// Takes what the host gave at registration: plain keys and session, job,
  /// node and application arrays are job level; an array under `pmix.pdata`
  /// describes the rank in its `pmix.rank`. An array without rank is ignored.
  job_data(std::string nspace, const std::vector<info>& infos);

  /// Everything, as a client gets it when it connects.
  const std::shared_ptr<const job_info>& all() const {
    return all_;
  }

  /// Job-level entries, the arrays among them.
  const std::vector<key_value>& job_level() const {
    return all_->entries;
  }

  /// What is known of `rank`; null if nothing is.
  const std::vector<key_value>* of_rank(uint32_t rank) const;

  /// The entries of the node array that has `key` and fits the name or number
  /// in `directives`; of the only one if these name none.
  /// Source: PMIx Standard v5, PMIX_NODE_INFO.
  std::vector<info> of_node(const std::vector<info>& directives) const;

  /// The entries of the application array with the number in `directives`.
  /// Source: PMIx Standard v5, PMIX_APP_INFO.
  std::vector<info> of_app(const std::vector<info>& directives) const;

  /// The entries of the session array. Source: Standard v5, PMIX_SESSION_INFO.
  std::vector<info> of_session() const;

  /// The number of processes, if the host gave it.
  std::optional<uint32_t> job_size() const;

  /// Counts a life of a process more: PMIX_REINCARNATION of its rank.
  /// @returns how often it has been started again.
  uint32_t count_restart(uint32_t rank);

  /// The value of a job-level key; null if it is not there.
  const value* find(std::string_view key) const;

private:
  std::shared_ptr<const job_info> all_ = std::make_shared<job_info>();
  std::map<uint32_t, size_t> index_; // rank -> position in all_->ranks
};

/// The value of `key` in a list of entries; null if it is not there.
const value* find(const std::vector<key_value>& entries, std::string_view key);

} // namespace troupe
