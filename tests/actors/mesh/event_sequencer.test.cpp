#include "actors/mesh/event_sequencer.hpp"

#include "config/defaults.hpp"
#include "messages/status.hpp"
#include "tests/test.hpp"

#include <algorithm>
#include <deque>
#include <optional>

using namespace troupe;

namespace {

const auto nspace = std::string{"job"};
const auto key = group_key{"grp", 7, 1};

/// Nodes whose messages wait until the test lets them go.
struct cluster {
  /// In the place of an entry: the log is over.
  static constexpr auto over = -1;

  struct message {
    uint32_t from = 0;
    uint32_t to = 0;
    host_question what;
    event_stream::reply_handler then;
  };

  struct node {
    job_locations places;
    std::unique_ptr<event_sequencer> subject;

    /// Codes that its server has been given, for a job and for tools.
    std::vector<int> events;
    std::vector<int> for_tools;

    /// Rounds of the entries that it has carried out, of all groups.
    std::vector<int> entries;
    std::vector<std::function<void()>> timers;

    /// Whether its server takes events when the test says so.
    bool is_slow = false;
    std::deque<std::function<void()>> slow;
    std::vector<std::string> located;
    std::function<void(const caf::error&)> waiting;
  };

  std::vector<std::unique_ptr<node>> nodes;
  std::set<uint32_t> lost;
  std::deque<message> sent;

  /// @param hosts The nodes of the job.
  explicit cluster(uint32_t size, std::vector<uint32_t> hosts = {}) {
    auto map = job_map{};
    map.nspace = nspace;
    if (hosts.empty())
      for (uint32_t rank = 0; rank < size; ++rank)
        hosts.push_back(rank);
    for (uint32_t rank = 0; rank < hosts.size(); ++rank)
      map.shares.push_back({hosts[rank], "", {{rank, 0, {}}}});
    for (uint32_t rank = 0; rank < size; ++rank) {
      nodes.push_back(std::make_unique<node>());
      nodes.back()->places.add(map);
      add(rank);
    }
    for (const auto& x : nodes)
      x->subject->job_started(nspace);
  }

  void add(uint32_t rank) {
    auto out = event_sequencer::effects{};
    auto& x = *nodes[rank];
    out.ask = [this, rank](uint32_t to, host_question what,
                           event_stream::reply_handler then) {
      if (lost.count(to) > 0)
        then(make_error(status::unreach, "lost"));
      else
        sent.push_back({rank, to, std::move(what), std::move(then)});
    };
    out.deliver = [&x](const std::string& name, const ordered_content& what,
                       std::function<void()> then) {
      if (const auto* entry = std::get_if<group_entry>(&what)) {
        const auto* step = std::get_if<group_time_up>(&entry->what);
        x.entries.push_back(step != nullptr ? static_cast<int>(step->round)
                                            : over);
      } else {
        (name.empty() ? x.for_tools : x.events)
          .push_back(static_cast<int>(std::get<deliver_event>(what).what.code));
      }
      if (x.is_slow)
        x.slow.push_back(std::move(then));
      else
        then();
    };
    out.locate = [&x](const std::string& name,
                      std::function<void(const caf::error&)> then) {
      x.located.push_back(name);
      x.waiting = std::move(then);
    };
    out.after = [&x](std::chrono::nanoseconds, std::function<void()> then) {
      x.timers.push_back(std::move(then));
    };
    out.live = [this] {
      auto result = std::vector<uint32_t>{};
      for (uint32_t i = 0; i < nodes.size(); ++i)
        if (lost.count(i) == 0)
          result.push_back(i);
      return result;
    };
    x.subject = std::make_unique<event_sequencer>(rank, 1000 + rank, x.places,
                                                  std::move(out), 2);
  }

  node& operator[](uint32_t rank) {
    return *nodes[rank];
  }

  static deliver_event make(int code) {
    auto result = deliver_event{};
    result.what.code = static_cast<status>(code);
    return result;
  }

  using outcome = std::shared_ptr<std::optional<status>>;

  outcome submit(uint32_t rank, int code, const std::string& to = nspace) {
    auto result = std::make_shared<std::optional<status>>();
    nodes[rank]->subject->submit(
      to, make(code), [result](const caf::expected<ack>& x) {
        *result = x ? status::success : status_of(x.error());
      });
    return result;
  }

  /// Says something of a group.
  outcome enter(uint32_t rank, uint64_t round, std::vector<uint32_t> hosts,
                bool may_wait = false, const group_key& group = key) {
    auto result = std::make_shared<std::optional<status>>();
    auto what = order_group_entry{};
    what.entry.group = group;
    what.entry.what = group_time_up{group_operation::construct, round};
    what.hosts = std::move(hosts);
    what.may_wait = may_wait;
    nodes[rank]->subject->submit(
      std::move(what), [result](const caf::expected<ack>& x) {
        *result = x ? status::success : status_of(x.error());
      });
    return result;
  }

  /// Time goes by at a node.
  void wait(uint32_t rank) {
    for (auto& x : std::exchange(nodes[rank]->timers, {}))
      x();
  }

  static void answer(const event_stream::reply_handler& then, host_reply x) {
    if (const auto* why = std::get_if<mesh_failure>(&x))
      then(make_error(why->code, why->reason));
    else
      then(std::move(x));
  }

  void execute(message x) {
    if (lost.count(x.to) > 0)
      return;
    const auto reply = [then = x.then](host_reply y) {
      answer(then, std::move(y));
    };
    auto& to = *nodes[x.to]->subject;
    if (auto* submit = std::get_if<submit_event>(&x.what))
      to.take(x.from, 1000 + x.from, std::move(*submit), reply);
    else if (auto* order = std::get_if<order_events>(&x.what))
      to.take(x.from, std::move(*order), reply);
    else
      to.take(x.from, std::get<collect_events>(x.what), reply);
  }

  /// Delivers all messages, and those that follow.
  void run() {
    while (!sent.empty()) {
      auto next = std::move(sent.front());
      sent.pop_front();
      execute(std::move(next));
    }
  }

  /// A node is lost, with what is on its way to and from it.
  void lose(uint32_t rank) {
    lost.insert(rank);
    auto gone = std::vector<message>{};
    for (auto i = sent.begin(); i != sent.end();)
      if (i->to == rank || i->from == rank) {
        gone.push_back(std::move(*i));
        i = sent.erase(i);
      } else {
        ++i;
      }
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (lost.count(i) == 0) {
        nodes[i]->places.node_lost(rank);
        for (const auto& x : gone)
          if (x.from == i)
            x.then(make_error(status::unreach, "lost"));
        nodes[i]->subject->node_lost(rank);
      }
  }

  template <class T>
  size_t count_sent() {
    return static_cast<size_t>(
      std::count_if(sent.begin(), sent.end(), [](const message& x) {
        return std::holds_alternative<T>(x.what);
      }));
  }
};

bool is(const cluster::outcome& x, status expected) {
  return x->has_value() && **x == expected;
}

using codes = std::vector<int>;

} // namespace

CAF_TEST(SEQ-3 an event on one node is answered when its server has it) {
  auto x = cluster{1};
  x[0].is_slow = true;
  const auto first = x.submit(0, 1);
  CAF_CHECK((x[0].events == codes{1}));
  CAF_CHECK(!first->has_value());
  CAF_REQUIRE_EQUAL(x[0].slow.size(), 1u);
  x[0].slow.front()();
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(x.sent.empty());
  CAF_CHECK_EQUAL(x[0].subject->kept(), 0u);
}

CAF_TEST(P-J3 SEQ-1 two sources on two nodes are heard alike everywhere) {
  auto x = cluster{3};
  const auto near = x.submit(0, 1);
  const auto far = x.submit(2, 2);
  const auto last = x.submit(0, 3);
  // Its own node has to wait, too: the home says what comes first.
  CAF_CHECK(x[2].events.empty());
  x.run();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK((x[rank].events == codes{1, 3, 2}));
  for (const auto& y : {near, far, last})
    CAF_CHECK(is(y, status::success));
}

CAF_TEST(SEQ-3 P-J5 a server that takes its time delays the answer) {
  auto x = cluster{3};
  x[1].is_slow = true;
  const auto first = x.submit(2, 1);
  const auto second = x.submit(2, 2);
  x.run();
  CAF_CHECK((x[2].events == codes{1, 2}));
  CAF_CHECK(!first->has_value());
  // The later one first: nobody hears of it before its turn.
  CAF_REQUIRE_EQUAL(x[1].slow.size(), 2u);
  x[1].slow[1]();
  CAF_CHECK(!second->has_value());
  x[1].slow[0]();
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(is(second, status::success));
}

CAF_TEST(P-J5 what a node may have on its way is bounded) {
  auto x = cluster{2};
  const auto more = defaults::event_submissions + 10;
  for (size_t i = 0; i < more; ++i)
    x.submit(1, static_cast<int>(i));
  CAF_CHECK_EQUAL(x.count_sent<submit_event>(), defaults::event_submissions);
  x.run();
  CAF_CHECK_EQUAL(x[0].events.size(), more);
  CAF_CHECK(x[0].events == x[1].events);
  CAF_CHECK_EQUAL(x[1].subject->submitted(), 0u);
}

CAF_TEST(P-J5 a home has a bounded number of batches on its way) {
  auto x = cluster{2};
  for (int i = 0; i < 1000; ++i)
    x.submit(0, i);
  CAF_CHECK_EQUAL(x.count_sent<order_events>(), defaults::event_batches);
  x.run();
  CAF_CHECK_EQUAL(x[1].events.size(), 1000u);
  CAF_CHECK(x[0].subject->kept() < defaults::event_untold);
  CAF_CHECK(x[1].subject->kept() < 2 * defaults::event_untold);
}

CAF_TEST(P-J4 what one node has of a lost home all get) {
  auto x = cluster{4};
  const auto lost_too = x.submit(0, 1);
  // Only node 2 gets it.
  for (auto& y : x.sent)
    if (y.to == 2) {
      x.execute(y);
      break;
    }
  CAF_CHECK((x[2].events == codes{1}));
  x.lose(0);
  x.run();
  for (uint32_t rank = 1; rank < 4; ++rank)
    CAF_CHECK((x[rank].events == codes{1}));
}

CAF_TEST(P-J4 SEQ-2 P-J2 what is not stable is submitted again and told once) {
  auto x = cluster{4};
  const auto first = x.submit(3, 1);
  const auto second = x.submit(3, 2);
  // The home has both; node 2 hears of the first.
  for (auto i = 0; i < 2; ++i) {
    auto y = std::move(x.sent.front());
    x.sent.pop_front();
    x.execute(std::move(y));
  }
  for (auto& y : x.sent)
    if (y.to == 2) {
      x.execute(y);
      break;
    }
  CAF_CHECK((x[2].events == codes{1}));
  x.lose(0);
  x.run();
  for (uint32_t rank = 1; rank < 4; ++rank)
    CAF_CHECK((x[rank].events == codes{1, 2}));
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(is(second, status::success));
}

CAF_TEST(SEQ-1 P-M1 what a former home says is refused) {
  auto x = cluster{3};
  x.submit(0, 1);
  auto stale = std::deque<cluster::message>{};
  std::swap(stale, x.sent);
  // Node 1 hears of its loss, and node 2 by the question of node 1.
  x[1].places.node_lost(0);
  x[1].subject->node_lost(0);
  x.run();
  auto refused = status::success;
  for (auto& y : stale)
    if (y.to == 2) {
      y.then = [&](const caf::expected<host_reply>& z) {
        refused = z ? status::success : status_of(z.error());
      };
      x.execute(y);
    }
  CAF_CHECK(refused != status::success);
  CAF_CHECK(x[2].events.empty());
  const auto after = x.submit(2, 2);
  // The old home is asked no more, and counts no more.
  x.lose(0);
  x.run();
  CAF_CHECK(is(after, status::success));
  for (const auto rank : {1u, 2u})
    CAF_CHECK((x[rank].events == codes{2}));
}

CAF_TEST(P-J4 a home that counts as lost accepts nothing any more) {
  auto x = cluster{2};
  const auto first = x.submit(0, 1);
  x[0].subject->stop();
  x.run();
  const auto second = x.submit(0, 2);
  x.run();
  CAF_CHECK(!first->has_value());
  CAF_CHECK(!second->has_value());
}

CAF_TEST(SEQ-4 an event goes on when a node it passes through is lost) {
  // Two of the others pass on what the rest gets.
  auto x = cluster{8};
  x.submit(0, 1);
  x.run();
  const auto second = x.submit(0, 2);
  CAF_CHECK_EQUAL(x.count_sent<order_events>(), 2u);
  const auto head = x.sent.front().to;
  CAF_CHECK(!std::get<order_events>(x.sent.front().what).below.empty());
  x.lose(head);
  x.run();
  CAF_CHECK(is(second, status::success));
  for (uint32_t rank = 0; rank < 8; ++rank)
    if (rank != head)
      CAF_CHECK((x[rank].events == codes{1, 2}));
}

CAF_TEST(E57 nodes that do not host the namespace hear nothing) {
  auto x = cluster{4, {1, 3}};
  const auto outside = x.submit(0, 1);
  x.run();
  CAF_CHECK(is(outside, status::success));
  CAF_CHECK((x[1].events == codes{1}));
  CAF_CHECK((x[3].events == codes{1}));
  CAF_CHECK(x[0].events.empty());
  CAF_CHECK(x[2].events.empty());
}

CAF_TEST(an event for nodes that are all lost is refused) {
  auto x = cluster{3, {1, 2}};
  const auto first = x.submit(0, 1);
  x.lose(1);
  x.lose(2);
  CAF_CHECK(is(first, status::unreach));
  CAF_CHECK(is(x.submit(0, 2), status::unreach));
}

CAF_TEST(E3 what comes before a job is known everywhere waits) {
  auto x = cluster{2};
  auto early = x.nodes.size();
  x.nodes.push_back(std::make_unique<cluster::node>());
  x.add(static_cast<uint32_t>(early));
  // Node 2 has not heard of the job that it is asked to tell.
  auto what = submit_event{"late", 1, cluster::make(7)};
  auto answer = std::optional<host_reply>{};
  x[2].subject->take(0, 1000, what, [&](host_reply y) { answer = y; });
  CAF_REQUIRE((x[2].located == std::vector<std::string>{"late"}));
  auto map = job_map{};
  map.nspace = "late";
  map.shares = {{2, "", {{0, 0, {}}}}};
  x[2].places.add(map);
  x[2].waiting({});
  CAF_CHECK(!answer);
  CAF_CHECK(x[2].events.empty());
  x[2].subject->job_started("late");
  CAF_CHECK((x[2].events == codes{7}));
  CAF_CHECK(answer && std::holds_alternative<ack>(*answer));
}

CAF_TEST(P-M1 a daemon that was started anew says that it has not the job) {
  auto x = cluster{3};
  auto answer = std::optional<host_reply>{};
  x[1].places.node_lost(1);
  x[1].subject->take(0, 1000, submit_event{nspace, 1, cluster::make(7)},
                     [&](host_reply y) { answer = y; });
  CAF_REQUIRE(answer);
  const auto* why = std::get_if<mesh_failure>(&*answer);
  CAF_REQUIRE(why != nullptr);
  CAF_CHECK_EQUAL(why->code, status::unreach);
}

CAF_TEST(SEQ-4 nobody waits for a job that is over) {
  auto x = cluster{3, {1, 2}};
  x[2].is_slow = true;
  const auto near = x.submit(1, 1);
  const auto far = x.submit(0, 2);
  x.run();
  CAF_CHECK(!near->has_value());
  for (uint32_t rank = 0; rank < 3; ++rank) {
    x[rank].places.remove(nspace);
    x[rank].subject->job_forgotten(nspace);
  }
  x.run();
  CAF_CHECK(is(near, status::success));
  CAF_CHECK(far->has_value());
  CAF_CHECK(is(x.submit(1, 3), status::not_found));
  // What comes late does not bring it back.
  auto answer = std::optional<host_reply>{};
  auto late =
    order_events{nspace, 1, 2, 0, {}, {{0, 1000, 9, cluster::make(9)}}};
  x[2].subject->take(1, late, [&](host_reply y) { answer = y; });
  CAF_CHECK(answer && std::holds_alternative<ack>(*answer));
  CAF_CHECK_EQUAL(x[2].subject->kept(), 0u);
}

CAF_TEST(P-J3 a node that joins gets events of tools from then on) {
  auto x = cluster{2};
  x.submit(1, 1, "");
  x.submit(0, 2, "");
  x.run();
  x.nodes.push_back(std::make_unique<cluster::node>());
  x.add(2);
  const auto late = x.submit(1, 3, "");
  x.run();
  CAF_CHECK(is(late, status::success));
  CAF_CHECK((x[2].for_tools == codes{3}));
  CAF_CHECK((x[0].for_tools == x[1].for_tools));
  CAF_CHECK_EQUAL(x[0].for_tools.size(), 3u);
  x.lose(2);
  CAF_CHECK(is(x.submit(0, 4, ""), status::success) == false);
  x.run();
  CAF_CHECK_EQUAL(x[1].for_tools.size(), 4u);
}

CAF_TEST(X43 batches that make no sense change nothing) {
  auto x = cluster{3};
  const auto put = [&](uint32_t from, uint32_t home, uint64_t first) {
    auto answer = std::optional<host_reply>{};
    auto what = order_events{nspace, home, first,
                             0,      {},   {{from, 1, 1, cluster::make(9)}}};
    x[2].subject->take(from, what, [&](host_reply y) { answer = y; });
    return answer && std::holds_alternative<mesh_failure>(*answer);
  };
  CAF_CHECK(put(0, 0, 0)); // no such place
  CAF_CHECK(put(1, 1, 1)); // not the home
  CAF_CHECK(put(1, 2, 1)); // in this node's own name
  CAF_CHECK(put(7, 0, 1)); // a stranger, in the home's name
  CAF_CHECK(x[2].events.empty());
  // A gap is waited for, and does not grow without bound.
  for (uint64_t first = 2; first < 1000; ++first)
    put(0, 0, first);
  CAF_CHECK(x[2].events.empty());
  CAF_CHECK(!put(0, 0, 1));
  CAF_CHECK_EQUAL(x[2].events.size(), 1 + 2 * defaults::event_batches);
}

// -- logs of groups
// ------------------------------------------------------------------------

CAF_TEST(GRP-3 SEQ-1 all nodes of a group have its log in one order) {
  auto x = cluster{5};
  const auto near = x.enter(1, 1, {1, 2, 4});
  const auto far = x.enter(4, 2, {1, 2, 4});
  // Who has no part in it may say something, too.
  const auto other = x.enter(0, 3, {1, 2, 4});
  x.run();
  for (const auto rank : {1u, 2u, 4u})
    CAF_CHECK((x[rank].entries == codes{1, 2, 3}));
  for (const auto rank : {0u, 3u})
    CAF_CHECK(x[rank].entries.empty());
  for (const auto& y : {near, far, other})
    CAF_CHECK(is(y, status::success));
}

CAF_TEST(GRP-3 P-J4 a group goes on when the home of its log is lost) {
  auto x = cluster{4};
  const auto first = x.enter(2, 1, {0, 2, 3});
  // The home has it, and has told node 3.
  auto y = std::move(x.sent.front());
  x.sent.pop_front();
  x.execute(std::move(y));
  for (auto& z : x.sent)
    if (z.to == 3) {
      x.execute(z);
      break;
    }
  CAF_CHECK((x[3].entries == codes{1}));
  x.lose(0);
  const auto second = x.enter(3, 2, {2, 3});
  x.run();
  for (const auto rank : {2u, 3u})
    CAF_CHECK((x[rank].entries == codes{1, 2}));
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(is(second, status::success));
}

CAF_TEST(GRP-3 nodes that hear of a loss at different times have one log) {
  auto x = cluster{4};
  // Those who take part say where it is kept; what was lost before is known.
  auto what = order_group_entry{};
  what.entry.group = key;
  what.entry.participants = {{nspace, rank_wildcard}};
  what.entry.what = group_time_up{group_operation::construct, 1};
  what.hosts = {0, 1, 2, 3};
  auto early = std::optional<status>{};
  const auto note = [](std::optional<status>& to) {
    return [&to](const caf::expected<ack>& y) {
      to = y ? status::success : status_of(y.error());
    };
  };
  x[2].subject->submit(what, note(early));
  x.lose(0);
  what.hosts = {1, 2, 3};
  what.entry.what = group_time_up{group_operation::construct, 2};
  auto late = std::optional<status>{};
  x[3].subject->submit(what, note(late));
  x.run();
  CAF_CHECK(early == status::success);
  CAF_CHECK(late == status::success);
  CAF_CHECK_EQUAL(x[1].entries.size(), 2u);
  for (const auto rank : {2u, 3u})
    CAF_CHECK(x[rank].entries == x[1].entries);
  CAF_CHECK(x[0].entries.empty());
}

CAF_TEST(GRP-3 calls of all nodes leave in one message to each) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7};
  auto x = cluster{8};
  auto all = std::vector<cluster::outcome>{};
  for (const auto rank : hosts)
    all.push_back(x.enter(rank, rank + 1, hosts, true));
  CAF_CHECK_EQUAL(x.count_sent<submit_event>(), 7u);
  while (x.count_sent<submit_event>() > 0) {
    CAF_CHECK_EQUAL(x.count_sent<order_events>(), 0u);
    auto y = std::move(x.sent.front());
    x.sent.pop_front();
    x.execute(std::move(y));
  }
  // Two of them pass it on to the others.
  CAF_REQUIRE_EQUAL(x.count_sent<order_events>(), 2u);
  CAF_CHECK_EQUAL(std::get<order_events>(x.sent.front().what).events.size(),
                  8u);
  x.run();
  for (const auto rank : hosts) {
    CAF_CHECK((x[rank].entries == codes{1, 2, 3, 4, 5, 6, 7, 8}));
    CAF_CHECK(is(all[rank], status::success));
  }
}

CAF_TEST(GRP-3 SEQ-5 what may wait is not kept long) {
  auto x = cluster{3};
  const auto first = x.enter(1, 1, {0, 1, 2}, true);
  x.run();
  CAF_CHECK(x[0].entries.empty());
  x.wait(0);
  x.run();
  CAF_CHECK((x[2].entries == codes{1}));
  CAF_CHECK(is(first, status::success));
  // Those who come later are not kept once all have been heard.
  x.enter(0, 2, {0, 1, 2}, true);
  x.enter(2, 3, {0, 1, 2}, true);
  x.run();
  CAF_CHECK((x[1].entries == codes{1, 2, 3}));
  // What may not wait takes with it what came before.
  x.enter(1, 4, {0, 1, 2}, true);
  x.enter(1, 5, {0, 1, 2});
  x.run();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK((x[rank].entries == codes{1, 2, 3, 4, 5}));
}

CAF_TEST(GRP-3 nobody waits for what a lost node would have said) {
  auto x = cluster{3};
  const auto first = x.enter(0, 1, {0, 1, 2}, true);
  const auto second = x.enter(2, 2, {0, 1, 2}, true);
  x.run();
  CAF_CHECK(x[0].entries.empty());
  x.lose(1);
  x.run();
  CAF_CHECK((x[2].entries == codes{1, 2}));
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(is(second, status::success));
}

CAF_TEST(GRP-3 a group that is over does not come to life again) {
  auto x = cluster{3};
  x.enter(1, 1, {0, 1, 2});
  x.run();
  x[1].subject->close_log(key);
  CAF_CHECK(is(x.enter(1, 2, {0, 1, 2}), status::not_found));
  // The home of the log is still there for node 2.
  CAF_CHECK_EQUAL(x[0].subject->logs(), 1u);
  x[0].subject->close_log(key);
  x.run();
  const auto late = x.enter(2, 3, {0, 1, 2});
  x.run();
  CAF_CHECK(is(late, status::not_found));
  CAF_CHECK_EQUAL(x[0].subject->logs(), 0u);
  x[2].subject->close_log(key);
  // Nobody waits for it.
  CAF_CHECK_EQUAL(x[1].subject->logs(), 1u);
  x.wait(0);
  x.run();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    CAF_CHECK((x[rank].entries == codes{1}));
    CAF_CHECK_EQUAL(x[rank].subject->logs(), 0u);
    CAF_CHECK_EQUAL(x[rank].subject->kept(), 0u);
  }
  // The next one of that name is another.
  x.enter(2, 4, {0, 1, 2}, false, group_key{"grp", 7, 2});
  x.run();
  CAF_CHECK((x[1].entries == codes{1, 4}));
}

CAF_TEST(GRP-3 P-J4 the end of a group arrives although its home is lost) {
  auto x = cluster{3};
  const auto last = x.enter(0, 1, {0, 1, 2});
  // Node 1 has it, and with that the group is over there and at the home.
  for (auto& y : x.sent)
    if (y.to == 1) {
      x.execute(y);
      break;
    }
  CAF_CHECK((x[1].entries == codes{1}));
  x[0].subject->close_log(key);
  x[1].subject->close_log(key);
  CAF_CHECK_EQUAL(x[1].subject->logs(), 1u);
  x.lose(0);
  x.run();
  CAF_CHECK((x[2].entries == codes{1}));
  x[2].subject->close_log(key);
  x.run();
  x.wait(1);
  x.run();
  CAF_CHECK_EQUAL(x[1].subject->logs(), 0u);
  CAF_CHECK_EQUAL(x[2].subject->logs(), 0u);
}

CAF_TEST(GRP-3 P-J4 the ends of many groups are told together) {
  auto x = cluster{3};
  auto keys = std::vector<group_key>{};
  for (uint64_t i = 1; i <= 50; ++i) {
    keys.push_back({"grp", 7, i});
    x.enter(1, i, {0, 1, 2}, false, keys.back());
  }
  x.run();
  for (const auto& each : keys)
    for (uint32_t rank = 0; rank < 3; ++rank)
      x[rank].subject->close_log(each);
  CAF_CHECK_EQUAL(x[1].subject->logs(), 50u);
  CAF_CHECK(x.sent.empty());
  x.wait(0);
  CAF_CHECK_EQUAL(x.sent.size(), 2u);
  x.run();
  for (uint32_t rank = 0; rank < 3; ++rank) {
    CAF_CHECK_EQUAL(x[rank].subject->logs(), 0u);
    CAF_CHECK_EQUAL(x[rank].subject->kept(), 0u);
  }
}

CAF_TEST(GRP-3 GRP-5 a node that joins what is over learns so) {
  auto x = cluster{3};
  x.enter(1, 1, {1, 2});
  x[1].subject->extend(key, {0, 1, 2});
  x.enter(2, 2, {1, 2});
  x.run();
  CAF_CHECK((x[0].entries == codes{2}));
  // It was the last: whoever knows the group closes its log.
  x[1].subject->close_log(key);
  x[2].subject->close_log(key);
  x.run();
  CAF_CHECK_EQUAL(x[0].subject->logs(), 1u);
  x.wait(1);
  x.run();
  CAF_CHECK((x[0].entries == codes{2, cluster::over}));
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK_EQUAL(x[rank].subject->logs(), 0u);
  // Who is no home of it may say what it likes.
  x.enter(1, 3, {1, 2}, false, {"grp", 7, 2});
  x.run();
  auto lie = order_events{"\x1f", 2, 1, 0, {}, {}, {}};
  lie.events.push_back(
    {2, 1002, 1, group_entry{{"grp", 7, 2}, {}, group_snapshot{}, 0}});
  x[1].subject->take(2, lie, [](const host_reply&) {});
  CAF_CHECK_EQUAL(x[1].subject->logs(), 1u);
}

CAF_TEST(GRP-3 nodes that join the log of a group have what follows) {
  auto x = cluster{4};
  x.enter(2, 1, {2, 3});
  x.run();
  x[3].subject->extend(key, {0, 2, 3});
  const auto second = x.enter(3, 2, {2, 3});
  x.run();
  CAF_CHECK((x[2].entries == codes{1, 2}));
  CAF_CHECK((x[0].entries == codes{2}));
  CAF_CHECK(is(second, status::success));
  CAF_CHECK((x[0].subject->hosts_of_log(log_name(key))
             == std::vector<uint32_t>{0, 2, 3}));
  const auto third = x.enter(0, 3, {0, 2, 3});
  x.run();
  CAF_CHECK(is(third, status::success));
  // Its home are those who began it, then those who have joined.
  x.lose(2);
  x.enter(0, 4, {0, 3});
  x.run();
  x.lose(3);
  const auto fifth = x.enter(0, 5, {0});
  x.run();
  CAF_CHECK((x[0].entries == codes{2, 3, 4, 5}));
  CAF_CHECK(is(fifth, status::success));
}

CAF_TEST(GRP-3 a log without hosts is kept by all members) {
  auto x = cluster{3};
  const auto first = x.enter(2, 1, {});
  x.run();
  for (uint32_t rank = 0; rank < 3; ++rank)
    CAF_CHECK((x[rank].entries == codes{1}));
  CAF_CHECK(is(first, status::success));
}

CAF_TEST(X41 what is said of another group is refused) {
  auto x = cluster{2};
  auto wrong = submit_event{log_name(key), 1, group_entry{}, {0, 1}, false};
  std::get<group_entry>(wrong.what).group = group_key{"other", 7, 1};
  auto refused = std::optional<status>{};
  x[0].subject->take(1, 1001, wrong, [&](host_reply y) {
    const auto* why = std::get_if<mesh_failure>(&y);
    refused = why != nullptr ? why->code : status::success;
  });
  CAF_CHECK(refused == status::bad_param);
  wrong.nspace = nspace;
  x[0].subject->take(1, 1001, wrong, [&](host_reply y) {
    const auto* why = std::get_if<mesh_failure>(&y);
    refused = why != nullptr ? why->code : status::success;
  });
  CAF_CHECK(refused == status::bad_param);
  CAF_CHECK_EQUAL(x[0].subject->logs(), 0u);
}
