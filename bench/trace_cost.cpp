// What it costs to remember the steps of a fence, and of an event: see docs/logs.md.
//
// usage: trace_cost [ROUNDS]; prints nanoseconds for a fence of so many processes of
// one node, and for an event that so many are handed

#include "base/trace_ring.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace troupe;

namespace {

int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
    .count();
}

template <class F>
double nanoseconds_of(uint64_t rounds, F what) {
  const auto begin = nanoseconds_now();
  for (uint64_t i = 1; i <= rounds; ++i)
    what(i);
  return static_cast<double>(nanoseconds_now() - begin)
         / static_cast<double>(rounds);
}

} // namespace

int main(int argc, char** argv) {
  const auto rounds =
    argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000ull;
  if (rounds == 0)
    return 2;
  auto ring = trace_ring{nanoseconds_now, 0};
  const auto job = std::vector<proc_id>{{"job@1", rank_wildcard}};
  for (const uint32_t procs : {2u, 64u}) {
    const auto fence = nanoseconds_of(rounds, [&](uint64_t i) {
      const auto id = ring.collective(collective_kind::fence, job, i);
      for (uint32_t rank = 0; rank < procs; ++rank)
        ring.note_proc(id, trace_step::called, {"job@1", rank});
      ring.note(id, trace_step::gathered, procs);
      ring.note(id, trace_step::answered, procs);
    });
    const auto event = nanoseconds_of(rounds, [&](uint64_t i) {
      const auto id = ring.event("job@1", i, 0);
      ring.note_proc(id, trace_step::raised, {"job@1", 0});
      ring.note(id, trace_step::placed, i);
      ring.note(id, trace_step::logged, i);
      for (uint32_t rank = 0; rank < procs; ++rank)
        ring.note_delivery(i, {"job@1", rank});
      ring.note(id, trace_step::stable);
    });
    std::printf("%u processes: %.0f ns a fence, %.0f ns an event\n", procs,
                fence, event);
  }
  return 0;
}
