#pragma once

#include "actors/mesh/job_locations.hpp"
#include "messages/host.hpp"

#include <caf/expected.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <set>

namespace troupe {

/// Takes events of this node's processes to the nodes that host processes they
/// are for, and to no other. Events of one source stay in their order.
/// Source: PMIx Standard v5, `pmix_data_range_t`, PMIX_EVENT_CUSTOM_RANGE;
/// guarantees, P-J1 and P-J3.
class event_spread {
public:
  /// `partial_success` if a node that is a member has not taken the event.
  using completion = std::function<void(caf::expected<ack>)>;

  struct effects {
    /// Gives an event to another node; `unreach` if it is lost.
    std::function<void(uint32_t rank, deliver_event what, completion then)>
      deliver;

    /// Makes `places` know a job; an error if there is none.
    std::function<void(const std::string& nspace,
                       std::function<void(const caf::error&)> then)>
      locate;

    /// All members, this node among them.
    std::function<std::vector<uint32_t>()> live;
  };

  /// @param places Where jobs run; outlives this.
  event_spread(uint32_t self, const job_locations& places, effects out)
    : self_(self), places_(places), out_(std::move(out)) {
    // nop
  }

  /// Takes an event to the others. This node's processes have it already.
  /// @param then Comes when all nodes have it.
  void notify(const proc_id& source, notify_request what, completion then);

  /// What waits for others of its source.
  size_t waiting() const;

private:
  struct entry {
    deliver_event what;
    completion then;

    /// Namespaces it names that are no jobs: those of tools.
    std::set<std::string> unknown;
  };

  void go_on(const proc_id& source);
  void send(entry x);

  /// Whom an event names, as patterns; nothing: everybody.
  static std::optional<std::vector<proc_id>> audience(const event& what);

  std::vector<uint32_t> nodes_for(const event& what) const;

  uint32_t self_;
  const job_locations& places_;
  effects out_;

  /// Events whose namespaces are being located, and those behind them.
  std::map<proc_id, std::deque<entry>> queues_;
};

} // namespace troupe
