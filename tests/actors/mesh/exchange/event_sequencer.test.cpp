// Events of jobs and tools in one order on all nodes.

#include "actors/mesh/exchange/event_sequencer.hpp"

#include "actors/mesh/exchange/defaults.hpp"
#include "actors/mesh/exchange/event_stream.hpp"
#include "base/trace_ring.hpp"
#include "tests/fixtures/sequencer_cluster.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using fixtures::is;
using cluster = fixtures::sequencer_cluster;
using codes = std::vector<int>;

const auto& nspace = cluster::nspace;

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

CAF_TEST(TRC-1 the way of an event is noted at each node under one name) {
  auto x = cluster{3};
  x.submit(2, 4);
  x.submit(2, 5);
  x.run();
  const auto way = [&](uint32_t rank) {
    auto result = std::string{};
    const auto& at = *x[rank].trace;
    for (const auto& y : at.steps_of(x[rank].trace->event(nspace, 2, 2)))
      result += (result.empty() ? "" : " ") + std::string{text_of(y.step)};
    return result;
  };
  CAF_CHECK_EQUAL(way(2), "raised submitted placed stable");
  CAF_CHECK_EQUAL(way(0), "submission_received placed");
  CAF_CHECK_EQUAL(way(1), "placed");
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
