#include "base/sturdy.hpp"

#include "messages/actors.hpp"
#include "tests/fixtures/deterministic.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <new>

using namespace troupe;

namespace {

/// Finds no memory for a request about process 13, and answers all others.
usage_actor::behavior_type worker(usage_actor::pointer self) {
  return sturdy(self,
                usage_actor::behavior_type{
                  [](const sample_memory& request) {
                    if (!request.pids.empty() && request.pids.front() == 13)
                      throw std::bad_alloc{};
                    return memory_samples{};
                  },
                  [](const sample_usage&) { return usage_samples{}; },
                });
}

struct fixture : fixtures::deterministic {
  usage_actor uut = sys.spawn(worker);
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(sturdy_tests, fixture)

CAF_TEST(MND-A10 a request without memory is refused and the next one served) {
  const auto why = refusal<memory_samples>(uut, sample_memory{{13}});
  CAF_CHECK(status_of(why) == status::nomem);
  request<memory_samples>(uut, sample_memory{{1}});
  end(uut);
}

CAF_TEST(MND-A10 nobody is told who did not ask) {
  self->send(uut, sample_memory{{13}});
  consume_messages();
  CAF_CHECK(self->mailbox().empty());
  request<memory_samples>(uut, sample_memory{{1}});
  end(uut);
}

CAF_TEST_FIXTURE_SCOPE_END()
