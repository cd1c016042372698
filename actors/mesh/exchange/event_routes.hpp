#pragma once

#include "actors/mesh/exchange/connected_tools.hpp"
#include "actors/mesh/exchange/event_sequencer.hpp"
#include "actors/mesh/exchange/event_spread.hpp"
#include "actors/mesh/exchange/host_calls.hpp"
#include "messages/group_entry.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// Events for processes of this node and of others, and the logs of groups,
/// which stand in the same orders: what `event_spread` and `event_sequencer`
/// decide, between the server of this node and the other hosts. A plain class.
class event_routes {
public:
  using action = std::function<void()>;

  struct effects {
    /// Gives an event to the EVENT CACHE of this node.
    /// @param then Comes with its answer, or at once if there is none.
    std::function<void(deliver_event what, action then)> give;

    /// Gives an entry of a log to the server of this node, likewise.
    std::function<void(group_entry_ordered what, action then)> carry_out;

    host_calls::call_later call_later;

    /// Remembers what becomes of events; null: nothing does.
    std::shared_ptr<trace_ring> trace = {};
  };

  /// @param calls, places, tools Outlive this.
  event_routes(mesh_calls::member self, host_calls& calls,
               const job_locations& places, const connected_tools& tools,
               effects out);

  event_routes(const event_routes&) = delete;
  event_routes& operator=(const event_routes&) = delete;

  // -- from this node --

  /// An event of a process.
  void notify(const requester& who, notify_request what, completion<ack> done);

  /// Exactly these processes hear of an event of the system, which does not
  /// come from a process, in the order of each of their namespaces.
  void notify(const event& what, const std::vector<proc_id>& targets,
              completion<ack> then);

  /// The processes of some namespaces hear of an event that the system makes:
  /// each namespace has it in its order.
  void raise(const event& what, const std::vector<std::string>& audience);

  /// Some processes hear of it, each once in the order of its namespace.
  void raise(const event& what, const std::vector<proc_id>& audience);

  /// Where processes run, wildcards spelt out.
  void locate(std::vector<proc_id> procs, completion<proc_places> done);

  // -- from members --

  /// Why a node may not raise events, or ask, in the name of a process, if so.
  /// Source: guarantees, X41.
  caf::error check_speaker(uint32_t from, const proc_id& source) const;

  /// An event for a namespace, or an entry for the log of a group. A node
  /// speaks for its own processes only, except that all may know who has ended:
  /// X41.
  void take(const mesh_calls::member& from, submit_event what,
            const event_sequencer::answerer& reply);

  // -- the rules --

  event_sequencer& orders() {
    return orders_;
  }

  const event_sequencer& orders() const {
    return orders_;
  }

  /// Events of this node that are not answered.
  size_t waiting() const {
    return spread_.waiting();
  }

private:
  struct place_search;

  event_sequencer::effects means_of_order();
  event_spread::effects means_of_spread();
  void deliver(const std::string& nspace, deliver_event what,
               const action& then);
  bool concerns(const std::vector<proc_id>& targets) const;
  bool may_speak_for(uint32_t from, const proc_id& source) const;
  void find_anywhere(const std::vector<proc_id>& procs,
                     std::function<void(bool)> then);
  caf::expected<proc_places> places_of(const place_search& x) const;

  mesh_calls::member self_;
  host_calls& calls_;
  const job_locations& places_;
  const connected_tools& tools_;
  effects out_;
  event_sequencer orders_;
  event_spread spread_;
};

/// Whether those in whose name something is said of a group are processes of
/// the node that says it, or, of calls that come up the tree, of the nodes that
/// have called; that these are below the sender the log sees to. Who does not
/// listen, or does not answer, is spoken for by its node, too; who has ended,
/// how late it is and what has been so far, all may know.
/// Source: guarantees, X41.
/// @param places Where those run that stand in a row.
/// @param is_on Whether a process runs on one of these.
bool speaks_for_its_own(
  const submit_event& what, uint32_t from, const job_locations& places,
  const std::function<bool(const std::vector<event_origin>& nodes,
                           const proc_id& proc)>& is_on);

bool is_among(const std::vector<event_origin>& nodes, uint32_t rank);

} // namespace troupe
