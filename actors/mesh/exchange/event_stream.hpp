#pragma once

#include "actors/mesh/exchange/call_merger.hpp"
#include "actors/mesh/exchange/origin_marks.hpp"
#include "base/trace_ring.hpp"
#include "messages/mesh.hpp"

#include <caf/expected.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace troupe {

namespace defaults {

/// Events of a node for one namespace without an answer that are on their way;
/// more wait at the node.
inline constexpr size_t event_submissions = 1024;

} // namespace defaults

/// Who keeps the log of a group.
struct log_hosts {
  /// Ascending, and behind them those that have joined, in the order in which
  /// they have.
  rank_list ranks;

  /// Those among them whose processes were lost before this node heard of it.
  std::vector<uint32_t> lost;
};

/// The events of one namespace, as one node sees them: those of this node that
/// have no place in the order yet, the order as far as it is here, and, at the
/// home of the namespace, who has how much of it.
///
/// The *home* is the first of the nodes that host the namespace and are not
/// lost; its rank is the epoch. It gives each event its place and hands it to
/// the others, at most `radix` of them directly; an event is *stable* once all
/// have it. A new home asks all for the last place they have and takes nothing
/// of former epochs from then on, gets what the longest has and gives it to
/// all, and only then goes on. Whoever had submitted what is not stable submits
/// it again; a mark per origin tells repeats.
///
/// The log of a group is a stream, too, whose nodes the messages name. Its home
/// keeps entries that may wait until all nodes have sent one, so that they
/// leave together; calls of the same become one entry, which has a place for
/// all of them. Nodes that join get what comes after the entry that adds
/// them, once all others have that.
///
/// While none of its nodes is lost, calls go up a tree of them: each node keeps
/// its own and those from below until all below have called, or for a moment,
/// and sends them to its parent as one. As soon as something is lost, or a
/// parent cannot see to them, they are refused, and whoever has called goes to
/// the home directly. Until its call has a place a node sends nothing else.
///
/// A plain class: what it wants done are calls of `means`, which may come
/// before a call returns and may call back in. It does not rely on messages
/// arriving in order, except that those of a former home that come after the
/// new one's question are refused.
/// Source: guarantees 5.2, SEQ-1 to SEQ-5.
class event_stream : public std::enable_shared_from_this<event_stream> {
public:
  using completion = event_submission::completion;

  /// Answers a question of another node.
  using answerer = std::function<void(host_reply)>;

  using reply_handler = std::function<void(caf::expected<host_reply>)>;

  struct means {
    uint32_t self = 0;
    uint64_t incarnation = 0;

    /// Children per node of the tree along which events go down.
    uint32_t radix = 8;

    /// Asks the host of another node; `unreach` only if it is lost.
    std::function<void(uint32_t rank, host_question what, reply_handler then)>
      ask;

    /// Gives an event, or an entry, to the server of this node.
    /// @param then Comes when its log has it, or it is carried out.
    std::function<void(const std::string& nspace, ordered_content what,
                       std::function<void()> then)>
      deliver;

    /// The nodes that host a namespace and are not known to be lost, ascending.
    std::function<rank_list(const std::string& nspace)> hosts;

    /// The first node that ever hosted it.
    std::function<uint32_t(const std::string& nspace)> founder;

    /// Whether nodes that submitted an event, and those that join with it, may
    /// be some: what they are remembered by grows with them.
    std::function<bool(const ordered_event& what)> may_be;

    /// Calls back after a while.
    std::function<void(std::chrono::nanoseconds delay,
                       std::function<void()> then)>
      after;

    /// The log of a group is over, and all of these have it up to `place`,
    /// which is the last: they are to be told so. Nobody waits for it.
    std::function<void(const std::string& name,
                       const std::vector<uint32_t>& ranks, uint64_t place)>
      tell_end;

    /// The log of a group is over for all others, and this node has not said
    /// so itself: it has joined when there was nothing more to learn.
    std::function<void(const std::string& name)> abandon;

    /// Remembers what becomes of events; null: nothing does.
    std::shared_ptr<trace_ring> trace = {};
  };

  /// @param hosts Of the log of a group; none: all members keep it.
  event_stream(std::string nspace, std::shared_ptr<const means> out,
               log_hosts hosts = {});

  // -- of this node ----------------------------------------------------------

  /// Takes an event of this node.
  /// @param then Comes when all live nodes of the namespace have it; `unreach`
  ///             if there is none, `not_found` if the namespace is gone.
  /// @param may_wait Whether it may wait for what others have to say.
  void submit(ordered_content what, completion then, bool may_wait = false);

  /// More nodes keep the log from the next entry on.
  void extend(const std::vector<uint32_t>& ranks);

  /// Nothing is known here yet: who tells first is the home.
  void follow(uint32_t home);

  /// All nodes know the namespace: its home may give places.
  void open();

  /// A node is lost.
  void lose(uint32_t rank);

  /// The namespace is gone: nothing is owed any more.
  void close();

  /// The group is over here: nothing is owed to this node any more. Others may
  /// still need what it has.
  /// @param over Comes when nobody does.
  void retire(std::function<void()> over);

  /// This node counts as lost: no event is accepted any more.
  void depose();

  // -- from other nodes ------------------------------------------------------

  void take(uint32_t from, uint64_t incarnation, submit_event& what,
            const answerer& reply);
  void take(uint32_t from, order_events& what, const answerer& reply);
  void take(uint32_t from, const collect_events& what, const answerer& reply);

  /// Its home says that the log of the group is over at this place.
  void finish(uint32_t home, uint64_t place);

  /// The nodes that keep the log of a group, ascending; none: all.
  std::vector<uint32_t> log_ranks() const;

  // -- gauges ----------------------------------------------------------------

  /// Events of this node without an answer.
  size_t submitted() const {
    return outbox_.size();
  }

  /// Events that are kept for a new home.
  size_t kept() const {
    return kept_.size();
  }

private:
  /// An event of this node that is not stable.
  struct outgoing {
    ordered_content what;
    completion then;
    bool may_wait = false;

    /// Whether it is in the order here, and whether it goes to the home
    /// whatever it is.
    bool has_place = false;
    bool is_direct = false;
  };

  struct entry {
    ordered_event what;
    bool is_taken = false;
  };

  using submission = event_submission;

  /// Nodes that get their events together; the first passes them on.
  struct branch {
    rank_list ranks;
    uint64_t sent = 0;

    /// The stable place that they have been told.
    uint64_t told = 0;
    size_t in_flight = 0;

    /// Nothing is sent until this place is stable.
    uint64_t held = 0;
  };

  enum class role : uint8_t {
    member,     ///< another node is the home
    collecting, ///< asks who has how much
    fetching,   ///< asks the longest for what is missing here
    home,
    deposed, ///< another node has taken over: this one counts as lost
  };

  bool is_global() const {
    return hosts_.empty() && (nspace_.empty() || is_group_log(nspace_));
  }

  /// Whether one comes before another in the order of homes.
  bool precedes(uint32_t x, uint32_t y) const;

  rank_list all_nodes() const;
  std::vector<uint32_t> members() const;
  std::optional<uint32_t> first_member() const;
  bool is_member(uint32_t rank) const;
  void merge_hosts(const rank_list& ranks);

  /// What tells this node of its former lives.
  uint64_t incarnation() const {
    return hosts_.empty() ? out_->incarnation : 0;
  }

  void pass_over_before(uint32_t home);
  void ask_successor();
  void check_over();
  void end();

  /// What an event of this order is called in the trace; nothing for entries of
  /// groups, and if there is no trace.
  std::optional<trace_id> name_of(const ordered_content& what, uint64_t number,
                                  uint32_t node) const;

  // -- as an origin --
  void pump();
  bool may_rise(uint64_t number) const;
  void rise(uint64_t number);
  void on_risen(uint64_t number, const caf::expected<ack>& x);
  void note_placed(const event_origin& x);
  void send(uint32_t home, uint64_t number);
  void on_submitted(uint32_t home, uint64_t number,
                    const caf::expected<host_reply>& x);
  void complete(uint64_t number, caf::expected<ack> x);

  // -- on the way of calls to the home --
  bool is_whole() const;
  std::optional<size_t> place_in_tree() const;
  bool is_below(uint32_t rank, size_t top) const;
  size_t count_below(size_t place) const;
  bool may_pass(uint32_t from, const submit_event& what) const;
  void send_up();
  std::vector<submission> take_gathered_of(uint32_t rank);
  static void refuse(std::vector<submission> what);

  // -- as a member --
  void append(ordered_event what);
  void on_taken(uint64_t place);
  void trim(uint64_t place);
  void absorb(order_events& what);
  void pass_on(const order_events& what, const std::function<void(bool)>& then);
  const ordered_event& at(uint64_t place) const {
    return kept_[place - stable_ - 1].what;
  }

  // -- as the home --
  void check_home();
  void collect();
  void on_collected(uint32_t rank, caf::expected<host_reply> x);
  void fetch();
  void on_fetched(uint32_t rank, caf::expected<host_reply> x);
  void reign();
  void place(submission x);
  void gather(submission x);
  bool has_heard_all() const;
  void flush();
  bool is_repeat(const ordered_event& x) const;
  void take_gathered(const call_merger::receiver& show);
  void put(submission x);
  void add_joining(const std::vector<uint32_t>& ranks);
  void add_followers();
  void arrange();
  void distribute();
  void send_batch(uint64_t id, branch& to);
  void on_batch(uint64_t id, const rank_list& ranks, uint64_t end,
                const caf::expected<host_reply>& x);
  void dissolve(uint64_t id);
  void advance();

  std::string nspace_;
  std::shared_ptr<const means> out_;

  bool is_open_ = false;
  bool is_closed_ = false;

  /// Of the log of a group: who keeps it, in the order in which they may be
  /// its home.
  rank_list hosts_;

  /// Set once the group is over here.
  bool is_retired_ = false;
  std::function<void()> over_;

  /// Nodes that are lost to this namespace, whatever `hosts` says.
  std::set<uint32_t> gone_;

  // -- as an origin --
  std::map<uint64_t, outgoing> outbox_;
  uint64_t next_number_ = 1;

  /// To whom events go, the first that has not gone there, and how many have
  /// and are not answered.
  std::optional<uint32_t> target_;
  uint64_t next_to_send_ = 1;
  size_t in_flight_ = 0;

  /// What is on its way up the tree: nothing follows until it has a place.
  std::optional<uint64_t> rising_;

  // -- as a member --
  uint32_t epoch_ = 0;

  /// All up to `stable_` are forgotten, those up to `last_` are kept, and the
  /// server's log has those up to `taken_`.
  uint64_t stable_ = 0;
  uint64_t last_ = 0;
  uint64_t taken_ = 0;
  std::deque<entry> kept_;
  origin_marks marks_;

  /// What came before its turn, by its first place.
  std::map<uint64_t, order_events> early_;

  /// Who waits for the server's log to have a place.
  std::multimap<uint64_t, std::function<void()>> awaiting_taken_;

  // -- as the home --
  role role_ = role::member;
  std::set<uint32_t> pending_;
  std::map<uint32_t, uint64_t> collected_;
  std::vector<submission> parked_;

  /// Entries that wait for others, here or on their way to the home, and who
  /// has sent one of late.
  std::vector<submission> gathered_;
  std::set<uint32_t> heard_;

  /// How often what was gathered has left.
  uint64_t gatherings_ = 0;

  /// The place that has to be stable before the newest nodes get anything.
  uint64_t held_ = 0;

  /// What each of the others has, and how they are reached.
  std::map<uint32_t, uint64_t> acknowledged_;
  std::map<uint64_t, branch> branches_;
  uint64_t next_branch_ = 1;

  /// Who waits for a place to be stable.
  std::multimap<uint64_t, completion> awaiting_stable_;
};

} // namespace troupe
