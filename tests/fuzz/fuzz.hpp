#pragma once

// What the fuzz targets share. A target checks more than that nothing crashes:
// what a decoder accepts must encode to bytes that mean the same, and memory
// must follow the bytes that are there.

#include "adapters/wire/dialect.hpp"

#include <sanitizer/allocator_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

namespace troupe::wire::fuzz {

/// The dialects of the targets; the first byte of an input chooses one.
inline constexpr dialect dialects[] = {
  {packing_module::v41, false, {4, 2, 2}, false, false},
  {packing_module::v41, true, {4, 2, 2}, false, false},
  {packing_module::v41, false, {5, 0, 10}, false, false},
  {packing_module::v41, true, {5, 0, 10}, false, false},
  {packing_module::v61, false, {6, 1, 0}, false, false},
  {packing_module::v61, true, {6, 1, 0}, false, false},
  {packing_module::v3, false, {3, 2, 5}, false, false},
  {packing_module::v3, true, {3, 2, 5}, false, false},
  {packing_module::v21, false, {3, 2, 5}, false, false},
  {packing_module::v4, false, {4, 1, 2}, false, false},
  {packing_module::v51, false, {6, 0, 0}, false, false},
};

/// Takes the first byte off an input.
inline uint8_t take_byte(std::string_view& input) {
  if (input.empty())
    return 0;
  const auto result = static_cast<uint8_t>(input.front());
  input.remove_prefix(1);
  return result;
}

inline const dialect& take_dialect(std::string_view& input) {
  return dialects[take_byte(input) % std::size(dialects)];
}

/// Whether all that a peer sends may be sent back to it: 3.2 cannot read two of
/// the types that it sends, peers before 5 get compressed strings as plain
/// ones, and 6 writes arrays of no type in a form with two meanings.
inline bool is_symmetric(const dialect& d) {
  return d.peer.major == 5;
}

inline void require(bool condition, const char* what) {
  if (condition)
    return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// Watches the memory that a decoder holds at once. A value of one byte becomes
/// an object of some 130 bytes in a growing vector, so a multiple of the input
/// is unavoidable; what must not happen is memory for bytes that are not there.
class memory_watch {
public:
  explicit memory_watch(size_t input_size, size_t factor = 512,
                        size_t beside = size_t{256} << 10)
    : bound_(input_size * factor + beside) {
    static const auto installed =
      __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    require(installed > 0, "the hooks of the allocator are installed");
    live() = 0;
    peak() = 0;
    on() = true;
  }

  memory_watch(const memory_watch&) = delete;
  memory_watch& operator=(const memory_watch&) = delete;

  ~memory_watch() {
    on() = false;
    if (static_cast<size_t>(peak()) > bound_)
      std::fprintf(stderr, "%lld bytes held, %zu allowed\n", peak(), bound_);
    require(static_cast<size_t>(peak()) <= bound_,
            "memory is bounded by the input");
  }

private:
  static void on_malloc(const volatile void*, size_t n) {
    if (!on())
      return;
    live() += static_cast<long long>(n);
    if (live() > peak())
      peak() = live();
  }

  static void on_free(const volatile void* p) {
    if (on() && p != nullptr)
      live() -= static_cast<long long>(
        __sanitizer_get_allocated_size(const_cast<const void*>(p)));
  }

  static bool& on() {
    static auto x = false;
    return x;
  }

  static long long& live() {
    static auto x = 0LL;
    return x;
  }

  static long long& peak() {
    static auto x = 0LL;
    return x;
  }

  size_t bound_;
};

/// Checks that what was decoded encodes to bytes that decode and encode to the
/// same bytes again.
/// @param decode  from bytes to something that tests as true on success.
/// @param encode  appends the bytes of it; returns an error.
/// @param must_encode  whether everything that decodes can be encoded.
template <class Decode, class Encode>
void check_round_trip(std::string_view input, bool must_encode, Decode decode,
                      Encode encode) {
  const auto x = [&] {
    const auto watch = memory_watch{input.size()};
    return decode(input);
  }();
  if (!x)
    return;
  auto bytes = std::string{};
  if (encode(*x, bytes)) {
    require(!must_encode, "what was decoded can be encoded");
    return;
  }
  const auto y = decode(std::string_view{bytes});
  if (!y && !must_encode)
    return;
  require(static_cast<bool>(y), "what was encoded can be decoded");
  auto again = std::string{};
  require(!encode(*y, again), "what was decoded twice can be encoded");
  require(again == bytes || !must_encode, "encoding is stable");
}

} // namespace troupe::wire::fuzz

/// Each target defines what it does with an input.
#define TROUPE_FUZZ(input)                                                     \
  static void run(std::string_view input);                                     \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {    \
    run({reinterpret_cast<const char*>(data), size});                          \
    return 0;                                                                  \
  }                                                                            \
  static void run(std::string_view input)
