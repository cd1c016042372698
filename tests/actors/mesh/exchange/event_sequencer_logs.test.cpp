// The logs of groups in one order on all nodes.

#include "actors/mesh/exchange/defaults.hpp"
#include "actors/mesh/exchange/event_sequencer.hpp"
#include "messages/bounded_codec.hpp"
#include "tests/fixtures/sequencer_cluster.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;

namespace {

using fixtures::is;
using cluster = fixtures::sequencer_cluster;
using codes = std::vector<int>;

const auto& nspace = cluster::nspace;
const auto& key = cluster::key;

} // namespace

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

CAF_TEST(GRP-3 SEQ-2 the same calls of all nodes become one entry) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3};
  auto x = cluster{4};
  auto all = std::vector<cluster::outcome>{};
  for (const auto rank : hosts)
    all.push_back(x.call(rank, hosts));
  while (x.count_sent<submit_event>() > 0) {
    auto y = std::move(x.sent.front());
    x.sent.pop_front();
    x.execute(std::move(y));
  }
  const auto first = std::get<order_events>(x.sent.front().what);
  CAF_REQUIRE_EQUAL(first.events.size(), 1u);
  const auto& with = first.events.front().with;
  CAF_REQUIRE_EQUAL(with.size(), 1u);
  CAF_CHECK((with.front() == event_origin{1, 0, 1, 3}));
  x.run();
  for (const auto rank : hosts) {
    CAF_CHECK((x[rank].calls == std::vector<std::vector<uint32_t>>{hosts}));
    CAF_CHECK(is(all[rank], status::success));
  }
  // Other operations, what is no call, and what a node says twice stay apart.
  for (const auto rank : hosts)
    x[rank].log.clear();
  x.call(0, hosts, group_operation::destruct);
  x.enter(2, 1, hosts, true);
  x.call(2, hosts, group_operation::destruct);
  x.call(2, hosts, group_operation::destruct);
  x.call(1, hosts, group_operation::destruct);
  x.call(3, hosts);
  x.run();
  x.wait(1);
  x.run();
  x.wait(0);
  x.run();
  // What is guaranteed: all nodes have the same entries in the same order
  // (SEQ-1), none twice (SEQ-2), and those of a node in the order in which it
  // said them (SEQ-5). Which of two nodes comes first is not.
  const auto& log = x[0].log;
  for (const auto rank : hosts)
    CAF_CHECK_EQUAL(x[rank].log, log);
  const auto of = [&](char rank) {
    auto result = std::vector<std::string>{};
    for (const auto& entry : log) {
      const auto nodes = entry.substr(entry.find(' '));
      // What is no call is node 2's.
      if (entry == "round 1" ? rank == '2' : nodes.find(rank) != nodes.npos)
        result.push_back(entry.substr(0, entry.find(' ')));
      // No node is in an entry twice.
      CAF_CHECK(std::count(nodes.begin(), nodes.end(), rank) < 2);
    }
    return result;
  };
  using list = std::vector<std::string>;
  CAF_CHECK_EQUAL(of('0'), (list{"destruct"}));
  CAF_CHECK_EQUAL(of('1'), (list{"destruct"}));
  CAF_CHECK_EQUAL(of('2'), (list{"round", "destruct", "destruct"}));
  CAF_CHECK_EQUAL(of('3'), (list{"construct"}));
}

CAF_TEST(GRP-3 calls come up the tree that entries come down) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6};
  auto x = cluster{7};
  auto all = std::vector<cluster::outcome>{};
  for (const auto rank : {3u, 4u, 5u, 6u})
    all.push_back(x.call(rank, hosts));
  x.run();
  // Nodes 1 and 2 wait for their own.
  CAF_CHECK(x[0].calls.empty());
  for (const auto rank : {1u, 2u, 0u})
    all.push_back(x.call(rank, hosts));
  CAF_REQUIRE_EQUAL(x.count_sent<submit_event>(), 2u);
  const auto& up = std::get<submit_event>(x.sent.front().what);
  CAF_CHECK_EQUAL(x.sent.front().from, 1u);
  CAF_CHECK_EQUAL(x.sent.front().to, 0u);
  CAF_CHECK(
    (up.origins == std::vector<event_origin>{{1, 0, 1, 1}, {3, 0, 1, 2}}));
  x.run();
  for (const auto rank : hosts)
    CAF_CHECK((x[rank].calls == std::vector<std::vector<uint32_t>>{hosts}));
  for (const auto& y : all)
    CAF_CHECK(is(y, status::success));
}

CAF_TEST(GRP-3 SEQ-5 a node sends nothing until its call has a place) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3};
  auto x = cluster{4};
  const auto first = x.call(3, hosts);
  const auto second = x.enter(3, 7, hosts);
  x.run();
  // Its parent waits for a call of its own, and the home for others then.
  CAF_CHECK(x[0].entries.empty());
  x.wait(1);
  x.run();
  CAF_CHECK(x[0].calls.empty());
  x.wait(0);
  x.run();
  for (const auto rank : hosts) {
    CAF_CHECK((x[rank].calls == std::vector<std::vector<uint32_t>>{{3}}));
    CAF_CHECK((x[rank].entries == codes{7}));
  }
  CAF_CHECK(is(first, status::success));
  CAF_CHECK(is(second, status::success));
}

CAF_TEST(GRP-3 P-J2 who loses its parent calls at the home) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6};
  for (const auto is_passed_on : {false, true}) {
    auto x = cluster{7};
    auto all = std::vector<cluster::outcome>{};
    all.push_back(x.call(3, hosts));
    x.run();
    if (is_passed_on) {
      // What they have called is on its way when their parent is lost.
      x.wait(1);
      auto y = std::move(x.sent.front());
      x.sent.pop_front();
      CAF_CHECK_EQUAL(y.from, 1u);
      x.execute(std::move(y));
    }
    x.lose(1);
    all.push_back(x.call(4, hosts));
    for (const auto rank : {0u, 2u, 5u, 6u})
      all.push_back(x.call(rank, hosts));
    x.run();
    x.wait(0);
    x.run();
    for (const auto rank : {0u, 2u, 3u, 4u, 5u, 6u}) {
      auto callers = std::vector<uint32_t>{};
      for (const auto& entry : x[rank].calls)
        callers.insert(callers.end(), entry.begin(), entry.end());
      std::sort(callers.begin(), callers.end());
      CAF_CHECK((callers == std::vector<uint32_t>{0, 2, 3, 4, 5, 6}));
      CAF_CHECK(x[rank].calls == x[0].calls);
    }
    for (const auto& y : all)
      CAF_CHECK(is(y, status::success));
  }
}

CAF_TEST(X41 a node brings calls of those below it only) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6};
  const auto bring = [&](uint32_t from, uint32_t to,
                         const std::vector<event_origin>& origins,
                         group_step step = group_calls{}) {
    auto x = cluster{7};
    auto what = submit_event{log_name(key), 0, group_entry{}, hosts, true};
    std::get<group_entry>(what.what).group = key;
    std::get<group_entry>(what.what).what = std::move(step);
    what.origins = origins;
    auto is_good = true;
    x[to].subject->take(from, 1000 + from, what, [&](const host_reply& y) {
      is_good = !std::holds_alternative<mesh_failure>(y);
    });
    return is_good;
  };
  CAF_CHECK(bring(1, 0, {{1, 0, 1, 1}, {3, 0, 1, 2}}));
  CAF_CHECK(bring(3, 1, {{3, 0, 1, 1}}));
  // Of its neighbour, of those below it, of its parent.
  CAF_CHECK(!bring(1, 0, {{1, 0, 1, 2}}));
  CAF_CHECK(!bring(1, 0, {{3, 0, 1, 3}}));
  CAF_CHECK(!bring(1, 0, {{0, 0, 1, 1}}));
  CAF_CHECK(!bring(3, 1, {{1, 0, 1, 1}}));
  // To somebody who is not its parent.
  CAF_CHECK(!bring(3, 0, {{3, 0, 1, 1}}));
  CAF_CHECK(!bring(0, 1, {{0, 0, 1, 1}}));
  // Of nobody, of strangers, of too many; of another life; without a number.
  CAF_CHECK(!bring(1, 0, {{3, 0, 1, 0}}));
  CAF_CHECK(!bring(1, 0, {{9, 0, 1, 1}}));
  CAF_CHECK(!bring(1, 0, {{3, 0, 1, UINT32_MAX}}));
  CAF_CHECK(!bring(1, 0, {{3, 1003, 1, 1}}));
  CAF_CHECK(!bring(1, 0, {{3, 0, 0, 1}}));
  // What is no call.
  CAF_CHECK(!bring(1, 0, {{3, 0, 1, 1}}, group_time_up{}));
}

CAF_TEST(SEQ-2 P-J2 whose call was merged does not call again at the next home) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3};
  auto x = cluster{4};
  auto all = std::vector<cluster::outcome>{};
  for (const auto rank : hosts)
    all.push_back(x.call(rank, hosts));
  while (x.count_sent<submit_event>() > 0) {
    auto y = std::move(x.sent.front());
    x.sent.pop_front();
    x.execute(std::move(y));
  }
  // Node 1 has it, nobody knows that all have.
  for (auto& y : std::vector<cluster::message>(x.sent.begin(), x.sent.end()))
    if (y.to == 1)
      x.execute(y);
  x.lose(0);
  x.run();
  for (const auto rank : {1u, 2u, 3u}) {
    CAF_CHECK((x[rank].calls == std::vector<std::vector<uint32_t>>{hosts}));
    CAF_CHECK(is(all[rank], status::success));
  }
}

CAF_TEST(GRP-3 the time of what has left does not end the next gathering) {
  auto x = cluster{2};
  x.call(0, {0, 1});
  x.call(1, {0, 1});
  x.run();
  CAF_REQUIRE_EQUAL(x[1].calls.size(), 1u);
  CAF_REQUIRE_EQUAL(x[0].timers.size(), 1u);
  auto former = std::exchange(x[0].timers, {});
  x.call(0, {0, 1}, group_operation::destruct);
  former.front()();
  x.run();
  CAF_CHECK_EQUAL(x[1].calls.size(), 1u);
  x.wait(0);
  x.run();
  CAF_CHECK_EQUAL(x[1].calls.size(), 2u);
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

CAF_TEST(GRP-3 a log that begins late waits for none of those that are lost) {
  const auto hosts = std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7};
  auto x = cluster{8};
  // At both ends, in the middle, and two in a row.
  for (const auto rank : {0u, 3u, 4u, 7u})
    x.lose(rank);
  auto what = group_entry{};
  what.group = key;
  x[2].subject->begin(what, rank_list{hosts});
  auto all = std::vector<cluster::outcome>{};
  for (const auto rank : {1u, 2u, 5u, 6u})
    all.push_back(
      x.enter(rank, rank, rank == 2 ? std::vector<uint32_t>{} : hosts, true));
  x.run();
  for (const auto& y : all)
    CAF_CHECK(is(y, status::success));
  for (const auto rank : {1u, 2u, 5u, 6u})
    CAF_CHECK_EQUAL(x[rank].entries.size(), 4u);
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

namespace {

/// What a node answers to what comes as bytes; `success` if it does not refuse.
template <class T>
status take_bytes(cluster& x, uint32_t from, uint32_t to, const T& what) {
  const auto bytes = encode(what);
  // As much as an honest message has, at most.
  CAF_CHECK(bytes.size() < 96);
  auto read = decode<T>(bytes);
  CAF_REQUIRE(read);
  const auto result = std::make_shared<status>(status::success);
  const auto note = [result](const host_reply& y) {
    if (const auto* why = std::get_if<mesh_failure>(&y))
      *result = why->code;
  };
  if constexpr (std::is_same_v<T, submit_event>)
    x[to].subject->take(from, 1000 + from, std::move(*read), note);
  else
    x[to].subject->take(from, std::move(*read), note);
  return *result;
}

rank_list listed(const std::vector<rank_list::run>& runs) {
  auto result = rank_list{};
  CAF_REQUIRE(result.assign(runs));
  return result;
}

submit_event call_for(const rank_list& hosts) {
  auto entry = group_entry{};
  entry.group = key;
  entry.what = group_calls{};
  return {log_name(key), 1, entry, hosts, false};
}

} // namespace

CAF_TEST(X41 X44 a million nodes in a few bytes make no log of a million nodes) {
  const auto million = static_cast<uint32_t>(rank_list::max_size);
  const auto name = log_name(key);
  for (const auto& hosts :
       {listed({{0, million}}), listed({{0, 3}, {UINT32_MAX - 2, 2}}),
        listed({{0, 1000}, {0, 1000}, {0, 1000}})}) {
    auto x = cluster{3};
    const auto ask_all = [&] {
      CAF_CHECK(take_bytes(x, 1, 0, call_for(hosts)) == status::bad_param);
      CAF_CHECK(take_bytes(x, 1, 0, collect_events{name, 1, false, 0, hosts})
                == status::bad_param);
      CAF_CHECK(take_bytes(x, 1, 0, order_events{name, 1, 1, 0, {}, {}, hosts})
                == status::bad_param);
    };
    ask_all();
    CAF_CHECK_EQUAL(x[0].subject->logs(), 0u);
    // Nor does one grow that is there.
    x.enter(1, 1, {0, 1, 2});
    x.run();
    ask_all();
    CAF_CHECK(
      (x[0].subject->hosts_of_log(name) == std::vector<uint32_t>{0, 1, 2}));
  }
  // Of some this node has not heard yet.
  auto x = cluster{3};
  const auto more = listed({{0, 3 + defaults::unheard_nodes}});
  CAF_CHECK(take_bytes(x, 1, 0, call_for(more)) == status::success);
  CAF_CHECK_EQUAL(x[0].subject->logs(), 1u);
}

CAF_TEST(X41 nodes that are not there have submitted nothing and do not join) {
  const auto name = log_name(key);
  const auto far = uint32_t{1} << 30;
  auto strange = std::vector<ordered_event>{};
  auto entry = group_entry{};
  entry.group = key;
  entry.what = group_time_up{group_operation::construct, 9};
  strange.push_back({far, 0, 1, entry});
  strange.push_back({0, 0, 9, entry, {{1, 0, 9, far}}});
  strange.push_back(
    {0, 0, 9, group_entry{{}, {}, group_snapshot{"1 1073741824"}, 0}});
  for (const auto& lie : strange) {
    auto x = cluster{3};
    x.enter(1, 1, {0, 1, 2});
    x.run();
    const auto order =
      order_events{name, 0, 2, 1, {}, {lie}, rank_list{0, 1, 2}};
    CAF_CHECK(take_bytes(x, 0, 1, order) == status::bad_param);
    // Nor if a new home asks for it.
    x.lose(0);
    const auto answer_next = [&](std::vector<ordered_event> events) {
      // It has become the home of the job's log as well.
      const auto i = std::find_if(x.sent.begin(), x.sent.end(), [&](auto& y) {
        const auto* asked = std::get_if<collect_events>(&y.what);
        return asked != nullptr && asked->nspace == name;
      });
      CAF_REQUIRE(i != x.sent.end());
      const auto then = std::move(i->then);
      x.sent.erase(i);
      then(host_reply{collected_events{2, std::move(events)}});
    };
    answer_next({});
    answer_next({lie});
    const auto late = x.enter(1, 2, {1});
    x.run();
    CAF_CHECK(is(late, status::success));
    CAF_CHECK((x[1].entries == codes{1, 2}));
  }
}

CAF_TEST(X41 who has said it has more than it gives is asked once) {
  const auto name = log_name(key);
  auto x = cluster{3};
  x.enter(1, 1, {0, 1, 2});
  x.run();
  x.lose(0);
  const auto i = std::find_if(x.sent.begin(), x.sent.end(), [&](auto& y) {
    const auto* asked = std::get_if<collect_events>(&y.what);
    return asked != nullptr && asked->nspace == name;
  });
  CAF_REQUIRE(i != x.sent.end());
  const auto then = std::move(i->then);
  x.sent.erase(i);
  then(host_reply{collected_events{2, {}}});
  x.run(); // It gives nothing, and this has an end.
  const auto late = x.enter(1, 2, {1});
  x.run();
  CAF_CHECK(is(late, status::success));
  CAF_CHECK((x[1].entries == codes{1, 2}));
}
