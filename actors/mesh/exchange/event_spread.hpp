#pragma once

#include "actors/data/job_locations.hpp"
#include "messages/host.hpp"

#include <caf/expected.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>

namespace troupe {

namespace defaults {

/// Events of one process that are answered before they are stable, because it
/// asked for that.
inline constexpr size_t event_early_answers = 1024;

} // namespace defaults

/// In the infos of an event: the string "local" has it answered as soon as this
/// node has it. It gives up P-J4 for that event.
inline constexpr std::string_view event_accept = "troupe.event.accept";

/// Whom events of this node are for: works out in the order of which namespaces
/// an event stands, and hands it to each of these orders. An event for several
/// namespaces stands in the order of each, with those of its targets that are
/// in it, so a process gets it once. Targets that belong to no job, such as
/// tools, share the order of the empty namespace.
///
/// Events of one source go on in their order: one that stands in other orders
/// than those before it waits until these are stable.
/// Source: PMIx Standard v5, `pmix_data_range_t`, PMIX_EVENT_CUSTOM_RANGE;
/// guarantees 5.2, P-J1 to P-J3, SEQ-5.
class event_spread {
public:
  /// `partial_success` if some of the processes that a custom range names, or
  /// the nodes of some, cannot be reached; `unreach` if none can.
  using completion = std::function<void(caf::expected<ack>)>;

  struct effects {
    /// Puts an event into the order of a namespace. `unreach` if none of its
    /// nodes is left, `not_found` if it is gone.
    std::function<void(const std::string& nspace, deliver_event what,
                       completion then)>
      submit;

    /// Gives an event to this node's server only.
    std::function<void(deliver_event what, completion then)> deliver_here;

    /// Gives an event to the resource manager, which is the host of the root.
    std::function<void(deliver_event what, completion then)> tell_manager;

    /// Makes `places` know a job; an error if there is none.
    std::function<void(const std::string& nspace,
                       std::function<void(const caf::error&)> then)>
      locate;

    /// The namespaces of all jobs.
    std::function<void(std::function<void(std::vector<std::string>)> then)>
      list_jobs;

    /// Whether any of these processes, which belong to no job, is connected
    /// anywhere.
    std::function<void(std::vector<proc_id> procs,
                       std::function<void(bool)> then)>
      find_procs;
  };

  /// @param places Where jobs run; outlives this.
  event_spread(const job_locations& places, effects out)
    : places_(places), out_(std::move(out)) {
    // nop
  }

  /// Takes an event of a process.
  /// @param then Comes when all nodes that the event concerns have it.
  void notify(const proc_id& source, notify_request what, completion then);

  /// Takes an event that the system makes about a namespace, for its processes.
  void raise(event what, const std::string& nspace, completion then);

  /// The same, for some of its processes.
  void raise(event what, const std::string& nspace,
             std::vector<proc_id> audience, completion then);

  /// Events that are not answered.
  size_t waiting() const;

private:
  /// Where an event goes: the targets in each namespace.
  using route = std::map<std::string, std::vector<proc_id>>;

  enum class way : uint8_t { orders, here, manager };

  struct entry {
    event what;
    completion then;
    way by = way::orders;

    /// Whether somebody who is not reached makes a difference.
    bool is_custom = false;
    bool is_for_all = false;
    bool is_listed = false;
    bool is_routed = false;

    std::vector<proc_id> audience;

    /// Namespaces it names that are no jobs, and processes that are nowhere.
    std::set<std::string> unknown;
    size_t unreached = 0;
    route to;
  };

  struct source_state {
    std::deque<entry> waiting;
    bool is_resolving = false;

    /// What is on its way, and where to.
    size_t in_flight = 0;
    way by = way::orders;
    std::set<std::string> orders;
  };

  void add(const proc_id& key, entry x);
  void go_on(const proc_id& key);
  bool resolve(const proc_id& key, entry& x);
  void make_route(entry& x);
  void send(const proc_id& key, entry x);
  void finish(const proc_id& key);

  const job_locations& places_;
  effects out_;
  std::map<proc_id, source_state> sources_;
};

} // namespace troupe
