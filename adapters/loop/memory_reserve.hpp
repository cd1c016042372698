#pragma once

#include <cstddef>

namespace troupe {

/// Keeps memory for when the system gives no more. The first allocation of C++
/// that fails then releases it and is tried again, so that small ones succeed
/// while a large one is refused: CAF and the standard library allocate where an
/// exception would end the process. A handler that the program has set comes
/// after ours. The largest reserve that anybody asked for counts; safe on any
/// thread.
/// @param bytes How much, at least.
void keep_memory_reserve(size_t bytes) noexcept;

/// Whether the reserve has been released and not come back: no time to begin
/// anything.
bool is_memory_short() noexcept;

/// Takes the reserve back, if it has been released and the system gives as much
/// again.
void refill_memory_reserve() noexcept;

} // namespace troupe
