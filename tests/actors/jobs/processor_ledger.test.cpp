// What the jobs of a node are bound to.

#include "actors/jobs/processor_ledger.hpp"

#include "tests/test.hpp"

using namespace troupe;

CAF_TEST(MAP-2 what jobs have is taken until they are over) {
  using cpus = std::set<uint32_t>;
  auto uut = processor_ledger{};
  CAF_CHECK(uut.taken().empty());
  uut.take("a", {0, 1});
  uut.take("b", {1, 2});
  uut.take("a", {7});
  uut.take("c", {});
  CAF_CHECK((uut.taken() == cpus{0, 1, 2, 7}));
  uut.release("a");
  CAF_CHECK((uut.taken() == cpus{1, 2}));
  uut.release("a");
  uut.release("b");
  CAF_CHECK(uut.taken().empty());
}
