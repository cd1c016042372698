#include "adapters/c_values/c_types.hpp"
#include "adapters/wire/compression.hpp"

#include <pmix.h>

#include <exception>

// Blocks compressed with zlib, behind four bytes with their length.
// Source: OpenPMIx wire protocol, compressed strings.

using namespace troupe;

namespace {

/// Shorter blocks are not worth it.
constexpr size_t min_size = 4096;

bool give(const std::string& from, uint8_t** bytes, size_t* size) {
  auto* copy = c_api::allocate<uint8_t>(from.empty() ? 1 : from.size());
  if (copy == nullptr)
    return false;
  if (!from.empty())
    std::memcpy(copy, from.data(), from.size());
  *bytes = copy;
  *size = from.size();
  return true;
}

bool begin(const uint8_t* in, uint8_t** out, size_t* size) {
  if (in == nullptr || out == nullptr || size == nullptr)
    return false;
  *out = nullptr;
  *size = 0;
  return true;
}

std::string_view text_of(const uint8_t* in, size_t size) {
  return {reinterpret_cast<const char*>(in), size};
}

} // namespace

bool PMIx_Data_compress(const uint8_t* in, size_t size, uint8_t** out,
                        size_t* out_size) try {
  if (!begin(in, out, out_size) || size < min_size || size >= UINT32_MAX)
    return false;
  try {
    const auto result = wire::deflate_text(text_of(in, size));
    return result.size() < size && give(result, out, out_size);
  } catch (const std::exception&) {
    return false;
  }
} catch (...) {
  return false;
}

bool PMIx_Data_decompress(const uint8_t* in, size_t size, uint8_t** out,
                          size_t* out_size) try {
  if (!begin(in, out, out_size))
    return false;
  try {
    const auto result = wire::inflate_block(text_of(in, size));
    return result && give(*result, out, out_size);
  } catch (const std::exception&) {
    return false;
  }
} catch (...) {
  return false;
}
