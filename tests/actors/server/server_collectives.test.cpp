// Fences, connects and disconnects: who waits for whom, and how it ends.

#include "actors/server/collectives.hpp"
#include "actors/server/server.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/test.hpp"

#include <algorithm>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using procs = std::vector<proc_id>;

info timeout(int32_t seconds) {
  return with(attr::timeout, value::integer(seconds));
}

struct fixture : deterministic {
  node uut{*this};
  std::vector<peer_ptr> ranks;
  peer_ptr stranger;
  size_t running_when_quiet = 0;

  fixture() {
    uut.add_job("job", 3);
    uut.add_job("other", 1);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks.push_back(uut.connect("job", rank));
    stranger = uut.connect("other", 0);
    consume_messages();
    running_when_quiet = sys.registry().running();
  }

  pending<ack> fence(uint32_t rank, procs named = {},
                     std::vector<info> directives = {}) {
    auto result =
      uut.fence(ranks[rank], std::move(named), std::move(directives));
    consume_messages();
    return result;
  }

  pending<connect_procs_result> connect(const peer_ptr& who, procs named) {
    auto result = uut.ask<connect_procs_result>(
      who, connect_procs_request{std::move(named), {}, {}});
    consume_messages();
    return result;
  }

  void end_process(uint32_t rank) {
    uut.end_process({"job", rank});
    consume_messages();
  }

  /// From here on the ranks are those of a job with one more on another node:
  /// the host is asked.
  void spread() {
    auto job = register_nspace{};
    job.nspace = "wide";
    job.owner = {our_uid, our_uid};
    job.local_ranks = {0, 1, 2};
    job.infos = {with(attr::job_size, value::uint32(4))};
    uut.tell<ack>(std::move(job));
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      ranks[rank] = uut.connect("wide", rank);
    consume_messages();
    running_when_quiet = sys.registry().running();
  }

  /// Whether no operation is left, nor any actor of one.
  /// @param lost Connections that have ended, too: each has two actors.
  bool is_quiet(size_t lost = 0) {
    const auto all = request<gauge_list>(uut.server, get_gauges{}).gauges;
    const auto i = std::find_if(all.begin(), all.end(), [](const auto& x) {
      return x.name == "server.collectives";
    });
    return i != all.end() && i->value == 0
           && sys.registry().running() == running_when_quiet - 2 * lost;
  }

  void all_fences_work() {
    const auto x = fence(0);
    const auto y = fence(1);
    const auto z = fence(2);
    for (const auto& each : {x, y, z})
      CAF_CHECK_EQUAL(each->code, status::success);
    CAF_CHECK(is_quiet());
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_collectives_tests, fixture)

// -- all goes well -----------------------------------------------------------

CAF_TEST(F4.16 COLL-3 a fence completes for all when the last has joined) {
  spread();
  const auto x = fence(0);
  const auto y = fence(2);
  CAF_CHECK(x->is_pending());
  CAF_CHECK(y->is_pending());
  CAF_CHECK(uut.host_play->joined.empty());
  const auto z = fence(1);
  for (const auto& each : {x, y, z})
    CAF_CHECK_EQUAL(each->code, status::success);
  CAF_REQUIRE_EQUAL(uut.host_play->joined.size(), 1u);
  CAF_CHECK(uut.host_play->joined[0].kind == collective_kind::fence);
  CAF_CHECK(uut.host_play->joined[0].procs == (procs{{"wide", rank_wildcard}}));
}

CAF_TEST(TRC-1 a fence is noted with who has called and how it ended) {
  all_fences_work();
  spread();
  for (uint32_t rank = 0; rank < 3; ++rank)
    fence(rank);
  fence(0);
  uut.end_process({"wide", 1});
  consume_messages();
  const auto way = [&](const std::string& name) {
    auto result = std::string{};
    const auto id = read_trace_id(name);
    CAF_REQUIRE(id);
    for (const auto& x : uut.trace->steps_of(*id))
      result += uut.trace->text_of(x) + "\n";
    return result;
  };
  CAF_CHECK_EQUAL(way("fence:job#1@0"),
                  "job:0 has called it\njob:1 has called it\n"
                  "job:2 has called it\nall of this node have: 3\n"
                  "calls answered: 3, success\n");
  CAF_CHECK_EQUAL(way("fence:wide#1"),
                  "wide:0 has called it\nwide:1 has called it\n"
                  "wide:2 has called it\nall of this node have: 3\n"
                  "calls answered: 3, success\n");
  CAF_CHECK_EQUAL(way("fence:wide#2"),
                  "wide:0 has called it\n"
                  "calls answered: 1, PMIX_ERR_LOST_CONNECTION\n");
}

CAF_TEST(F4.16 C4.5 a fence of this node alone does not bother the host) {
  all_fences_work();
  fence(0, {{"job", 0}, {"job", 1}});
  fence(1, {{"job", 0}, {"job", 1}});
  CAF_CHECK(uut.host_play->joined.empty());
}

CAF_TEST(F4.41 what only a host could do is refused where it is not asked) {
  auto algorithm = with(attr::collective_algo, value::string("ring"));
  for (uint32_t rank = 0; rank < 2; ++rank)
    fence(rank, {}, {algorithm});
  CAF_CHECK_EQUAL(fence(2, {}, {algorithm})->code, status::success);
  algorithm.flags = info_required;
  CAF_CHECK_EQUAL(fence(0, {}, {algorithm})->code, status::not_supported);
  CAF_CHECK(is_quiet());
  all_fences_work();
  CAF_CHECK(uut.host_play->joined.empty());
  spread();
  for (uint32_t rank = 0; rank < 2; ++rank)
    fence(rank, {}, {algorithm});
  CAF_CHECK_EQUAL(fence(2, {}, {algorithm})->code, status::success);
  CAF_REQUIRE_EQUAL(uut.host_play->joined.size(), 1u);
  const auto& told = uut.host_play->joined[0].directives;
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  CAF_CHECK((told[0].flags & info_required) != 0);
}

CAF_TEST(F4.26 C4.5 the host hears of this node which jobs are connected) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  connect(ranks[0], both);
  connect(stranger, both);
  auto& asked = uut.host_play->joined;
  CAF_REQUIRE_EQUAL(asked.size(), 1u);
  CAF_CHECK(asked[0].is_local);
  CAF_CHECK(asked[0].kind == collective_kind::connect);
  // A plain fence over them is none of its business.
  fence(0, both);
  uut.fence(stranger, both);
  consume_messages();
  CAF_CHECK_EQUAL(asked.size(), 1u);
  // Nor who is connected within one job.
  const auto whole = procs{{"job", rank_wildcard}};
  for (const auto& x : ranks)
    CAF_CHECK(connect(x, whole)->code != status::bad_param);
  CAF_CHECK_EQUAL(asked.size(), 1u);
}

CAF_TEST(COLL-4 nothing is left of a fence that is over) {
  fence(0);
  CAF_CHECK(!is_quiet());
  fence(1);
  fence(2);
  CAF_CHECK(is_quiet());
  all_fences_work();
}

CAF_TEST(F4.16 a fence waits for the host) {
  spread();
  uut.host_play->holds = true;
  const auto x = fence(0);
  fence(1);
  fence(2);
  CAF_CHECK(x->is_pending());
  uut.host_play->release();
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK(is_quiet());
}

// 2.T, trap 22: no process named means the whole namespace.
CAF_TEST(F4.16 F4.17 the whole namespace has several names) {
  const auto x = fence(0);
  const auto y = fence(1, {{"job", rank_wildcard}});
  const auto z = fence(2, {{"job", 2}, {"job", 0}, {"job", 1}, {"job", 0}});
  for (const auto& each : {x, y, z})
    CAF_CHECK_EQUAL(each->code, status::success);
}

CAF_TEST(F4.16 one process may fence with itself) {
  CAF_CHECK_EQUAL(fence(1, {{"job", 1}})->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.17 overlapping sets do not disturb each other) {
  const auto a0 = fence(0, {{"job", 0}, {"job", 1}});
  const auto b1 = fence(1, {{"job", 1}, {"job", 2}});
  const auto c2 = fence(2);
  CAF_CHECK(a0->is_pending());
  const auto a1 = fence(1, {{"job", 0}, {"job", 1}});
  CAF_CHECK_EQUAL(a0->code, status::success);
  CAF_CHECK_EQUAL(a1->code, status::success);
  CAF_CHECK(b1->is_pending());
  const auto b2 = fence(2, {{"job", 2}, {"job", 1}});
  CAF_CHECK_EQUAL(b1->code, status::success);
  CAF_CHECK_EQUAL(b2->code, status::success);
  CAF_CHECK(c2->is_pending());
  fence(0);
  fence(1);
  CAF_CHECK_EQUAL(c2->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(COLL-1 F4.17 two rounds over one set do not mix) {
  spread();
  const auto first = fence(0);
  const auto second = fence(0);
  fence(1);
  fence(2);
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK(second->is_pending());
  fence(2);
  fence(1);
  CAF_CHECK_EQUAL(second->code, status::success);
  CAF_CHECK_EQUAL(uut.host_play->joined.size(), 2u);
  CAF_CHECK(is_quiet());
}

// 2.T, trap 8: MPICH fences over its children and their parent at once.
CAF_TEST(F4.17 F4.26 a fence may span jobs) {
  const auto both = procs{{"job", rank_wildcard}, {"other", 0}};
  const auto x = fence(0, both);
  fence(1, both);
  fence(2, both);
  CAF_CHECK(x->is_pending());
  const auto y = uut.fence(stranger, {{"other", 0}, {"job", rank_wildcard}});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
}

CAF_TEST(F4.26 who connects gets to know the other jobs) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  const auto x = connect(ranks[0], both);
  CAF_CHECK(x->is_pending());
  const auto y = connect(stranger, both);
  CAF_REQUIRE_EQUAL(x->code, status::success);
  CAF_REQUIRE_EQUAL(x->value.jobs.size(), 1u);
  CAF_CHECK_EQUAL(x->value.jobs[0].nspace, "other");
  CAF_REQUIRE_EQUAL(y->value.jobs.size(), 1u);
  CAF_CHECK_EQUAL(y->value.jobs[0].nspace, "job");
  // A fence over the same processes is something else.
  CAF_CHECK(fence(0, both)->is_pending());
  const auto gone = uut.ask<ack>(ranks[0], disconnect_procs_request{both, {}});
  consume_messages();
  CAF_CHECK(gone->is_pending());
  uut.ask<ack>(stranger, disconnect_procs_request{both, {}});
  consume_messages();
  CAF_CHECK_EQUAL(gone->code, status::success);
}

// Source: PMIx Standard v5, `PMIx_Disconnect`: PMIX_ERR_INVALID_OPERATION.
CAF_TEST(G2 F4.26 who is not connected cannot disconnect) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  const auto disconnect = [&](const peer_ptr& who, procs named) {
    auto x = uut.ask<ack>(who, disconnect_procs_request{std::move(named), {}});
    consume_messages();
    return x;
  };
  const auto none = disconnect(ranks[0], both);
  CAF_CHECK_EQUAL(none->code, status::invalid_operation);
  CAF_CHECK(none->reason.find("job:0, other:") != std::string::npos);
  // Twice connected, twice disconnected.
  for (int i = 0; i < 2; ++i) {
    connect(ranks[0], both);
    CAF_CHECK_EQUAL(connect(stranger, both)->code, status::success);
  }
  CAF_CHECK_EQUAL(disconnect(ranks[1], {{"job", 1}, {"other", 0}})->code,
                  status::invalid_operation);
  for (int i = 0; i < 2; ++i) {
    const auto x = disconnect(ranks[0], {{"other", 0}, {"job", 0}});
    CAF_CHECK(x->is_pending());
    disconnect(stranger, both);
    CAF_CHECK_EQUAL(x->code, status::success);
  }
  CAF_CHECK_EQUAL(disconnect(stranger, both)->code, status::invalid_operation);
  // All ranks, and the wildcard, are the same.
  const auto whole = procs{{"job", rank_wildcard}};
  for (const auto& x : ranks)
    connect(x, whole);
  const auto last = disconnect(ranks[0], whole);
  disconnect(ranks[1], {{"job", 2}, {"job", 1}, {"job", 0}});
  disconnect(ranks[2], whole);
  CAF_CHECK_EQUAL(last->code, status::success);
}

CAF_TEST(G2 P-C1 who times out is not connected) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  const auto x = uut.ask<connect_procs_result>(
    ranks[0], connect_procs_request{both, {timeout(1)}, {}});
  consume_messages();
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  const auto y = uut.ask<ack>(ranks[0], disconnect_procs_request{both, {}});
  consume_messages();
  CAF_CHECK_EQUAL(y->code, status::invalid_operation);
}

// Edge case 72.
CAF_TEST(G2 a death during disconnect is an error and leaves them connected) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  connect(ranks[0], both);
  connect(stranger, both);
  const auto x = uut.ask<ack>(stranger, disconnect_procs_request{both, {}});
  consume_messages();
  CAF_CHECK(x->is_pending());
  end_process(0);
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  const auto y = uut.ask<ack>(stranger, disconnect_procs_request{both, {}});
  consume_messages();
  CAF_CHECK_EQUAL(y->code, status::lost_connection);
}

// -- time-outs ---------------------------------------------------------------

CAF_TEST(F4.18 P-C1 a fence that one never joins ends for all) {
  const auto x = fence(0, {}, {timeout(5)});
  elapse(2s);
  const auto y = fence(1);
  elapse(2999ms);
  CAF_CHECK(x->is_pending());
  CAF_CHECK(y->is_pending());
  elapse(1ms);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(y->code, status::timeout);
  CAF_CHECK_EQUAL(x->reason, y->reason);
  CAF_CHECK(x->reason.find("job:2") != std::string::npos);
}

CAF_TEST(F4.18 COLL-2 who joins late learns the failure at once) {
  const auto x = fence(0, {}, {timeout(1)});
  fence(1);
  elapse(1s);
  const auto z = fence(2);
  CAF_CHECK_EQUAL(z->code, status::timeout);
  CAF_CHECK_EQUAL(z->reason, x->reason);
  CAF_CHECK(is_quiet());
  all_fences_work();
}

CAF_TEST(F4.18 the next attempt does not wait for the failed one) {
  fence(0, {}, {timeout(1)});
  fence(1);
  elapse(1s);
  const auto again = fence(0);
  fence(1);
  const auto late = fence(2); // Belongs to the first round.
  CAF_CHECK_EQUAL(late->code, status::timeout);
  CAF_CHECK(again->is_pending());
  fence(2);
  CAF_CHECK_EQUAL(again->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.18 the time-out may come with a later call) {
  const auto x = fence(0);
  elapse(10s);
  fence(1, {}, {timeout(1)});
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
}

CAF_TEST(F4.18 a fence that is over does not time out) {
  const auto x = fence(0, {}, {timeout(1)});
  fence(1);
  fence(2);
  elapse(10s);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F4.18 P-C1 a host that thinks too long is overtaken by the time-out) {
  spread();
  uut.host_play->holds = true;
  const auto x = fence(0, {}, {timeout(1)});
  fence(1);
  const auto z = fence(2);
  elapse(1s);
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK_EQUAL(z->code, status::timeout);
  uut.host_play->release();
  consume_messages();
  uut.host_play->holds = false;
  CAF_CHECK_EQUAL(x->code, status::timeout);
  CAF_CHECK(is_quiet());
  all_fences_work();
}

// -- participants that go ----------------------------------------------------

CAF_TEST(F4.19 COLL-4 one that died before fails the fence at once) {
  end_process(2);
  const auto x = fence(0);
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK(x->reason.find("job:2") != std::string::npos);
  const auto y = fence(1);
  CAF_CHECK_EQUAL(y->code, status::lost_connection);
  CAF_CHECK(is_quiet());
  // Those that live may go on among themselves.
  const auto pair = procs{{"job", 0}, {"job", 1}};
  const auto again = fence(0, pair);
  fence(1, pair);
  CAF_CHECK_EQUAL(again->code, status::success);
}

CAF_TEST(F4.19 COLL-3 who has ended begins nothing by a late call) {
  end_process(2); // Its connection is still there.
  const auto late = fence(2);
  CAF_CHECK_EQUAL(late->code, status::lost_connection);
  CAF_CHECK(is_quiet());
  CAF_CHECK_EQUAL(fence(0)->code, status::lost_connection);
  CAF_CHECK_EQUAL(fence(1)->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.19 P-C1 one that dies while others wait fails the fence) {
  const auto x = fence(0);
  const auto y = fence(1);
  end_process(2);
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK_EQUAL(y->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.19 who had not joined when one died learns the failure) {
  const auto x = fence(0);
  end_process(2);
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK(!is_quiet()); // Rank 1 is still to come.
  CAF_CHECK_EQUAL(fence(1)->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.19 COLL-3 one that dies after joining has contributed) {
  fence(2);
  end_process(2);
  const auto x = fence(0);
  CAF_CHECK(x->is_pending());
  fence(1);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(F4.19 two that die count twice) {
  end_process(1);
  end_process(2);
  CAF_CHECK_EQUAL(fence(0)->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.19 X35 a connection that is lost fails the fence) {
  const auto x = fence(0);
  fence(1);
  uut.lose(ranks[2]);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK(is_quiet(1));
}

CAF_TEST(F4.19 COLL-2 one that comes back takes part in the next attempt) {
  const auto x = fence(0);
  uut.lose(ranks[1]);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  ranks[1] = uut.connect("job", 1);
  consume_messages();
  const auto y = fence(1);
  CAF_CHECK(y->is_pending());
  CAF_CHECK_EQUAL(fence(2)->code, status::lost_connection); // Of the first.
  fence(0);
  fence(2);
  CAF_CHECK_EQUAL(y->code, status::success);
  CAF_CHECK(is_quiet());
}

CAF_TEST(F4.19 X35 one that goes while it waits itself leaves nothing) {
  const auto x = fence(0);
  uut.lose(ranks[0]);
  fence(1);
  const auto z = fence(2);
  CAF_CHECK_EQUAL(z->code, status::success); // It had joined.
  CAF_CHECK(!x->is_pending());
  CAF_CHECK(is_quiet(1));
}

CAF_TEST(F4.19 a job that ends fails what waits for it) {
  const auto both = procs{{"job", 0}, {"other", 0}};
  const auto x = fence(0, both);
  uut.tell<ack>(deregister_nspace{"other"});
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
  CAF_CHECK(x->reason.find("its job is over") != std::string::npos);
}

CAF_TEST(F4.19 a tool that leaves fails what waits for it) {
  const auto tool = uut.connect(node::tool_greeting());
  consume_messages();
  const auto x = connect(ranks[0], {{"job", 0}, {"tool", 0}});
  CAF_CHECK(x->is_pending());
  uut.lose(tool, true);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::lost_connection);
}

CAF_TEST(F4.19 COLL-2 a death fails all rounds that miss it) {
  const auto first = fence(0);
  const auto second = fence(0);
  fence(1);
  fence(1);
  fence(2); // Completes the first round.
  end_process(2);
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(second->code, status::lost_connection);
  CAF_CHECK(is_quiet());
}

// -- what is refused ---------------------------------------------------------

CAF_TEST(COLL-5 X27 a caller outside of the set is refused) {
  const auto pair = procs{{"job", 0}, {"job", 1}};
  const auto x = fence(0, pair);
  const auto y = fence(2, pair);
  CAF_CHECK_EQUAL(y->code, status::bad_param);
  CAF_CHECK(y->reason.find("job:2") != std::string::npos);
  const auto z = uut.fence(stranger, pair);
  consume_messages();
  CAF_CHECK_EQUAL(z->code, status::bad_param);
  CAF_CHECK(x->is_pending());
  CAF_CHECK_EQUAL(fence(1, pair)->code, status::success);
  CAF_CHECK_EQUAL(x->code, status::success);
}

CAF_TEST(COLL-5 X27 strangers among the names are refused) {
  CAF_CHECK_EQUAL(fence(0, {{"job", 0}, {"nowhere", 0}})->code,
                  status::invalid_namespace);
  CAF_CHECK_EQUAL(fence(0, {{"job", 0}, {"job", 3}})->code, status::bad_param);
  CAF_CHECK_EQUAL(fence(0, {{"job", 0}, {"job", rank_undef}})->code,
                  status::bad_param);
  CAF_CHECK(is_quiet());
}

CAF_TEST(X27 unequal lists are different operations) {
  const auto x = fence(0, {{"job", 0}, {"job", 1}});
  const auto y = fence(1, {{"job", 0}, {"job", 1}, {"job", 2}});
  CAF_CHECK(x->is_pending());
  CAF_CHECK(y->is_pending());
  end_process(0);
  end_process(2);
  CAF_CHECK(x->is_pending()); // Waits for rank 1, which may still join.
  CAF_CHECK_EQUAL(y->code, status::lost_connection);
}

CAF_TEST(COLL-2 what the host refuses is refused for all) {
  spread();
  uut.host_play->collectives = status::not_supported;
  const auto x = fence(0);
  const auto y = fence(1);
  const auto z = fence(2);
  for (const auto& each : {x, y, z})
    CAF_CHECK_EQUAL(each->code, status::not_supported);
  CAF_CHECK(is_quiet());
  uut.host_play->collectives = status::success;
  all_fences_work();
}

CAF_TEST(X27 LIM18 operations in flight are bounded) {
  std::vector<pending<ack>> fences;
  for (size_t i = 0; i < defaults::collectives_in_flight; ++i)
    fences.push_back(uut.fence(ranks[0]));
  consume_messages();
  const auto one_more = fence(0);
  CAF_CHECK_EQUAL(one_more->code, status::out_of_resource);
  CAF_CHECK(fences.back()->is_pending());
  // What is open can still be joined and completed.
  fence(1);
  fence(2);
  CAF_CHECK_EQUAL(fences.front()->code, status::success);
  CAF_CHECK(fences.back()->is_pending());
  CAF_CHECK(fence(0)->is_pending());
  end_process(1);
  CAF_CHECK_EQUAL(fences.back()->code, status::lost_connection);
}

CAF_TEST(LIM18 a site may set how many operations are in flight) {
  const std::function<void(server_options&)> adjust = [](server_options& x) {
    x.collectives_in_flight = 2;
  };
  node small{*this, adjust};
  small.add_job("job", 3);
  consume_messages();
  const auto first = small.connect("job", 0);
  const auto second = small.connect("job", 1);
  const auto third = small.connect("job", 2);
  consume_messages();
  const auto x = small.fence(first);
  const auto y = small.fence(first);
  const auto one_more = small.fence(first);
  consume_messages();
  CAF_CHECK(x->is_pending() && y->is_pending());
  CAF_CHECK_EQUAL(one_more->code, status::out_of_resource);
  CAF_CHECK(one_more->reason.find("more than 2 ") != std::string::npos);
  small.fence(second);
  small.fence(third);
  consume_messages();
  CAF_CHECK_EQUAL(x->code, status::success);
  const auto later = small.fence(first);
  consume_messages();
  CAF_CHECK(later->is_pending());
}

// -- without those who end or leave -------------------------------------------

namespace {

const auto tolerant =
  std::vector<info>{with(attr::group_ft_collective, value::boolean(true))};

} // namespace

CAF_TEST(G53 A34 a fence goes on without who ends if it is to) {
  const auto x = fence(0, {}, tolerant);
  const auto y = fence(1, {}, tolerant);
  CAF_CHECK(x->is_pending());
  end_process(2);
  CAF_CHECK_EQUAL(x->code, status::success);
  CAF_CHECK_EQUAL(y->code, status::success);
  CAF_CHECK(is_quiet());
  // So does one that begins after its end; no other does.
  const auto again = fence(0, {}, tolerant);
  CAF_CHECK(again->is_pending());
  CAF_CHECK_EQUAL(fence(1, {}, tolerant)->code, status::success);
  CAF_CHECK_EQUAL(again->code, status::success);
  CAF_CHECK_EQUAL(fence(0)->code, status::lost_connection);
}

CAF_TEST_FIXTURE_SCOPE_END()
