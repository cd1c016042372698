#pragma once

namespace troupe {

/// Has the system keep private keys that are made or read from now on in pages
/// of their own, which are neither swapped nor dumped, and wiped when a key
/// goes. Where the limit of locked memory (`ulimit -l`) forbids the first, the
/// rest holds. Before the first key, once; more often does nothing.
/// Source: CRYPTO_secure_malloc_init(3).
void lock_keys() noexcept;

} // namespace troupe
