#pragma once

#include "messages/event.hpp"
#include "messages/proc_id.hpp"
#include "messages/query.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

namespace defaults {

/// Processes that the page shows; of more, how many there are.
inline constexpr size_t page_ranks = 20'000;

/// Jobs that are over and still shown, with their processes.
inline constexpr size_t page_jobs_over = 16;

/// Events in the timeline, the processes that one names, and bytes of its text.
inline constexpr size_t page_events = 256;
inline constexpr size_t page_event_procs = 8;
inline constexpr size_t page_event_bytes = 512;

/// Streams that are shown one by one, those first that write most.
inline constexpr size_t page_streams = 48;

/// How long a collective operation is under way before it is shown, in milliseconds:
/// most are over when the answer comes.
inline constexpr uint64_t page_wait_least = 500;

/// Networks of two nodes that are remembered.
inline constexpr size_t page_networks = 16;

/// Percent of its bound from which on something is nearly full.
inline constexpr uint64_t page_nearly_full = 90;

} // namespace defaults

/// What the page shows, put together from what a DVM answers and from its events:
/// parts of items, each with a name. It tells what has changed, so that only that
/// goes to browsers. docs/page.md has parts and members.
///
/// Jobs that are over stay for a while, with the last state of their processes: else
/// whoever looks would see a failure vanish, not happen.
///
/// What is taken are lists as `troupe ps --json` and the like have them. What is none,
/// or lacks a name, is left out.
class page_state {
public:
  /// Milliseconds since 1970.
  using time = int64_t;

  /// `troupe.dvm`.
  void take_dvm(const nlohmann::json& x);

  /// `troupe nodes`.
  void take_nodes(const nlohmann::json& list);

  /// `troupe jobs` and `troupe ps`, from one answer.
  void take_jobs(const nlohmann::json& jobs, const nlohmann::json& processes,
                 time now);

  /// `troupe net`.
  void take_networks(const nlohmann::json& list);

  /// `troupe group list`.
  void take_groups(const nlohmann::json& list);

  /// `troupe.waits`: the operations of `troupe jobs --waits`, without groups.
  void take_waits(const nlohmann::json& list, time now);

  /// `troupe io list`. Rates are those since the last one.
  void take_streams(const nlohmann::json& list, time now);

  /// `troupe monitor list`.
  void take_monitors(const nlohmann::json& list);

  /// Use of processors and memory: the infos that answer a request for
  /// PMIX_MONITOR_PROC_RESOURCE_USAGE or PMIX_MONITOR_NODE_RESOURCE_USAGE. The load
  /// of a process is that since the last one.
  void take_usage(const std::vector<info>& answer, time now);

  /// An event of the DVM. The end of a process or job is shown at once.
  void take_event(const event& x, time now);

  /// An item; null if there is none.
  const nlohmann::json* item(const std::string& part,
                             const std::string& name) const;

  /// All of it: an object of parts, each an object of items.
  nlohmann::json whole() const;

  /// The items that have changed since the last call; null for those that are gone.
  /// An empty object: none has.
  nlohmann::json take_change();

private:
  using items = std::map<std::string, nlohmann::json>;

  /// What a stream or a process had before.
  struct mark {
    double amount = 0;
    time at = 0;
  };

  using marks = std::map<std::string, mark>;

  void set(const std::string& part, const std::string& name, nlohmann::json x);
  void remove(const std::string& part, const std::string& name);
  void replace(const std::string& part, items x);
  std::vector<std::string> ranks_of(const std::string& nspace) const;
  void end_job(const std::string& nspace, time now);
  void end_rank(const proc_id& proc, const char* state, const event& x);
  void forget_job(const std::string& nspace);

  static double rate(const marks& before, marks& after, const std::string& name,
                     double amount, time now);

  std::map<std::string, items> parts_;

  /// The names of what has changed, by part.
  std::map<std::string, std::set<std::string>> changed_;

  /// Jobs that are over, the oldest first.
  std::deque<std::string> over_;

  /// Messages that were sent again, by connection.
  std::map<std::string, uint64_t> resent_;

  /// Networks that two nodes have had since they are connected, by connection: nodes
  /// tell of lanes that there are, not of those that are lost.
  std::map<std::string, std::set<std::string>> networks_;
  marks written_;
  marks seconds_;
  uint64_t event_number_ = 0;
};

/// The text of JSON on one line; what is not UTF-8 is replaced.
std::string json_text(const nlohmann::json& x);

} // namespace troupe
