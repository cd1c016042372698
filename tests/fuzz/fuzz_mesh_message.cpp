// What one node tells another, as its session brings it.

#include "messages/actors.hpp"
#include "messages/bounded_codec.hpp"
#include "messages/mesh_payload.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace troupe;
using namespace troupe::wire::fuzz;

TROUPE_FUZZ(input) {
  auto x = [&] {
    // A run of few bytes may stand for as many ranks as the reader has room for;
    // a vector that grows is there twice for a moment.
    const auto watch =
      memory_watch{input.size(), 512, 3 * codec_reader::memory_limit(0)};
    return read_payload(input);
  }();
  if (!x)
    return;
  // There is one way to write a message: ours.
  const auto bytes =
    std::visit([](const auto& y) { return to_payload(y); }, *x);
  require(bytes == input, "what was decoded encodes to the same bytes");
}
