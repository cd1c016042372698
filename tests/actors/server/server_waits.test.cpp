// What a server says of collective operations that are under way.

#include "actors/server/server.hpp"
#include "actors/server/wait_report.hpp"
#include "messages/attributes.hpp"
#include "tests/fixtures/node.hpp"
#include "tests/fixtures/shared_cells.hpp"
#include "tests/test.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace troupe;
using namespace troupe::fixtures;
using namespace std::chrono_literals;

namespace {

using procs = std::vector<proc_id>;
using ranks = std::vector<uint32_t>;

/// The operations that a process or tool is told of.
std::vector<wait_part> told(deterministic& world, node& of,
                            const peer_ptr& who) {
  auto question = query_request{};
  question.queries.emplace_back().keys.emplace_back(node_waits_key);
  const auto x = of.ask<info_result>(who, std::move(question));
  world.consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto* found = find(x->value.infos, node_waits_key);
  CAF_REQUIRE(found != nullptr);
  return read_wait_parts(*found);
}

// -- by messages ---------------------------------------------------------------

struct fixture : deterministic {
  node uut{*this};
  std::vector<peer_ptr> peers;
  peer_ptr stranger;
  peer_ptr tool;

  fixture() {
    uut.add_job("job", 3);
    uut.add_job("other", 1);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank)
      peers.push_back(uut.connect("job", rank));
    stranger = uut.connect("other", 0);
    tool = uut.connect(node::tool_greeting());
    consume_messages();
  }

  pending<ack> fence(uint32_t rank, std::vector<info> directives = {}) {
    auto result = uut.fence(peers[rank], {}, std::move(directives));
    consume_messages();
    return result;
  }

  std::vector<wait_part> waits(const peer_ptr& who) {
    return told(*this, uut, who);
  }
};

// -- in memory -----------------------------------------------------------------

struct memory_fixture : deterministic {
  std::shared_ptr<shared_cells> shared = std::make_shared<shared_cells>();
  node uut{*this, [this](uint32_t, const std::vector<uint32_t>& locals,
                         uint64_t, const job_info&, std::string&) {
             shared->start(static_cast<uint32_t>(locals.size()));
             return std::make_unique<memory_of_cells>(shared);
           }};
  std::vector<peer_ptr> peers;
  peer_ptr tool;

  memory_fixture() {
    uut.add_job("job", 3);
    consume_messages();
    for (uint32_t rank = 0; rank < 3; ++rank) {
      auto greeting = node::greeting({"job", rank});
      greeting.can_share = true;
      peers.push_back(uut.connect(std::move(greeting)));
    }
    consume_messages();
    tool = uut.connect(node::tool_greeting());
    consume_messages();
  }

  std::vector<wait_part> waits() {
    return told(*this, uut, tool);
  }

  /// A process comes to a fence of the whole job.
  void arrive(uint32_t rank) {
    auto mine = collective_cell::ticket{0};
    shared->fences().arrive(rank, mine);
  }

  /// Some processes have two fences of their own, after which they meet.
  void fence_apart(const ranks& who) {
    auto named = procs{};
    for (const auto rank : who)
      named.push_back({"job", rank});
    for (int times = 0; times < 2; ++times)
      for (const auto rank : who) {
        uut.fence(peers[rank], named);
        consume_messages();
      }
  }

  /// One of them comes to the next one.
  void arrive_apart(uint32_t rank, const ranks& who) {
    auto members = part_members{};
    for (const auto x : who)
      members.add(x);
    const auto where = find_part(shared->part_entries.data(), members, rank);
    CAF_REQUIRE(
      where
      && enter_part(shared->shown[rank], shared->part_entries.data(), *where));
    auto mine = collective_cell::ticket{0};
    shared->part(*where).arrive(where->place, mine);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(server_waits_tests, fixture)

CAF_TEST(PAGE-10 who has called a fence and who is waited for) {
  CAF_CHECK(waits(tool).empty());
  fence(0);
  elapse(2s);
  fence(2);
  elapse(1s);
  const auto found = waits(tool);
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  const auto& x = found.front();
  CAF_CHECK(x.kind == collective_kind::fence);
  CAF_CHECK_EQUAL(x.size, 3u);
  CAF_CHECK_EQUAL(x.joined, 2u);
  CAF_CHECK_EQUAL(x.missing, 1u);
  CAF_CHECK((x.named == procs{{"job", 1}}));
  CAF_CHECK((x.participants == std::vector<std::string>{"job:*"}));
  CAF_CHECK(x.age == 3s);
  CAF_CHECK(!x.is_at_least);
  CAF_CHECK_EQUAL(x.id.substr(0, 10), "fence:job#");
  fence(1);
  CAF_CHECK(waits(tool).empty());
}

CAF_TEST(PAGE-10 a connect is told as well and each operation by itself) {
  fence(0);
  uut.ask<connect_procs_result>(
    stranger,
    connect_procs_request{{{"job", rank_wildcard}, {"other", 0}}, {}, {}});
  consume_messages();
  const auto found = waits(tool);
  CAF_REQUIRE_EQUAL(found.size(), 2u);
  const auto& x =
    found.front().kind == collective_kind::connect ? found[0] : found[1];
  CAF_CHECK(x.kind == collective_kind::connect);
  CAF_CHECK_EQUAL(x.size, 4u);
  CAF_CHECK_EQUAL(x.joined, 1u);
  CAF_CHECK_EQUAL(x.missing, 3u);
}

CAF_TEST(PAGE-10 a process is told of operations of its job) {
  fence(0);
  CAF_CHECK_EQUAL(waits(peers[1]).size(), 1u);
  CAF_CHECK(waits(stranger).empty());
}

CAF_TEST(PAGE-10 what has failed is not waited for) {
  const auto x = fence(0, {with(attr::timeout, value::integer(1))});
  elapse(1100ms);
  CAF_REQUIRE_EQUAL(x->code, status::timeout);
  CAF_CHECK(waits(tool).empty());
}

CAF_TEST(PAGE-10 a server of one node answers for all) {
  fence(0);
  auto question = query_request{};
  question.queries.emplace_back().keys.emplace_back(waits_key);
  const auto x = uut.ask<info_result>(tool, std::move(question));
  consume_messages();
  CAF_REQUIRE_EQUAL(x->code, status::success);
  const auto* found = find(x->value.infos, waits_key);
  CAF_REQUIRE(found != nullptr);
  const auto items = infos_of(*found);
  CAF_REQUIRE_EQUAL(items.size(), 1u);
  const auto item = infos_of(items.front().val);
  CAF_CHECK_EQUAL(text(item, "job").value_or(""), "job");
  CAF_CHECK_EQUAL(number<uint64_t>(item, "joined").value_or(0), 1u);
  CAF_CHECK_EQUAL(number<uint64_t>(item, "unknown").value_or(9), 0u);
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(server_memory_waits_tests, memory_fixture)

CAF_TEST(PAGE-10 a fence in memory is seen and since when it is) {
  CAF_CHECK(waits().empty());
  arrive(0);
  arrive(2);
  auto found = waits();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].size, 3u);
  CAF_CHECK_EQUAL(found[0].joined, 2u);
  CAF_CHECK((found[0].named == procs{{"job", 1}}));
  CAF_CHECK(found[0].age == 0s);
  CAF_CHECK(found[0].is_at_least);
  elapse(3s);
  found = waits();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(found[0].age == 3s);
  // The next round has begun anew.
  arrive(1);
  CAF_CHECK(waits().empty());
  arrive(1);
  found = waits();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK(found[0].age == 0s);
  CAF_CHECK((found[0].named == procs{{"job", 0}, {"job", 2}}));
}

CAF_TEST(PAGE-10 so is a fence of a part of the job) {
  fence_apart({0, 2});
  arrive_apart(2, {0, 2});
  const auto found = waits();
  CAF_REQUIRE_EQUAL(found.size(), 1u);
  CAF_CHECK_EQUAL(found[0].size, 2u);
  CAF_CHECK_EQUAL(found[0].joined, 1u);
  CAF_CHECK((found[0].named == procs{{"job", 0}}));
  CAF_CHECK((found[0].participants == std::vector<std::string>{"job:0,2"}));
}

CAF_TEST_FIXTURE_SCOPE_END()
