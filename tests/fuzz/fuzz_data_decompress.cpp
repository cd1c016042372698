// What PMIx_Data_decompress makes of any bytes.

#include "tests/fuzz/fuzz.hpp"

#include <pmix.h>

using namespace troupe::wire::fuzz;

namespace {

/// The most that zlib expands, twice while a text grows, and a copy of it.
constexpr size_t memory_factor = 4 * 1032;

} // namespace

TROUPE_FUZZ(input) {
  uint8_t* out = nullptr;
  auto size = size_t{0};
  const auto done = [&] {
    const auto watch = memory_watch{input.size(), memory_factor};
    return PMIx_Data_decompress(reinterpret_cast<const uint8_t*>(input.data()),
                                input.size(), &out, &size);
  }();
  require(done == (out != nullptr), "there are bytes if it went well");
  if (!done)
    return;
  require(size <= 1032 * input.size(), "a block has a bounded size");
  uint8_t* small = nullptr;
  auto small_size = size_t{0};
  if (PMIx_Data_compress(out, size, &small, &small_size)) {
    uint8_t* again = nullptr;
    auto again_size = size_t{0};
    require(small_size < size, "a compressed block is shorter");
    require(PMIx_Data_decompress(small, small_size, &again, &again_size)
              && std::string(reinterpret_cast<char*>(again), again_size)
                   == std::string(reinterpret_cast<char*>(out), size),
            "a block survives");
    std::free(again);
  }
  std::free(small);
  std::free(out);
}
