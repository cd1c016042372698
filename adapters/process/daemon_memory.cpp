#include "adapters/process/daemon_memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace troupe {

// -- what was freed ----------------------------------------------------------

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

// -- gauges ------------------------------------------------------------------

namespace {

uint64_t resident_bytes() {
  auto file = std::ifstream{"/proc/self/statm"};
  auto size = uint64_t{0};
  auto resident = uint64_t{0};
  file >> size >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

caf::behavior memory_gauges() {
  return {
    [](get_gauges) {
      const auto heap = ::mallinfo2();
      return gauge_list{
        {{"daemon.heap", heap.uordblks + heap.hblkhd, 0, "bytes"},
         {"daemon.heap_free", heap.fordblks, 0, "bytes"},
         {"daemon.resident", resident_bytes(), 0, "bytes"}}};
    },
  };
}

} // namespace troupe
