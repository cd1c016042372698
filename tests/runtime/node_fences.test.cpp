// Fences over nodes, joined in one actor: who is waited for, who is answered.

#include "runtime/node_fences.hpp"

#include "messages/actors.hpp"
#include "tests/fixtures/deterministic.hpp"
#include "tests/fixtures/outcome.hpp"
#include "tests/test.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <string>

using namespace troupe;
using namespace troupe::fixtures;

namespace {

using answer = pending<host_collective_result>;

const auto whole = proc_id{"job", rank_wildcard};

host_collective fence_of(std::vector<proc_id> procs, uint64_t generation = 1) {
  auto result = host_collective{};
  result.procs = std::move(procs);
  result.generation = generation;
  return result;
}

struct fixture : deterministic {
  std::shared_ptr<node_fences> uut = std::make_shared<node_fences>();
  caf::actor head;

  fixture() {
    head = sys.spawn([x = uut](caf::event_based_actor* self) {
      return caf::behavior{
        [self, x](uint32_t node, host_collective& call) {
          auto result = self->make_response_promise<host_collective_result>();
          x->join(node, call, result);
          return result;
        },
        [x](const std::string& job, const std::string& why) {
          x->remove(job, why);
        },
      };
    });
    // Ranks 0 and 1 on node 0, then one on each of two others.
    uut->add(placed_job{"job", {"prog"}, {0, 0, 1, 4}});
  }

  ~fixture() override {
    remove("job", "the test is over");
    end(head);
  }

  /// Where promises may be delivered.
  void remove(const std::string& job, const std::string& why) {
    caf::anon_send(head, job, why);
    consume_messages();
  }

  /// A node joins with data of a process.
  answer join(uint32_t node, host_collective call, uint32_t rank = 0) {
    call.data.push_back({{"job", rank}, {}});
    auto result = ask<host_collective_result>(sys, head, node, std::move(call));
    consume_messages();
    return result;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_fences_tests, fixture)

CAF_TEST(C12.11 a fence ends when each node has joined with the data of all) {
  const auto first = join(0, fence_of({whole}), 0);
  const auto second = join(4, fence_of({whole}), 3);
  CAF_CHECK(first->is_pending() && second->is_pending());
  const auto third = join(1, fence_of({whole}), 2);
  for (const auto& x : {first, second, third}) {
    CAF_CHECK_EQUAL(x->code, status::success);
    CAF_CHECK_EQUAL(x->value.data.size(), 3u);
  }
}

CAF_TEST(C12.11 a fence of some processes waits for their nodes alone) {
  const auto some = std::vector<proc_id>{{"job", 1}, {"job", 3}};
  const auto first = join(0, fence_of(some));
  CAF_CHECK(first->is_pending());
  const auto second = join(4, fence_of(some));
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(second->code, status::success);
}

CAF_TEST(C12.11 fences of the same processes are told apart by their numbers) {
  const auto first = join(0, fence_of({whole}, 1));
  const auto early = join(1, fence_of({whole}, 2));
  join(4, fence_of({whole}, 1));
  CAF_CHECK(first->is_pending() && early->is_pending());
  join(1, fence_of({whole}, 1));
  CAF_CHECK_EQUAL(first->code, status::success);
  CAF_CHECK(early->is_pending());
}

CAF_TEST(C12.11 a fence spans the nodes of several jobs) {
  uut->add(placed_job{"other", {"prog"}, {2}});
  const auto both = std::vector<proc_id>{{"job", 2}, {"other", rank_wildcard}};
  const auto first = join(1, fence_of(both));
  CAF_CHECK(first->is_pending());
  join(2, fence_of(both));
  CAF_CHECK_EQUAL(first->code, status::success);
  remove("other", "it is over");
}

CAF_TEST(C12.11 who waits hears of the end of a job and nobody waits after it) {
  const auto waiting = join(0, fence_of({whole}));
  remove("job", "node 4 is lost");
  CAF_CHECK_EQUAL(waiting->code, status::lost_connection);
  CAF_CHECK_EQUAL(waiting->reason, "node 4 is lost");
  CAF_CHECK_EQUAL(join(1, fence_of({whole}))->code, status::not_found);
}

CAF_TEST(C12.11 a node joins once and with a participant) {
  const auto first = join(0, fence_of({whole}));
  CAF_CHECK_EQUAL(join(0, fence_of({whole}))->code, status::bad_param);
  CAF_CHECK_EQUAL(join(7, fence_of({whole}, 2))->code, status::bad_param);
  CAF_CHECK(first->is_pending());
  join(1, fence_of({whole}));
  join(4, fence_of({whole}));
  CAF_REQUIRE_EQUAL(first->code, status::success);
  CAF_CHECK_EQUAL(first->value.data.size(), 3u);
}

CAF_TEST(C12.11 unknown participants and failures of a node are refused) {
  CAF_CHECK_EQUAL(join(0, fence_of({{"job", 4}}))->code, status::not_found);
  CAF_CHECK_EQUAL(join(0, fence_of({{"none", 0}}))->code, status::not_found);
  CAF_CHECK_EQUAL(join(0, fence_of({}))->code, status::not_found);
  auto failed = fence_of({whole});
  failed.failure = status::lost_connection;
  CAF_CHECK_EQUAL(join(0, failed)->code, status::not_supported);
}

CAF_TEST_FIXTURE_SCOPE_END()
