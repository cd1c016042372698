// The stream of frames. The first byte says in which pieces it arrives.

#include "adapters/wire/frame.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>

using namespace troupe::wire;
using namespace troupe::wire::fuzz;

namespace {

/// All frames of a stream, and how it ended.
std::string read_all(std::string_view input, size_t step) {
  auto reader = frame_reader{1000};
  auto result = std::string{};
  for (size_t i = 0; i < input.size(); i += step) {
    reader.push(input.substr(i, step));
    while (const auto x = reader.next()) {
      result += std::to_string(x->peer) + ' ' + std::to_string(x->tag) + ' ';
      result += x->payload;
      result += '\n';
    }
    require(reader.capacity() <= 2 * (input.size() + 1000 + 16),
            "memory follows the bytes that are there");
  }
  if (reader.failure())
    return result + "bad";
  return result + std::to_string(reader.pending());
}

} // namespace

TROUPE_FUZZ(input) {
  const auto step = std::max<size_t>(take_byte(input), 1);
  require(read_all(input, step) == read_all(input, input.size() + 1),
          "frames in pieces are the same frames");
}
