#pragma once

#include "actors/data/job_locations.hpp"
#include "actors/mesh/exchange/event_stream.hpp"

namespace troupe {

/// The events of all namespaces at one node, each in one order for all nodes
/// that host the namespace. An empty namespace stands for those that are no
/// jobs: all members host it, and its home is the root.
///
/// Beside them, the logs of groups: a log begins at a node with the first
/// message that names it, which also says who keeps it, and ends there with the
/// group.
///
/// A plain class: what it wants done are calls of `effects`, which may come
/// before a call returns and may call back in.
/// Source: guarantees 5.2.
class event_sequencer {
public:
  using completion = event_stream::completion;
  using answerer = event_stream::answerer;

  struct effects {
    /// Asks the host of another node; `unreach` only if it is lost.
    std::function<void(uint32_t rank, host_question what,
                       event_stream::reply_handler then)>
      ask;

    /// Gives an event to the server of this node.
    /// @param then Comes when its log has it.
    std::function<void(const std::string& nspace, ordered_content what,
                       std::function<void()> then)>
      deliver;

    /// Makes `places` know a job; an error if there is none.
    std::function<void(const std::string& nspace,
                       std::function<void(const caf::error&)> then)>
      locate;

    /// All members, this node among them, ascending.
    std::function<rank_list()> live;

    /// Calls back after a while.
    std::function<void(std::chrono::nanoseconds delay,
                       std::function<void()> then)>
      after;

    /// Remembers what becomes of events; null: nothing does.
    std::shared_ptr<trace_ring> trace = {};
  };

  /// @param places Where jobs run, and which of their nodes are lost; outlives
  ///               this.
  event_sequencer(uint32_t self, uint64_t incarnation,
                  const job_locations& places, effects out, uint32_t radix);

  /// Takes an event of this node for processes of one namespace, whose place is
  /// known.
  /// @param then Comes when all nodes that host the namespace have it.
  ///             `unreach`: none is left; `not_found`: the namespace is gone.
  void submit(const std::string& nspace, deliver_event what, completion then);

  /// Begins the log of a group here, if there is none and the group is not
  /// over, as `submit` does with its first entry, whose list of nodes has no
  /// runs.
  /// @param hosts The nodes that keep the log, ascending; none: all members.
  void begin(const group_entry& first, const rank_list& hosts);

  /// Takes an entry of this node for the log of a group.
  /// @param then Comes when all nodes that keep the log have carried it out.
  ///             `unreach`: none is left; `not_found`: the group is over.
  void submit(order_group_entry what, completion then);

  /// More nodes keep the log of a group from the next entry on.
  void extend(const group_key& group, const std::vector<uint32_t>& hosts);

  /// A group is over here. What comes for it later is refused.
  void close_log(const group_key& group);

  /// All nodes of a job know it.
  void job_started(const std::string& nspace);

  /// A job is over everywhere.
  void job_forgotten(const std::string& nspace);

  /// A node is lost; `places` knows.
  void node_lost(uint32_t rank);

  /// This node counts as lost: nothing is accepted any more.
  void stop();

  // -- from other nodes ------------------------------------------------------

  void take(uint32_t from, uint64_t incarnation, submit_event what,
            answerer reply);
  void take(uint32_t from, order_events what, const answerer& reply);
  void take(uint32_t from, const collect_events& what, const answerer& reply);

  /// The nodes that keep the log of a group, ascending; none: all members, or
  /// it is not known.
  std::vector<uint32_t> hosts_of_log(const std::string& name) const;

  // -- gauges ----------------------------------------------------------------

  /// Events of this node without an answer.
  size_t submitted() const;

  /// Events that are kept for new homes.
  size_t kept() const;

  /// Logs of groups that are kept here, and of those that are remembered to be
  /// over.
  size_t logs() const;
  size_t closed_logs() const {
    return closed_.size();
  }

private:
  /// Whether this node hosts a namespace.
  bool hosts(const std::string& nspace) const;

  event_stream& stream(const std::string& nspace);

  bool is_closed(const std::string& name) const {
    return closed_names_.count(name) > 0;
  }

  // -- what others say of nodes: a few bytes may name very many, and the ranks
  // -- of a DVM have no holes
  bool may_be_nodes(uint64_t end);
  bool may_be_nodes(const rank_list& ranks);
  bool may_be_nodes(const ordered_event& x);

  /// The log of a group; null if this node is not to keep it.
  /// @param hosts As the message that names it says.
  /// @param entry Its first entry, if that is at hand.
  std::shared_ptr<event_stream> log_of(const std::string& name,
                                       const rank_list& hosts,
                                       const group_entry* entry);
  void take_entry(uint32_t from, uint64_t incarnation, submit_event what,
                  const answerer& reply);
  void take_entries(uint32_t from, order_events what, const answerer& reply);
  std::shared_ptr<event_stream> begin_log(const std::string& name,
                                          log_hosts hosts);
  log_hosts hosts_for(const rank_list& given, const group_entry* entry) const;
  void succeed(const std::string& nspace);
  void close(const std::string& name);
  void abandon(const std::string& name);

  /// Which logs are over is said of many of them together.
  static bool is_end_of_logs(const order_events& what);
  void tell_end(const std::string& name, const std::vector<uint32_t>& ranks,
                uint64_t place);
  void tell_ends();
  void tell_ends(uint32_t rank, std::vector<ordered_event> ends);
  void take_ends(uint32_t from, const order_events& what,
                 const answerer& reply);

  uint32_t self_;
  const job_locations& places_;
  effects out_;
  std::shared_ptr<const event_stream::means> means_;
  std::map<std::string, std::shared_ptr<event_stream>> streams_;
  std::set<std::string> started_;

  /// Groups that are over, oldest first.
  std::deque<std::string> closed_;
  std::set<std::string> closed_names_;

  /// Logs that are over and were kept here last, by those who do not know.
  std::map<uint32_t, std::vector<ordered_event>> ended_;

  /// One more than the last node that this one has heard of.
  uint64_t end_of_nodes_ = 0;
  bool is_tell_due_ = false;
  bool is_stopped_ = false;
};

} // namespace troupe
