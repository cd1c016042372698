// Compressed strings.

#include "adapters/wire/compression.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  const auto text = [&] {
    const auto watch = memory_watch{input.size()};
    return inflate_text(input);
  }();
  if (!text)
    return;
  require(text->size() <= max_inflated_size, "a text has a bounded size");
  // Our own compression may do better than the bound allows.
  if (const auto again = inflate_text(deflate_text(*text)))
    require(*again == *text, "a text survives");
}
