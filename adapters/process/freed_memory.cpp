#include "adapters/process/freed_memory.hpp"

#include <malloc.h>

#include <chrono>

namespace troupe {

namespace {

using namespace std::chrono_literals;

/// As a rule libc gives the system back what is free above 128 KiB at the end
/// of the heap, and so would get it anew, page by page, for every block or two.
constexpr int kept_at_the_end = 4 << 20;

/// As long without a process nobody waits for us, and what is free has to be as
/// much: 10 ms for 100 MB.
constexpr auto quiet = 5s;
constexpr auto worth_it = size_t{16} << 20;

void give_back() {
  if (::mallinfo2().fordblks >= worth_it)
    ::malloc_trim(kept_at_the_end);
}

} // namespace

freed_memory::freed_memory(event_loop& loop) : rest_(loop, give_back) {
  ::mallopt(M_TRIM_THRESHOLD, kept_at_the_end);
}

void freed_memory::give_back_later() {
  rest_.start(quiet);
}

} // namespace troupe
