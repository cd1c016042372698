// Frames of lanes: bytes as they come, whole and in pieces, and contents whose
// checksums are right.

#include "adapters/networks/frame_codec.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <vector>

using namespace troupe;
using namespace troupe::wire::fuzz;

namespace {

struct outcome {
  std::string frames;
  bool is_broken = false;
};

/// Reads a lane; `frames` are those that came out, encoded again.
outcome read(std::string_view bytes, size_t piece,
             frame_check check = frame_check::sum) {
  frame_reader reader{65536, check};
  outcome result;
  while (!bytes.empty() && !result.is_broken) {
    reader.push(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      const auto x = reader.next();
      result.is_broken = !x;
      if (!x || !*x)
        break;
      encode_frame(**x, result.frames, SIZE_MAX, check);
    }
    require(reader.held() <= 65536, "no more is held than a frame");
  }
  return result;
}

void check_content(uint8_t kind, std::string_view content) {
  const auto x = [&] {
    const auto watch = memory_watch{content.size(), 4};
    return decode_frame_content(kind, content);
  }();
  if (!x)
    return;
  std::string bytes;
  encode_frame(*x, bytes);
  require(std::string_view{bytes}.substr(frame_header_size) == content,
          "a content is encoded as it was");
  const auto whole = read(bytes, bytes.size());
  require(!whole.is_broken && whole.frames == bytes, "a frame comes out again");
}

} // namespace

TROUPE_FUZZ(input) {
  const auto choice = take_byte(input);
  if (choice < std::variant_size_v<lane_frame>) {
    check_content(choice, input);
    return;
  }
  const auto check = choice < 128 ? frame_check::sum : frame_check::bare;
  const auto whole = [&] {
    const auto watch = memory_watch{input.size(), 8};
    return read(input, input.size(), check);
  }();
  const auto pieces = read(input, choice % 16 + 1, check);
  require(whole.frames == pieces.frames, "pieces make no difference");
  require(whole.is_broken == pieces.is_broken, "nor for what is broken");
  require(input.substr(0, whole.frames.size()) == whole.frames,
          "frames are encoded as they came");
}
