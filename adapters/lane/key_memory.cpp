#include "adapters/lane/key_memory.hpp"

namespace troupe {

namespace {

/// Room for keys: some 16,000 objects, those of handshakes under way included.
/// There is no other where it ends. Pages are taken, and locked, when used.
constexpr size_t room = size_t{1} << 20;

constexpr size_t least_block = 32;

} // namespace

void lock_keys() noexcept {
  if (CRYPTO_secure_malloc_initialized() == 0)
    CRYPTO_secure_malloc_init(room, least_block);
}

} // namespace troupe
