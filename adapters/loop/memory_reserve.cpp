#include "adapters/loop/memory_reserve.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace troupe {

namespace {

std::atomic<size_t> wanted{0};
std::atomic<void*> kept{nullptr};
std::atomic<std::new_handler> of_program{nullptr};

void release_reserve() {
  if (auto* x = kept.exchange(nullptr)) {
    std::free(x);
    return;
  }
  if (const auto next = of_program.load())
    next();
  else
    throw std::bad_alloc{};
}

} // namespace

void keep_memory_reserve(size_t bytes) noexcept {
  auto before = wanted.load();
  while (before < bytes && !wanted.compare_exchange_weak(before, bytes))
    continue;
  if (const auto handler = std::set_new_handler(release_reserve);
      handler != release_reserve)
    of_program = handler;
  if (before < bytes)
    std::free(kept.exchange(nullptr)); // Of a smaller size.
  refill_memory_reserve();
}

bool is_memory_short() noexcept {
  return wanted.load(std::memory_order_relaxed) > 0
         && kept.load(std::memory_order_relaxed) == nullptr;
}

void refill_memory_reserve() noexcept {
  if (!is_memory_short())
    return;
  // Never written, so that it is address space and no memory.
  auto* fresh = std::malloc(wanted.load());
  void* none = nullptr;
  if (fresh != nullptr && !kept.compare_exchange_strong(none, fresh))
    std::free(fresh);
}

} // namespace troupe
