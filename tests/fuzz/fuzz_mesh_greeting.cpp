// The greeting of a server of another node, as a fence brings it.

#include "actors/mesh/embedded/mesh_greeting.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes =
    std::string_view{reinterpret_cast<const char*>(data), size};
  const auto read = troupe::read_greeting(bytes);
  if (!read)
    return 0;
  // What is read can be written and read again.
  const auto again = troupe::read_greeting(troupe::to_bytes(*read));
  if (!again || !(*again == *read))
    __builtin_trap();
  return 0;
}
