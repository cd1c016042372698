// The nodes of a job, as users see them.

#include "tests/test.hpp"
#include "tools/dvm_options.hpp"

using namespace troupe;

CAF_TEST(HAB-8 an allocation is shown node by node) {
  CAF_CHECK_EQUAL(allocation_text({{"n1", 4, 0}}),
                  "troupe: allocation of 1 node\ntroupe:   n1: 4 slots\n");
  CAF_CHECK_EQUAL(allocation_text({{"n1", 1, 8}, {"n2", std::nullopt, 0}}),
                  "troupe: allocation of 2 nodes\n"
                  "troupe:   n1: 1 slot, at most 8\n"
                  "troupe:   n2: a slot for each core\n");
}
