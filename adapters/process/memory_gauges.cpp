#include "adapters/process/memory_gauges.hpp"

#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace troupe {

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
